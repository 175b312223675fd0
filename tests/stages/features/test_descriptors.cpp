// Orientations and descriptors of keypoints against the oracle, on every device.
#include "reference/features/descriptors.hpp"
#include "reference/features/octave.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/packed_planes.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/features/descriptors.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace {

using warpalign::Buffer;
using warpalign::DescriptorsPlan;
using warpalign::Device;
using warpalign::Error;
using warpalign::Keypoint;
using warpalign::KeypointRange;
using warpalign::Shape;
using warpalign::Stream;

constexpr auto dimensions = static_cast<std::size_t>(DescriptorsPlan::dimensions);
constexpr auto max_orientations = static_cast<std::size_t>(DescriptorsPlan::max_orientations);
constexpr double pi = std::numbers::pi;

/// The planes of each image, image by image.
using Octave = std::vector<std::vector<reference::Plane>>;

reference::Plane texture(const Shape& shape, std::uint32_t seed) {
  auto plane =
      reference::octave_smoothed(test::random_plane(shape.width, shape.height, 0, 1, seed), 1.3);
  test::round_to_floats(plane);
  return plane;
}

Octave random_octave(const std::vector<Shape>& shapes, std::size_t images) {
  Octave octave(images);
  std::uint32_t seed = 1;
  for (auto& image : octave) {
    for (const Shape& shape : shapes) image.push_back(texture(shape, seed++));
  }
  return octave;
}

Buffer to_device(const Device& device, Stream& stream, const Octave& octave) {
  std::vector<float> all;
  for (const auto& image : octave) {
    const std::vector<float> values = test::packed(image);
    all.insert(all.end(), values.begin(), values.end());
  }
  return test::to_buffer(device, stream, all);
}

/// The results of all keypoints in the list. The stage writes only those of the given range.
struct Results {
  std::vector<float> directions, descriptors;
};

Results results_of(const Device& device, const Octave& octave, const std::vector<Keypoint>& places,
                   const KeypointRange& range) {
  Stream stream = device.make_stream();
  const Buffer input = to_device(device, stream, octave);
  const Buffer list = test::to_buffer(device, stream, places);
  const std::size_t of_directions = places.size() * max_orientations;
  const std::size_t of_descriptors = places.size() * dimensions;
  Buffer directions = test::poisoned(device, stream, of_directions * sizeof(float));
  Buffer descriptors = test::poisoned(device, stream, of_descriptors * sizeof(float));
  const DescriptorsPlan plan(device, {test::shapes_of(octave[0])});
  plan.find_orientations(stream, input, list, range, directions);
  plan.describe(stream, input, list, range, descriptors);
  return {test::from_buffer<float>(stream, directions, of_directions),
          test::from_buffer<float>(stream, descriptors, of_descriptors)};
}

Results results_of(const Device& device, const Octave& octave,
                   const std::vector<Keypoint>& places) {
  return results_of(device, octave, places, {0, static_cast<std::int64_t>(places.size())});
}

std::vector<double> row_of(const Results& results, std::size_t place) {
  const auto first = results.descriptors.begin() + static_cast<std::ptrdiff_t>(place * dimensions);
  return {first, first + static_cast<std::ptrdiff_t>(dimensions)};
}

std::vector<double> directions_of(const Results& results, std::size_t place) {
  std::vector<double> directions;
  for (std::size_t i = 0; i < max_orientations; ++i) {
    const float radians = results.directions[max_orientations * place + i];
    if (radians != DescriptorsPlan::no_orientation) {
      directions.push_back(static_cast<double>(radians));
    }
  }
  return directions;
}

double angle_between(double a, double b) { return std::abs(std::remainder(a - b, 2 * pi)); }

reference::DescribedKeypoint described(const Keypoint& place) {
  return {static_cast<double>(place.x), static_cast<double>(place.y),
          static_cast<double>(place.sigma), static_cast<double>(place.radians)};
}

