// Matches of descriptors against the oracle, on every device.
#include "reference/features/feature_matches.hpp"
#include "support/devices.hpp"
#include "support/feature_lists.hpp"
#include "support/packed_planes.hpp"

#include <warpalign/backend/stages/features/feature_matches.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using warpalign::Buffer;
using warpalign::Device;
using warpalign::Error;
using warpalign::FeatureMatchesPlan;
using warpalign::FeatureMatchesSpec;
using warpalign::NearestFeature;
using warpalign::Stream;

using test::Descriptor;
using test::descriptor_values;
using test::Features;
using test::RandomDescriptors;

/// The plans have capacity for `spare` more features than there are.
std::vector<NearestFeature> matches_of(const Device& device,
                                       const std::vector<Descriptor>& reference,
                                       const Features& moving, float apart, float max_ratio,
                                       std::int64_t spare = 0) {
  const auto references = static_cast<std::int64_t>(reference.size());
  const auto movings = static_cast<std::int64_t>(moving.descriptors.size());
  Stream stream = device.make_stream();
  const Buffer of_reference = test::to_buffer(device, stream, test::rows_of(reference));
  const Buffer of_moving = test::to_buffer(device, stream, test::rows_of(moving.descriptors));
  const Buffer of_places = test::to_buffer(device, stream, test::coordinates_of(moving));
  Buffer nearest = test::poisoned(device, stream, reference.size() * sizeof(NearestFeature));
  FeatureMatchesPlan(device, {references + spare, movings + spare, max_ratio})
      .execute(stream, {of_reference, references}, {of_moving, movings}, of_places, apart, nearest);
  return test::from_buffer<NearestFeature>(stream, nearest, reference.size());
}

void compare(const Device& device, std::size_t references, std::size_t movings,
             std::int64_t spare) {
  CAPTURE(references);
  CAPTURE(movings);
  RandomDescriptors random(static_cast<std::uint32_t>(1000 * references + movings));
  const std::vector<Descriptor> reference = random.descriptors(references);
  const Features moving = test::moving_features(random, reference, movings);
  constexpr float apart = 2;
  constexpr float max_ratio = 0.7F;
  const auto found = matches_of(device, reference, moving, apart, max_ratio, spare);
  std::size_t decided = 0;
  for (std::size_t i = 0; i < references; ++i) {
    CAPTURE(i);
    const auto expected =
        reference::feature_match(reference[i], moving.descriptors, moving.places,
                                 static_cast<double>(apart), static_cast<double>(max_ratio));
    if (test::is_undecided(expected)) continue;
    ++decided;
    CHECK(found[i].index == expected.index);
    CHECK(std::abs(static_cast<double>(found[i].ratio) - expected.ratio) <= test::ratio_tolerance);
  }
  CHECK(10 * decided >= 9 * references);
}

/// A descriptor whose product with `first_axis()` is `product`. `direction` selects its other
/// component.
Descriptor with_product(double product, std::size_t direction) {
  Descriptor values(descriptor_values);
  values[0] = product;
  values[1 + direction % (descriptor_values - 1)] = std::sqrt(1 - product * product);
  return values;
}
Descriptor first_axis() { return with_product(1, 0); }

/// Features far from one another, less similar to the first axis than all that the tests add.
Features unlike(std::size_t count) {
  Features features;
  for (std::size_t i = 0; i < count; ++i) {
    features.descriptors.push_back(with_product(0.3 + 0.001 * static_cast<double>(i % 64), i));
    features.places.push_back({100.0 * static_cast<double>(i), 0});
  }
  return features;
}

void put(Features& features, std::size_t at, double product,
         const reference::FeaturePosition& place) {
  features.descriptors[at] = with_product(product, at);
  features.places[at] = place;
}

double ratio_of(double best, double next) { return std::sqrt((1 - best) / (1 - next)); }

NearestFeature match_of(const Device& device, const Features& moving, float apart = 5,
                        float max_ratio = 0.7F) {
  return matches_of(device, {first_axis()}, moving, apart, max_ratio).at(0);
}

