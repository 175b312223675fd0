// The pixels of the benchmarks.
#include "bench/pixels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>

namespace warpalign::program::bench {
namespace {

/// SplitMix64: a well-mixed number for every counter.
std::uint64_t mixed(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 30U)) * 0xbf58476d1ce4e5b9U;
  n = (n ^ (n >> 27U)) * 0x94d049bb133111ebU;
  return n ^ (n >> 31U);
}

Pixels make_noise(PixelType type, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.pixels());
  auto bytes = std::make_shared<std::vector<std::byte>>(count * size_of(type));
  if (type == PixelType::u8) {
    for (std::size_t i = 0; i < count; ++i) (*bytes)[i] = static_cast<std::byte>(mixed(i) & 255U);
    return bytes;
  }
  const std::size_t floats = bytes->size() / sizeof(float);
  auto* values = reinterpret_cast<float*>(bytes->data());
  for (std::size_t i = 0; i < floats; ++i) {
    values[i] = static_cast<float>(mixed(i) >> 40U) * 0x1p-24F;
  }
  return bytes;
}

/// Smoothly interpolated noise on a lattice with unit spacing, from -1 to 1.
double lattice_noise(double x, double y, std::uint64_t layer) {
  const double i = std::floor(x);
  const double j = std::floor(y);
  const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
  const auto at = [&](double u, double v) {
    const auto column = static_cast<std::uint64_t>(static_cast<std::int64_t>(i + u) + 1'000'000);
    const auto row = static_cast<std::uint64_t>(static_cast<std::int64_t>(j + v) + 1'000'000);
    return static_cast<double>(mixed((layer << 48U) ^ (row << 24U) ^ column) >> 11U) * 0x1p-52 - 1;
  };
  const double a = smooth(x - i);
  const double b = smooth(y - j);
  return (1 - b) * ((1 - a) * at(0, 0) + a * at(1, 0)) + b * ((1 - a) * at(0, 1) + a * at(1, 1));
}

/// The intensity of a scene: lattices of 6, 12, 24 ... pixels with equal amplitudes.
double scene_at(const Point& p, std::int64_t side, std::uint64_t number = 0) {
  constexpr std::uint64_t layers_of_scene = 16;
  double sum = 0;
  std::uint64_t layer = 1;
  for (std::int64_t spacing = 6; 3 * spacing < side; spacing *= 2) {
    const auto pixels = static_cast<double>(spacing);
    sum += lattice_noise(p.x / pixels, p.y / pixels, number * layers_of_scene + layer++);
  }
  return std::clamp(127.5 + 60 * sum / std::sqrt(static_cast<double>(layer)), 0.0, 255.0);
}

template <class Value>
Pixels draw(std::int64_t side, const Homography& to_scene, std::uint64_t number = 0) {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(side * side) *
                                                        sizeof(Value));
  auto* values = reinterpret_cast<Value*>(bytes->data());
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      const double level =
          scene_at(to_scene({static_cast<double>(x), static_cast<double>(y)}), side, number);
      values[y * side + x] = static_cast<Value>(level);
    }
  }
  return bytes;
}

}  // namespace

Pixels noise(PixelType type, const Shape& shape) {
  struct Kept {
    PixelType type;
    Shape shape;
    Pixels pixels;
  };
  constexpr std::size_t max_kept = 2;
  static std::deque<Kept> kept;
  for (const Kept& one : kept) {
    if (one.type == type && one.shape == shape) return one.pixels;
  }
  if (kept.size() == max_kept) kept.pop_front();
  kept.push_back({type, shape, make_noise(type, shape)});
  return kept.back().pixels;
}

const Pair& registration_pair(std::int64_t side) {
  static std::int64_t kept_side = 0;
  static Pair kept;
  if (kept_side == side) return kept;
  const Shape shape{side, side, 1};
  const double shift = static_cast<double>(side) / 64;
  const Affine truth = Similarity{20, 1.1, {shift, -shift / 2}}.matrix(shape, shape);
  kept = {draw<std::uint8_t>(side, Affine{}), draw<std::uint8_t>(side, truth.inverse()), truth};
  kept_side = side;
  return kept;
}

Pixels view_of_scene(std::int64_t side, std::uint64_t number, const Homography& to_scene) {
  return draw<std::uint8_t>(side, to_scene, number);
}

Pixels scene(std::int64_t side) { return scene(side, {}); }

Pixels scene(std::int64_t side, const Affine& to_scene) { return draw<float>(side, to_scene); }

}  // namespace warpalign::program::bench
