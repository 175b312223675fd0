// Local features, and the homographies that their matches support for strongly oblique views.
#include "registration/features/feature_search.hpp"

#include "registration/features/feature_homographies.hpp"
#include "registration/features/scale_space.hpp"
#include "registration/features/view_features.hpp"
#include "registration/pair/rectified_pair.hpp"
#include "registration/pyramid/rectified.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FeatureMatch;
using detail::GreyPlane;
using warpalign::Affine;
using warpalign::DescriptorsPlan;
using warpalign::Device;
using warpalign::Homography;
using warpalign::HostImage;
using warpalign::Image;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::Stream;

constexpr Shape shape{120, 120, 1};

GreyPlane drawn(const Homography& to_scene) {
  static const test::Spots scene(31, 900);
  GreyPlane plane(shape.width, shape.height);
  plane.values = scene.drawn(shape, to_scene);
  return plane;
}

// A feature as the device describes it.
struct Feature {
  Point place;
  std::vector<float> descriptor;
};

std::vector<Feature> features_of(const Device& device, const GreyPlane& plane) {
  Stream stream = device.make_stream();
  Image image = device.make_image(PixelType::f32, {plane.width, plane.height, 1});
  stream.upload(HostImage{plane.values.data(), PixelType::f32, plane.width, plane.height, 0},
                image);
  detail::ScaleSpaceMemory memory;
  detail::ViewFeatureSearch search(device, image.shape(), memory);
  detail::ViewFeatures found;
  search.find(stream, image, found);
  constexpr auto length = static_cast<std::size_t>(DescriptorsPlan::dimensions);
  std::vector<float> rows(found.places.size() * length);
  if (!rows.empty()) stream.download(*found.descriptors, rows.data(), rows.size() * sizeof(float));
  std::vector<Feature> features;
  for (std::size_t i = 0; i < found.places.size(); ++i) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(i * length);
    features.push_back({found.places[i], {row, row + static_cast<std::ptrdiff_t>(length)}});
  }
  return features;
}

double likeness(const Feature& a, const Feature& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.descriptor.size(); ++i) {
    sum += static_cast<double>(a.descriptor[i]) * static_cast<double>(b.descriptor[i]);
  }
  return sum;
}

// Matches that agree with a homography, and as many wrong ones.
std::vector<FeatureMatch> mixed_matches(const Homography& truth, std::size_t right) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(0, 600);
  std::vector<FeatureMatch> matches;
  for (std::size_t i = 0; i < right; ++i) {
    const Point p{place(random), place(random)};
    matches.push_back({p, truth(p), 0.5});
    matches.push_back({{place(random), place(random)}, {place(random), place(random)}, 0.5});
  }
  return matches;
}

void add_wrong(std::vector<FeatureMatch>& matches, std::size_t count) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> place(0, 600);
  for (std::size_t i = 0; i < count; ++i) {
    matches.push_back({{place(random), place(random)}, {place(random), place(random)}, 0.6});
  }
}

}  // namespace

TEST_CASE("view features: descriptors agree under rotation, scale and illumination") {
  test::on_every_device([](const Device& device) {
    const Homography similarity(Similarity{25, 1.2, {4, -3}}.matrix(shape, shape));
    const std::vector<Feature> before = features_of(device, drawn({}));
    GreyPlane other = drawn(similarity.inverse());
    for (float& value : other.values) value = 3 * value + 7;
    const std::vector<Feature> after = features_of(device, other);
    std::size_t inside = 0;
    std::size_t found = 0;
    // Every fifth feature of the first view, which is the original image, is compared with all.
    constexpr std::size_t of_first_view = 400;
    for (std::size_t i = 0; i < std::min(before.size(), of_first_view); i += 5) {
      const Feature& feature = before[i];
      CHECK(likeness(feature, feature) == doctest::Approx(1));
      const Point expected = similarity(feature.place);
      if (std::min(expected.x, expected.y) < 10 || std::max(expected.x, expected.y) > 109) continue;
      ++inside;
      const auto best =
          std::max_element(after.begin(), after.end(), [&](const auto& a, const auto& b) {
            return likeness(feature, a) < likeness(feature, b);
          });
      if (std::hypot(best->place.x - expected.x, best->place.y - expected.y) < 1) ++found;
    }
    CHECK(inside > 20);
    // The image is enlarged eightfold by bilinear interpolation, which adds features of its pixel
    // grid.
    CHECK(3 * found > 2 * inside);
  });
}

TEST_CASE("view features: an image of one intensity has none") {
  GreyPlane even(64, 64);
  std::fill(even.values.begin(), even.values.end(), 5.0F);
  test::on_every_device([&](const Device& device) { CHECK(features_of(device, even).empty()); });
}