// Products are off by a rounding or two, and therefore distances of at least 0.2 by 1e-6.
constexpr double of_ratio = 1e-5;

void check_match(const NearestFeature& match, std::size_t index, double ratio) {
  CHECK(match.index == static_cast<int>(index));
  CHECK(std::abs(static_cast<double>(match.ratio) - ratio) <= of_ratio);
}

void check_none(const NearestFeature& match) {
  CHECK(match.index == -1);
  CHECK(match.ratio == 1);
}

}  // namespace

TEST_CASE("feature_matches: agree with the oracle") {
  test::on_every_device([](const Device& device) {
    compare(device, 1, 1, 0);
    compare(device, 3, 64, 0);
    compare(device, 64, 65, 0);
    compare(device, 130, 63, 7);
    compare(device, 67, 500, 100);
    compare(device, 300, 257, 0);
  });
}

TEST_CASE("feature_matches: more slices than a work-group has work-items") {
  test::on_every_device([](const Device& device) { compare(device, 5, 70 * 64 + 9, 0); });
}

TEST_CASE("feature_matches: the nearest feature, with the ratio of the distances") {
  test::on_every_device([](const Device& device) {
    for (const std::size_t best : {0U, 63U, 64U, 127U, 128U, 149U}) {
      for (const std::size_t next : {1U, 62U, 65U, 130U, 148U}) {
        CAPTURE(best);
        CAPTURE(next);
        Features moving = unlike(150);
        put(moving, best, 0.98, {-1000, 0});
        put(moving, next, 0.95, {-2000, 0});
        check_match(match_of(device, moving), best, ratio_of(0.98, 0.95));
        // The ratio 0.2 / 0.28 is above 0.7.
        put(moving, next, 0.96, {-2000, 0});
        check_none(match_of(device, moving));
        check_match(match_of(device, moving, 5, 0.72F), best, ratio_of(0.98, 0.96));
      }
    }
  });
}

TEST_CASE("feature_matches: a second-best at the same position is ignored, in any slice") {
  test::on_every_device([](const Device& device) {
    const std::size_t best = 70;
    for (const std::size_t near : {64U, 127U, 3U, 140U}) {
      for (const std::size_t next : {69U, 100U, 4U, 2U, 139U, 149U}) {
        CAPTURE(near);
        CAPTURE(next);
        Features moving = unlike(150);
        put(moving, best, 0.98, {-1000, 50});
        put(moving, near, 0.979, {-1003, 53});  // 4.2 pixels away
        put(moving, next, 0.9, {-2000, 0});
        check_match(match_of(device, moving), best, ratio_of(0.98, 0.9));
        // With a limit of 4 pixels, the near one is at another position.
        check_none(match_of(device, moving, 4));
        // A second-best feature behind the near one in the same slice is found, too.
        put(moving, next, 0.975, {-2000, 0});
        check_none(match_of(device, moving));
      }
    }
  });
}

TEST_CASE("feature_matches: the option decides how far apart two positions must be") {
  test::on_every_device([](const Device& device) {
    Features moving = unlike(20);
    put(moving, 7, 0.98, {-1000, 50});
    put(moving, 9, 0.979, {-1003, 54});  // 5 pixels away
    check_none(match_of(device, moving, 5));
    check_match(match_of(device, moving, 5.001F), 7, ratio_of(0.98, 0.319));
  });
}

TEST_CASE("feature_matches: at distance 0 only the feature itself is at its position") {
  test::on_every_device([](const Device& device) {
    Features moving = unlike(100);
    put(moving, 70, 0.98, {-1000, 50});
    check_match(match_of(device, moving, 0), 70, ratio_of(0.98, 0.363));
    put(moving, 9, 0.979, {-1000, 50});
    check_none(match_of(device, moving, 0));
  });
}

