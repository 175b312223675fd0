// Images of one small structure on an even background.
#include "registration/points/compact_structure.hpp"
#include "support/devices.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using warpalign::PixelType;
using warpalign::Point;

namespace {

constexpr std::int64_t structure_side = 100;

// How much of a structure about (0, 0) a pixel shows, 0 to 1.
using Structure = std::function<double(double x, double y)>;

bool in_square(double x, double y, double half) { return std::abs(x) < half && std::abs(y) < half; }

double square_of_ten(double x, double y) { return in_square(x, y, 5) ? 1 : 0; }
double disc_of_ten(double x, double y) { return std::hypot(x, y) < 5 ? 1 : 0; }
double cross_of_ten(double x, double y) {
  return in_square(x, y, 6) && (std::abs(x) < 1.5 || std::abs(y) < 1.5) ? 1 : 0;
}
double letter_l(double x, double y) { return in_square(x, y, 6) && (x < -2.5 || y > 2.5) ? 1 : 0; }

// Each pixel is the mean of 4 x 4 samples, so places are multiples of a quarter.
std::vector<std::uint8_t> image_of(const Structure& structure, Point at, double noise,
                                   std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::uint8_t> image;
  for (std::int64_t y = 0; y < structure_side; ++y) {
    for (std::int64_t x = 0; x < structure_side; ++x) {
      double sum = 0;
      for (int k = 0; k < 16; ++k) {
        const double u = static_cast<double>(x) + (k % 4 - 1.5) / 4 - at.x;
        const double v = static_cast<double>(y) + (k / 4 - 1.5) / 4 - at.y;
        sum += structure(u, v) / 16;
      }
      const double background = noise > 0 ? 20 : 0;
      const double value = background + 200 * sum + noise * normal(random);
      image.push_back(static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0)));
    }
  }
  return image;
}

warpalign::RegistrationResult registered(const warpalign::Device& device,
                                         const std::vector<std::uint8_t>& reference,
                                         const std::vector<std::uint8_t>& moving) {
  return warpalign::register_images(
      device, {reference.data(), PixelType::u8, structure_side, structure_side, 0},
      {moving.data(), PixelType::u8, structure_side, structure_side, 0});
}

const std::vector<Structure> structures{square_of_ten, disc_of_ten, cross_of_ten, letter_l};
constexpr Point place{40.5, 44.5};

}  // namespace

TEST_CASE("small structures: the shift of one structure on an empty background is found") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Structure& structure : structures) {
      for (const Point shift : {Point{10, 10}, Point{-7, 3}, Point{4.25, -6.5}}) {
        for (const double noise : {0, 3}) {
          CAPTURE(shift.x);
          CAPTURE(noise);
          const auto found =
              registered(device, image_of(structure, place, noise, 1),
                         image_of(structure, {place.x + shift.x, place.y + shift.y}, noise, 2));
          CHECK(found.reliable);
          // Aliasing of sharp edges, and noise.
          CHECK(std::abs(found.matrix.c - shift.x) < 0.06);
          CHECK(std::abs(found.matrix.f - shift.y) < 0.06);
        }
      }
    }
  });
}

TEST_CASE("small structures: other structures are refused") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (std::size_t i = 0; i < structures.size(); ++i) {
      for (std::size_t k = 0; k < structures.size(); ++k) {
        if (i == k) continue;
        for (const double noise : {0, 3}) {
          CAPTURE(i);
          CAPTURE(k);
          const auto found = registered(device, image_of(structures[i], place, noise, 1),
                                        image_of(structures[k], {50.5, 54.5}, noise, 2));
          CHECK_FALSE(found.reliable);
        }
      }
    }
  });
}

TEST_CASE("small structures: two structures, textures and structures at an edge are none") {
  const auto floats = [](const std::vector<std::uint8_t>& image) {
    return std::vector<float>(image.begin(), image.end());
  };
  const auto is_structure = [&](const Structure& structure, Point at) {
    return warpalign::detail::compact_structure(floats(image_of(structure, at, 3, 1)),
                                                structure_side, structure_side)
        .has_value();
  };
  CHECK(is_structure(square_of_ten, place));
  CHECK_FALSE(is_structure(square_of_ten, {3, 50}));
  CHECK_FALSE(is_structure([](double, double) { return 0; }, place));
  CHECK_FALSE(is_structure([](double x, double y) { return 0.5 + 0.5 * std::sin(x + y); }, place));
  CHECK_FALSE(is_structure(
      [](double x, double y) { return square_of_ten(x, y) + square_of_ten(x - 40, y - 40); },
      {25, 25}));
}