TEST_CASE("view features: more blobs than the initial capacity are all described") {
  test::on_every_device([](const Device& device) {
    // A spot every twelve pixels: 170 x 170 of them.
    constexpr std::int64_t side = 2048;
    std::vector<float> spots(side * side);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const auto u = static_cast<double>(x % 12 - 6);
        const auto v = static_cast<double>(y % 12 - 6);
        spots[static_cast<std::size_t>(y * side + x)] = static_cast<float>(
            std::exp(-(u * u + v * v) / 18) * (1 + 1e-3 * static_cast<double>((x / 12) % 7)));
      }
    }
    Stream stream = device.make_stream();
    detail::ScaleSpaceMemory memory;
    detail::ScaleSpace space(device, {{side, side, 1}}, 0.5, memory);
    memory.planes.emplace(device.make_buffer(spots.size() * sizeof(float)));
    stream.upload(spots.data(), spots.size() * sizeof(float), *memory.planes);
    const std::int64_t room = memory.room_for_blobs;
    const auto all = space.strongest(stream, 1 << 20U);
    CHECK(memory.room_for_blobs > room);
    CHECK(all.size() > static_cast<std::size_t>(room));
    const auto some = space.strongest(stream, 100);
    REQUIRE(some.size() == 100);
  });
}

TEST_CASE("feature homographies: one that half of the matches support is found, and no other") {
  const Homography truth({0.2, 0.1, 150, -0.05, 0.9, 40, 1e-4, -2e-4, 1});
  detail::HomographySampling sampling;
  std::vector<FeatureMatch> matches = mixed_matches(truth, 20);
  const auto found = sampling.find(matches, {600, 600});
  REQUIRE(found.size() == 1);
  CHECK(test::max_corner_distance(found[0], truth, {600, 600, 1}) < 0.1);
  CHECK(matches.size() == 20);
  matches = mixed_matches(truth, 5);
  CHECK(sampling.find(matches, {600, 600}).empty());
  matches.clear();
  CHECK(sampling.find(matches, {600, 600}).empty());
}

TEST_CASE("feature homographies: several threads find the same as one") {
  const Homography truth({0.2, 0.1, 150, -0.05, 0.9, 40, 1e-4, -2e-4, 1});
  detail::ThreadBudget threads(3);
  detail::ParallelFor parallel_for(&threads, 3);
  for (const std::size_t agree : {20, 9, 8, 5}) {
    CAPTURE(agree);
    std::vector<FeatureMatch> alone = mixed_matches(truth, agree);
    add_wrong(alone, 200);  // so many that one block of samples is not enough
    std::vector<FeatureMatch> together = alone;
    detail::HomographySampling by_one, by_four;
    const auto expected = by_one.find(alone, {600, 600});
    const auto found = by_four.find(together, {600, 600}, &parallel_for);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].h == expected[i].h);
    CHECK(together.size() == alone.size());
  }
}

TEST_CASE("feature homographies: of matches at nearly the same position the clearest is kept") {
  std::vector<FeatureMatch> matches{
      {{100, 100}, {200, 200}, 0.6}, {{101, 100}, {200, 201}, 0.5}, {{100, 100}, {300, 200}, 0.7}};
  detail::keep_distinct(matches, {600, 600});
  REQUIRE(matches.size() == 2);
  CHECK(matches[0].ratio == 0.5);
  CHECK(matches[1].ratio == 0.7);
}

TEST_CASE("rectified: the compressed direction is averaged, and pixels outside do not count") {
  GreyPlane stripes(40, 10);
  for (std::int64_t y = 0; y < stripes.height; ++y) {
    for (std::int64_t x = 0; x < stripes.width; ++x) stripes.row(y)[x] = x % 2 == 0 ? 0.0F : 8.0F;
  }
  const Homography four_times(Affine{4, 0, 1.5, 0, 1, 0});
  const auto image = detail::rectified(stripes, {}, four_times, {12, 10, 1});
  for (std::int64_t x = 0; x < 12; ++x) {
    CAPTURE(x);
    CHECK(image.mask[static_cast<std::size_t>(x)] == (x < 10 ? 1 : 0));
    if (x < 9) CHECK(image.values.at(x, 3) == doctest::Approx(4));
  }
  CHECK_FALSE(detail::is_registrable(detail::rectified(stripes, {}, four_times, {300, 300, 1})));
  const std::vector<float> none(400, 0.0F);
  CHECK_FALSE(detail::is_registrable(detail::rectified(stripes, none, {}, {40, 10, 1})));
  CHECK(detail::is_registrable(detail::rectified(stripes, {}, {}, {40, 10, 1})));
}

TEST_CASE("feature search: a strongly oblique plane is found and rectified") {
  test::on_every_device([](const Device& device) {
    test::DrawnPair pair(device, shape, shape);
    // The plane is compressed fivefold along x, and is nearly as high at the right as at the left.
    const Homography truth =
        test::moving_corners(shape, {{{40, 5}, {-55, 12}, {-55, -9}, {40, -3}}});
    pair.draw(test::Spots(33, 900), truth, {0, 0});
    detail::FeatureSearch search(device);
    const auto found = search.find(pair.work());
    REQUIRE_FALSE(found.empty());
    CHECK(test::max_corner_distance(found[0], truth, shape) < 2);
    detail::RectifiedPair rectified_pair(device);
    const auto in_frame = rectified_pair.show(pair.work(), truth);
    REQUIRE(in_frame.has_value());
    CHECK(in_frame->moving.shape() == shape);
    CHECK_FALSE(
        rectified_pair.show(pair.work(), Homography(Affine::translation(500, 0))).has_value());
  });
}