/// Random keypoints anywhere in the planes, edges included.
std::vector<Keypoint> random_places(const Octave& octave, std::size_t count) {
  std::mt19937 engine(3);
  const auto unit = [&] { return static_cast<float>(engine()) / 4294967296.0F; };
  std::vector<Keypoint> places;
  for (std::size_t i = 0; i < count; ++i) {
    Keypoint place;
    place.image = static_cast<std::int32_t>(engine() % octave.size());
    place.plane = static_cast<std::int32_t>(engine() % octave[0].size());
    const reference::Plane& plane = octave[0][static_cast<std::size_t>(place.plane)];
    place.x = unit() * static_cast<float>(plane.width - 1);
    place.y = unit() * static_cast<float>(plane.height - 1);
    place.sigma = 1.2F + 3 * unit();
    place.radians = 7 * unit() - 0.3F;
    places.push_back(place);
  }
  return places;
}

const reference::Plane& image_of(const Octave& octave, const Keypoint& place) {
  return octave[static_cast<std::size_t>(place.image)][static_cast<std::size_t>(place.plane)];
}

// Single precision may read the other pixel if a sample is this close, in pixels, to the middle
// between two: positions below 200 pixels are off by up to 3e-5.
constexpr double undecided_position = 1e-4;
// Bins are off by 36 times the 2e-6 of an angle in turns, and peaks by the rounding of sums.
constexpr double undecided_direction = 2e-4;

std::vector<double> squares(std::vector<double> values) {
  for (double& value : values) value *= value;
  return values;
}

}  // namespace

TEST_CASE("descriptors: agree with the oracle") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}, {15, 64, 1}, {40, 33, 1}, {3, 3, 1}}, 3);
    const auto places = random_places(octave, 300);
    const Results results = results_of(device, octave, places);
    std::size_t decided = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto expected =
          reference::descriptor(image_of(octave, places[i]), described(places[i]));
      if (expected.undecided < undecided_position) continue;
      ++decided;
      CAPTURE(i);
      // The squares add up to 1. An angle that is off by 2e-6 turns moves 1.6e-5 of a sample's
      // weight to another direction.
      CHECK(test::max_of(squares(row_of(results, i)), squares(expected.values),
                         [](double a, double b) { return std::abs(a - b); }) <= 2e-5);
    }
    // A keypoint has 800 coordinates, and one coordinate in 5000 is undecided.
    CHECK(decided > 200);
  });
}

TEST_CASE("descriptors: orientations agree with the oracle") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}, {15, 64, 1}, {40, 33, 1}, {3, 3, 1}}, 3);
    const auto places = random_places(octave, 400);
    const Results results = results_of(device, octave, places);
    std::size_t decided = 0;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto expected =
          reference::dominant_orientations(image_of(octave, places[i]), described(places[i]));
      if (expected.undecided < undecided_direction) continue;
      ++decided;
      pairs += expected.radians.size() == 2 ? 1 : 0;
      CAPTURE(i);
      const std::vector<double> found = directions_of(results, i);
      REQUIRE(found.size() == expected.radians.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        // Sums are right to 1e-6 of the highest peak, and smoothed bins have second differences
        // above a hundredth of it.
        CHECK(angle_between(found[k], expected.radians[k]) <= 1e-4);
      }
    }
    CHECK(decided > 200);
    CHECK(pairs > 10);
  });
}

TEST_CASE("descriptors: a ramp has its own orientation alone") {
  test::on_every_device([](const Device& device) {
    for (int i = 0; i < 36; ++i) {
      CAPTURE(i);
      // The middle of a bin, so that both neighbouring bins are equal.
      const double radians = i * 2 * pi / 36;
      reference::Plane ramp(64, 50);
      for (std::int64_t y = 0; y < 50; ++y) {
        for (std::int64_t x = 0; x < 64; ++x) {
          ramp.at(x, y) = std::cos(radians) * static_cast<double>(x) +
                          std::sin(radians) * static_cast<double>(y);
        }
      }
      const auto found =
          directions_of(results_of(device, {{ramp}}, {{0, 0, 30.2F, 24.7F, 2, 0}}), 0);
      REQUIRE(found.size() == 1);
      // 36ths of a turn, which floats represent to 3e-7.
      CHECK(angle_between(found[0], radians) <= 1e-6);
    }
  });
}