TEST_CASE("feature_matches: without another position, the second-best product is 0") {
  test::on_every_device([](const Device& device) {
    Features one = unlike(1);
    put(one, 0, 0.98, {3, 4});
    check_match(match_of(device, one), 0, ratio_of(0.98, 0));
    put(one, 0, 0.4, {3, 4});
    check_none(match_of(device, one));
  });
}

TEST_CASE("feature_matches: the first of equal features is the best") {
  test::on_every_device([](const Device& device) {
    for (const std::size_t second : {18U, 33U, 90U, 149U}) {
      CAPTURE(second);
      Features moving = unlike(150);
      put(moving, 17, 0.98, {-1000, 50});
      moving.descriptors[second] = moving.descriptors[17];
      moving.places[second] = moving.places[17];
      check_match(match_of(device, moving), 17, ratio_of(0.98, 0.363));
    }
  });
}

TEST_CASE("feature_matches: distances are clamped to 1e-3") {
  test::on_every_device([](const Device& device) {
    Features moving = unlike(10);
    put(moving, 4, 1, {-1000, 0});
    put(moving, 6, 0.98, {-2000, 0});
    // The ratio of 1e-3 and 0.2.
    check_match(match_of(device, moving), 4, 1e-3 / 0.2);
    moving.descriptors[6] = moving.descriptors[4];
    check_none(match_of(device, moving));
  });
}

TEST_CASE("feature_matches: two executions give the same bits") {
  test::on_every_device([](const Device& device) {
    RandomDescriptors random(5);
    const std::vector<Descriptor> reference = random.descriptors(150);
    const Features moving = test::moving_features(random, reference, 333);
    const auto one = matches_of(device, reference, moving, 2, 0.8F);
    const auto two = matches_of(device, reference, moving, 2, 0.8F, 64);
    CHECK(std::memcmp(one.data(), two.data(), one.size() * sizeof(NearestFeature)) == 0);
  });
}

TEST_CASE("feature_matches: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const FeatureMatchesSpec& spec : {FeatureMatchesSpec{0, 5, 0.8F},
                                           {5, 0, 0.8F},
                                           {65537, 5, 0.8F},
                                           {5, 65537, 0.8F},
                                           {5, 5, 0},
                                           {5, 5, nan}}) {
      CHECK_THROWS_AS(FeatureMatchesPlan(device, spec), Error);
    }
    Stream stream = device.make_stream();
    const FeatureMatchesPlan plan(device, {4, 6, 0.8F});
    const auto rows = [&](std::size_t count) {
      return device.make_buffer(count * descriptor_values * sizeof(float));
    };
    const Buffer four = rows(4);
    const Buffer six = rows(6);
    const Buffer seven = rows(7);
    const Buffer places = device.make_buffer(14 * sizeof(float));
    const Buffer few_places = device.make_buffer(11 * sizeof(float));
    Buffer nearest = device.make_buffer(4 * sizeof(NearestFeature));
    Buffer few_nearest = device.make_buffer(3 * sizeof(NearestFeature));
    const auto refused = [&](const FeatureMatchesPlan::Features& reference,
                             const FeatureMatchesPlan::Features& moving, const Buffer& at,
                             float apart, Buffer& to) {
      CHECK_THROWS_AS(plan.execute(stream, reference, moving, at, apart, to), Error);
    };
    refused({four, 0}, {six, 6}, places, 1, nearest);
    refused({six, 5}, {six, 6}, places, 1, nearest);
    refused({four, 4}, {six, 0}, places, 1, nearest);
    refused({four, 4}, {seven, 7}, places, 1, nearest);
    refused({rows(3), 4}, {six, 6}, places, 1, nearest);
    refused({four, 4}, {four, 6}, places, 1, nearest);
    refused({four, 4}, {six, 6}, few_places, 1, nearest);
    refused({four, 4}, {six, 6}, places, -1, nearest);
    refused({four, 4}, {six, 6}, places, nan, nearest);
    refused({four, 4}, {six, 6}, places, 1, few_nearest);
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign = second.make_stream();
    CHECK_THROWS_AS(plan.execute(foreign, {four, 4}, {six, 6}, places, 1, nearest), Error);
  });
}
