// Pairs that are registered together: which of them are left to a Registrar.
#include "registration/batch/pair_batch.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"

#include <warpalign/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using warpalign::Affine;
using warpalign::Device;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::RegistrationResult;
using warpalign::Shape;
using warpalign::detail::PairBatch;

constexpr Shape shape{200, 180, 1};

struct Pair {
  std::vector<std::uint8_t> reference, moving;
  Affine truth;
};

// What a sensor shows of a value at a pixel.
using Sensor = std::function<double(std::int64_t x, std::int64_t y, double value)>;

double clean(std::int64_t, std::int64_t, double value) { return value; }

// A texture with structure of 3 and of 11 pixels.
const reference::Plane& texture() {
  static const reference::Plane made = [] {
    const reference::Plane raw = test::random_plane(300, 280, -1, 1, 5);
    reference::Plane sum(raw.width, raw.height);
    for (const std::int64_t radius : {1, 5}) {
      for (std::int64_t y = 0; y < sum.height; ++y) {
        for (std::int64_t x = 0; x < sum.width; ++x) {
          double mean = 0;
          for (std::int64_t j = -radius; j <= radius; ++j) {
            for (std::int64_t i = -radius; i <= radius; ++i) {
              mean += raw.at((x + i + raw.width) % raw.width, (y + j + raw.height) % raw.height);
            }
          }
          sum.at(x, y) += (radius == 1 ? 60.0 : 240.0) * mean /
                          static_cast<double>((2 * radius + 1) * (2 * radius + 1));
        }
      }
    }
    for (double& value : sum.values) value += 128;
    return sum;
  }();
  return made;
}

// A cut of the texture, and one that has moved by whole pixels, with a little noise.
Pair moved_by(std::int64_t dx, std::int64_t dy, const Sensor& sensor, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Pair pair;
  const auto pixel = [&](std::int64_t x, std::int64_t y, std::int64_t left, std::int64_t top) {
    const double value = sensor(x, y, texture().at(x + left, y + top)) + normal(random);
    return static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
  };
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      pair.reference.push_back(pixel(x, y, 40, 30));
      pair.moving.push_back(pixel(x, y, 40 - dx, 30 - dy));
    }
  }
  pair.truth = Affine::translation(static_cast<double>(dx), static_cast<double>(dy));
  return pair;
}

HostImage view(const std::vector<std::uint8_t>& pixels) {
  return {pixels.data(), PixelType::u8, shape.width, shape.height, 0};
}

std::vector<std::optional<RegistrationResult>> registered(const Device& device,
                                                          const std::vector<Pair>& pairs,
                                                          std::size_t threads) {
  warpalign::Stream stream = Device(device).make_stream();
  warpalign::detail::StageClock clock(stream);
  std::vector<HostImage> references, moving;
  for (const Pair& pair : pairs) {
    references.push_back(view(pair.reference));
    moving.push_back(view(pair.moving));
  }
  PairBatch batch(device, {}, PixelType::u8, shape, pairs.size() + 1, threads);
  const auto found = batch.run(clock, references, moving);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE(
    "pair batch: what is certain is found, and what shows a pattern is left, by any threads") {
  const Sensor dust = [](std::int64_t x, std::int64_t y, double value) {
    return x % 47 < 9 && y % 47 < 9 ? 0.7 * value : value;
  };
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < 5; ++i) pairs.push_back(moved_by(6 + i, 9 - i, clean, 1));
  pairs.push_back(moved_by(9, -6, dust, 2));  // correlates by 0.92
  pairs.push_back(moved_by(7, 5, clean, 3));
  pairs.back().moving.assign(pairs.back().moving.size(), 128);  // has no contrast
  test::on_every_device([&](const Device& device) {
    const auto found = registered(device, pairs, 1);
    REQUIRE(found.size() == pairs.size());
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      REQUIRE(found[i]);
      CHECK(found[i]->reliable);
      // Whole pixels, with noise of one gray level, of which the texture's deviation is thirty.
      CHECK(test::max_corner_distance(found[i]->matrix, pairs[i].truth, shape) <= 0.02);
    }
    CHECK_FALSE(found[5]);
    CHECK_FALSE(found[6]);
    for (const std::size_t threads : {2U, 4U}) {
      CAPTURE(threads);
      const auto again = registered(device, pairs, threads);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        CAPTURE(i);
        REQUIRE(again[i].has_value() == found[i].has_value());
        if (!found[i]) continue;
        CHECK(test::max_corner_distance(again[i]->matrix, found[i]->matrix, shape) == 0);
        CHECK(again[i]->significance == found[i]->significance);
      }
    }
  });
}