TEST_CASE("descriptors: the two highest of three orientations are found") {
  test::on_every_device([](const Device& device) {
    // Each third of the image is a ramp with a direction of its own. The keypoint's window covers
    // most of the last third, less of the first one, and least of the second one.
    const std::vector<double> angles{20 * pi / 180, 140 * pi / 180, 260 * pi / 180};
    reference::Plane image(72, 60);
    for (std::int64_t y = 0; y < 60; ++y) {
      for (std::int64_t x = 0; x < 72; ++x) {
        const double u = static_cast<double>(x) - 36;
        const double v = static_cast<double>(y) - 30;
        double highest = 0;
        for (const double angle : angles) {
          highest = std::max(highest, std::cos(angle) * u + std::sin(angle) * v);
        }
        image.at(x, y) = highest;
      }
    }
    test::round_to_floats(image);
    const double x = 36 + 0.3 * std::cos(angles[2]) + 0.15 * std::cos(angles[0]);
    const double y = 30 + 0.3 * std::sin(angles[2]) + 0.15 * std::sin(angles[0]);
    const Keypoint place{0, 0, static_cast<float>(x), static_cast<float>(y), 3, 0};
    const auto expected = reference::dominant_orientations(image, described(place));
    REQUIRE(expected.undecided >= undecided_direction);
    const auto found = directions_of(results_of(device, {{image}}, {place}), 0);
    REQUIRE(found.size() == 2);
    // Half a bin, 5 degrees.
    CHECK(angle_between(found[0], angles[2]) <= 0.09);
    CHECK(angle_between(found[1], angles[0]) <= 0.09);
  });
}

TEST_CASE("descriptors: a constant image has neither orientations nor gradients") {
  test::on_every_device([](const Device& device) {
    reference::Plane constant(40, 40);
    constant.values.assign(1600, 5);
    const Results results = results_of(device, {{constant}}, {{0, 0, 20, 20, 2, 1}});
    CHECK(results.directions == std::vector<float>(2, DescriptorsPlan::no_orientation));
    CHECK(results.descriptors == std::vector<float>(dimensions, 0.0F));
  });
}

TEST_CASE("descriptors: length 1, independent of contrast and brightness") {
  test::on_every_device([](const Device& device) {
    const reference::Plane image = texture({80, 70, 1}, 30);
    reference::Plane brighter = image;
    // Exact: the texture's values have at most 24 bits, and a power of two keeps them.
    for (double& value : brighter.values) value *= 16;
    const std::vector<Keypoint> places = random_places({{image}}, 50);
    const Results results = results_of(device, {{image}}, places);
    CHECK(results.descriptors == results_of(device, {{brighter}}, places).descriptors);
    for (std::size_t i = 0; i < places.size(); ++i) {
      double square = 0;
      for (const double value : row_of(results, i)) square += value * value;
      // 128 square roots of quotients, each right to 1e-7, of a sum with 128 roundings.
      CHECK(std::abs(square - 1) <= 1e-5);
    }
  });
}

