// A smooth random texture of bumps at random positions, in several sizes. Noise that is
// interpolated on a lattice would not do, because all such textures share the lattice, and the
// registration finds it.
#include "program/picture.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::test {
namespace {

std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ h >> 31U) * 0xBF58476D1CE4E5B9U;
  h = (h ^ h >> 27U) * 0x94D049BB133111EBU;
  return h ^ h >> 30U;
}

/// A random number from 0 to 1 for a cell; `which` selects one of the cell's numbers.
double random_number(std::int64_t x, std::int64_t y, std::uint32_t seed, std::uint32_t which) {
  const std::uint64_t h = mixed(static_cast<std::uint64_t>(x) * 0x9E3779B97F4A7C15U ^
                                mixed(static_cast<std::uint64_t>(y) + 4 * seed + which));
  return static_cast<double>(h >> 40U) / static_cast<double>(1U << 24U);
}

/// One bump in each unit cell, up or down, of radius 1; the mean is 0.
double bumps(double x, double y, std::uint32_t seed) {
  const auto i = static_cast<std::int64_t>(std::floor(x));
  const auto j = static_cast<std::int64_t>(std::floor(y));
  double sum = 0;
  for (std::int64_t v = j - 1; v <= j + 1; ++v) {
    for (std::int64_t u = i - 1; u <= i + 1; ++u) {
      const double dx = x - static_cast<double>(u) - random_number(u, v, seed, 0);
      const double dy = y - static_cast<double>(v) - random_number(u, v, seed, 1);
      const double height = 2 * random_number(u, v, seed, 2) - 1;
      const double inside = 1 - dx * dx - dy * dy;
      if (inside > 0) sum += height * inside * inside * inside;
    }
  }
  return sum;
}

template <typename Sample>
void fill(program::LoadedImage& image, const Texture& texture, const Homography& place,
          double full) {
  auto samples = image.samples<Sample>();
  std::size_t i = 0;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double value = texture(place({static_cast<double>(x), static_cast<double>(y)}));
      for (int channel = 0; channel < image.channels; ++channel) {
        samples[i++] = static_cast<Sample>(full * value * (1.0 - 0.25 * channel));
      }
    }
  }
}

}  // namespace

double Texture::operator()(Point p) const {
  double sum = 0;
  double weight = 0;
  double amplitude = 1;
  for (double size = 64; size >= 4; size /= 2) {
    sum +=
        amplitude * bumps(p.x / size, p.y / size, 1000 * seed + static_cast<std::uint32_t>(size));
    weight += amplitude;
    amplitude *= 0.75;
  }
  return std::clamp(0.5 + 0.7 * sum / weight, 0.0, 1.0);
}

program::LoadedImage draw(const Texture& texture, const Shape& shape, int channels, PixelType type,
                          const Homography& place) {
  program::LoadedImage image = program::make_image(shape.width, shape.height, channels, type);
  if (type == PixelType::u8) fill<std::uint8_t>(image, texture, place, 255);
  if (type == PixelType::u16) fill<std::uint16_t>(image, texture, place, 65535);
  if (type == PixelType::f32) fill<float>(image, texture, place, 1);
  return image;
}

}  // namespace warpalign::test
