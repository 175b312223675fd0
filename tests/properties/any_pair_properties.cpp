// Registrations of arbitrary pairs of images: no unexpected error, and no NaN in a result.
#include "properties/trial.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;
using Pixels = std::vector<std::uint8_t>;

/// The content of an image outside of the scene.
enum class Beside { black, noise, black_of_negative };

std::uint8_t& pixel_of(Pixels& pixels, const Shape& shape, std::int64_t x, std::int64_t y) {
  return pixels[static_cast<std::size_t>(y * shape.width + x)];
}

/// Noise of single pixels, or of squares of several.
Pixels draw_noise(Random& random, const Shape& shape) {
  const std::int64_t side = random.integer(1, 4);
  Pixels pixels(static_cast<std::size_t>(shape.plane()));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const bool is_corner = x % side == 0 && y % side == 0;
      pixel_of(pixels, shape, x, y) = is_corner
                                          ? static_cast<std::uint8_t>(random.integer(0, 255))
                                          : pixel_of(pixels, shape, x - x % side, y - y % side);
    }
  }
  return pixels;
}

/// A random transform, from a similarity to a plane that is seen from behind.
Homography draw_homography(Random& random, const Shape& shape) {
  const double scale = std::exp2(random.real(-2.5, 1.5));
  const double bend = random.real(0, 2);
  std::array<double, 9> h{};
  for (const std::size_t i : {0U, 1U, 3U, 4U}) h[i] = scale * random.real(-1, 1);
  h[2] = static_cast<double>(shape.width) * random.real(0, 1);
  h[5] = static_cast<double>(shape.height) * random.real(0, 1);
  h[6] = bend * random.real(-1, 1) / static_cast<double>(shape.width);
  h[7] = bend * random.real(-1, 1) / static_cast<double>(shape.height);
  h[8] = 1;
  return Homography(h);
}

/// The scene as the homography shows it, which maps coordinates relative to the centre.
Pixels view_of(Random& random, Pixels scene, const Shape& shape, const Homography& homography,
               Beside beside) {
  Pixels pixels(scene.size());
  const Point c = centre_of(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p = homography({static_cast<double>(x) - c.x, static_cast<double>(y) - c.y});
      const bool inside = p.x >= 0 && p.y >= 0 && p.x < static_cast<double>(shape.width) &&
                          p.y < static_cast<double>(shape.height);
      std::uint8_t value = 0;
      if (inside) {
        value =
            pixel_of(scene, shape, static_cast<std::int64_t>(p.x), static_cast<std::int64_t>(p.y));
        if (beside == Beside::black_of_negative) value = static_cast<std::uint8_t>(255 - value);
      } else if (beside == Beside::noise) {
        value = static_cast<std::uint8_t>(random.integer(0, 255));
      }
      pixel_of(pixels, shape, x, y) = value;
    }
  }
  return pixels;
}

RegistrationOptions draw_options(Random& random) {
  RegistrationOptions options;
  options.motion = random.one_of<Motion>({Motion::similarity, Motion::rigid, Motion::rotation,
                                          Motion::translation, Motion::affine, Motion::homography,
                                          Motion::automatic, Motion::automatic});
  options.modality =
      random.one_of<Modality>({Modality::same, Modality::other, Modality::automatic});
  options.refine = random.chance(0.9);
  return options;
}

/// Whether all numbers of a result are finite, and the confidence is in its range.
bool is_sound(const RegistrationResult& result) {
  const auto& h = result.homography.h;
  return std::all_of(h.begin(), h.end(), [](double value) { return std::isfinite(value); }) &&
         result.confidence >= 0 && result.confidence <= 1;
}

void check_any_pair(Trial& trial) {
  Random& random = trial.random;
  const Shape shape{random.integer(20, 70), random.integer(20, 70), 1};
  const RegistrationOptions options = draw_options(random);
  trial.describe(shape, ", motion ", static_cast<int>(options.motion), ", modality ",
                 static_cast<int>(options.modality));
  const Pixels reference = draw_noise(random, shape);
  const Beside beside =
      random.one_of<Beside>({Beside::black, Beside::noise, Beside::black_of_negative});
  const Pixels moving = random.chance(0.2) ? draw_noise(random, shape)
                                           : view_of(random, reference, shape,
                                                     draw_homography(random, shape), beside);
  const auto image = [&](const Pixels& pixels) {
    return HostImage{pixels.data(), PixelType::u8, shape.width, shape.height, 0};
  };
  trial.on_every_device([&](const Device& device) {
    try {
      return is_sound(register_images(device, image(reference), image(moving), options)) ? 0.0
                                                                                         : 1e9;
    } catch (const Error& error) {
      // If an image shows nothing of the scene, all its pixels are black.
      if (error.kind() == ErrorKind::invalid_image) return 0.0;
      throw;
    }
  });
}

}  // namespace

std::vector<Property> any_pair_properties() {
  return {{"register_any", "whatever two images show, no error comes out", &check_any_pair}};
}

}  // namespace properties