TEST_CASE("descriptors: rotate with the image") {
  test::on_every_device([](const Device& device) {
    const reference::Plane image = texture({80, 70, 1}, 40);
    reference::Plane rotated(70, 80);
    for (std::int64_t y = 0; y < 70; ++y) {
      for (std::int64_t x = 0; x < 80; ++x) rotated.at(69 - y, x) = image.at(x, y);
    }
    std::vector<Keypoint> places = random_places({{image}}, 60);
    std::vector<Keypoint> rotated_places = places;
    for (Keypoint& place : rotated_places) {
      const float x = place.x;
      place.x = 69 - place.y;
      place.y = x;
      place.radians += static_cast<float>(pi / 2);
    }
    const Results one = results_of(device, {{image}}, places);
    const Results two = results_of(device, {{rotated}}, rotated_places);
    std::size_t decided = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      CAPTURE(i);
      if (reference::descriptor(image, described(places[i])).undecided >= undecided_position) {
        ++decided;
        // Twice the tolerance against the oracle.
        CHECK(test::max_of(squares(row_of(one, i)), squares(row_of(two, i)),
                           [](double a, double b) { return std::abs(a - b); }) <= 4e-5);
      }
      const auto expected = reference::dominant_orientations(image, described(places[i]));
      if (expected.undecided < undecided_direction || expected.radians.size() != 1) continue;
      REQUIRE(directions_of(one, i).size() == 1);
      REQUIRE(directions_of(two, i).size() == 1);
      CHECK(angle_between(directions_of(one, i)[0] + pi / 2, directions_of(two, i)[0]) <= 2e-4);
    }
    CHECK(decided > 40);
  });
}

TEST_CASE(
    "descriptors: a range of the keypoints gives the same bits, and nothing else is written") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{60, 50, 1}, {33, 40, 1}}, 2);
    const auto places = random_places(octave, 40);
    const Results all = results_of(device, octave, places);
    const Results part = results_of(device, octave, places, {11, 17});
    const auto compare = [](const std::vector<float>& found, const std::vector<float>& expected,
                            std::size_t each) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_inside = i >= 11 * each && i < 28 * each;
        CHECK((is_inside ? found[i] == expected[i] : std::isnan(found[i])));
      }
    };
    compare(part.directions, all.directions, max_orientations);
    compare(part.descriptors, all.descriptors, dimensions);
    const Results again = results_of(device, octave, places);
    CHECK(again.directions == all.directions);
    CHECK(again.descriptors == all.descriptors);
  });
}

TEST_CASE("descriptors: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(DescriptorsPlan(device, {{}}), Error);
    CHECK_THROWS_AS(DescriptorsPlan(device, {{{0, 8, 1}}}), Error);
    CHECK_THROWS_AS(DescriptorsPlan(device, {{{8, 8, 2}}}), Error);

    Stream stream = device.make_stream();
    const DescriptorsPlan plan(device, {{{20, 10, 1}}});
    const Buffer octave = device.make_buffer(200 * sizeof(float));
    const Buffer short_octave = device.make_buffer(199 * sizeof(float));
    const Buffer places = device.make_buffer(5 * sizeof(Keypoint));
    Buffer radians = device.make_buffer(5 * max_orientations * sizeof(float));
    Buffer rows = device.make_buffer(5 * dimensions * sizeof(float));
    Buffer small = device.make_buffer(9 * sizeof(float));
    const auto refused = [&](const Buffer& of_octave, const KeypointRange& range) {
      CHECK_THROWS_AS(plan.find_orientations(stream, of_octave, places, range, radians), Error);
      CHECK_THROWS_AS(plan.describe(stream, of_octave, places, range, rows), Error);
    };
    refused(short_octave, {0, 5});
    refused(octave, {0, 0});
    refused(octave, {-1, 2});
    refused(octave, {1, 5});
    refused(octave, {5, 1});
    // The size in bytes exceeds 64 bits.
    refused(octave, {std::int64_t{1} << 61U, 1});
    refused(octave, {1, std::numeric_limits<std::int64_t>::max()});
    CHECK_THROWS_AS(plan.find_orientations(stream, octave, places, {0, 5}, small), Error);
    CHECK_THROWS_AS(plan.describe(stream, octave, places, {0, 5}, small), Error);
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign = second.make_stream();
    CHECK_THROWS_AS(plan.find_orientations(foreign, octave, places, {0, 5}, radians), Error);
    CHECK_THROWS_AS(plan.describe(foreign, octave, places, {0, 5}, rows), Error);
  });
}
