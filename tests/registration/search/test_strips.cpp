// Overlaps that are narrow strips: layers that run across them match where nothing else does.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/registrar.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Registrar;
using warpalign::RegistrationResult;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{240, 200, 1};

using Pixels = std::vector<float>;

HostImage view(const Pixels& pixels) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}

/// Steps of random heights that are as wide as the image and rise by a fiftieth, with noise. What
/// stands before them covers all but their right end.
Pixels steps(bool mirrored) {
  std::mt19937 random(11);
  std::normal_distribution<double> value;
  std::vector<double> layers;
  for (std::int64_t y = 0; y < shape.height + 40; ++y) {
    layers.push_back(y % 3 > 0 && !layers.empty() ? layers.back() : value(random));
  }
  constexpr std::int64_t cell = 5;
  std::vector<double> cells(static_cast<std::size_t>(shape.width * shape.height));
  for (double& one : cells) one = value(random);
  std::mt19937 other(mirrored ? 12 : 13);
  Pixels pixels(static_cast<std::size_t>(shape.plane()));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double height = static_cast<double>(y) + static_cast<double>(x) / 50;
      const auto below = static_cast<std::size_t>(height);
      const double part = height - std::floor(height);
      const bool is_step = x >= shape.width - 30;
      const double content =
          is_step ? layers[below] * (1 - part) + layers[below + 1] * part
                  : cells[static_cast<std::size_t>(y / cell * shape.width + x / cell)];
      const std::int64_t column = mirrored ? shape.width - 1 - x : x;
      pixels[static_cast<std::size_t>(y * shape.width + column)] =
          static_cast<float>(100 + 20 * (content + 0.1 * value(other)));
    }
  }
  return pixels;
}

RegistrationResult registered(const warpalign::Device& device, const HostImage& reference,
                              const HostImage& moving) {
  Registrar registrar(device);
  registrar.set_reference(reference);
  return registrar.align(moving);
}

}  // namespace

TEST_CASE("strips: layers at the border do not match their mirror image reliably") {
  const Pixels reference = steps(false);
  const Pixels mirrored = steps(true);
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationResult found = registered(device, view(reference), view(mirrored));
    CHECK_FALSE(found.reliable);
    CHECK(found.ambiguous);
    REQUIRE(found.undetermined_direction);
    // The layers rise by a fiftieth, in the mirror image the other way.
    CHECK(std::abs(found.undetermined_direction->x) > 0.99);
  });
}

TEST_CASE("strips: tiles with an eighth in common are found") {
  for (const char* name : {"bridge.jpg", "citrus.jpg", "gravel.png"}) {
    CAPTURE(name);
    const double shift = 0.875 * static_cast<double>(shape.width);
    const test::Pair pair =
        test::cut(test::photograph(name), {shape, shape, Similarity{0, 1, {-shift, 4}}, 1.2});
    const Pixels reference(pair.reference.values.begin(), pair.reference.values.end());
    const Pixels moving(pair.moving.values.begin(), pair.moving.values.end());
    test::on_every_device([&](const warpalign::Device& device) {
      const RegistrationResult found = registered(device, view(reference), view(moving));
      CHECK(found.reliable);
      // A pixel of either image is averaged over 1.2 pixels of the photograph.
      CHECK(test::max_corner_distance(found.matrix, pair.truth, shape) < 0.3);
    });
  }
}
