#include "bench/bent_scene.hpp"

#include "io/in_parallel.hpp"

#include <algorithm>
#include <complex>
#include <random>
#include <utility>
#include <vector>

namespace warpalign::program::bench {
namespace {

constexpr std::size_t waves = 120;
constexpr double shortest = 6, longest = 48;  // wavelengths in pixels

struct Wave {
  std::array<double, 3> k{};  ///< radians a pixel
  double phase = 0;
};

std::vector<Wave> random_waves(int axes) {
  std::mt19937 random(31);
  const auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Wave> all(waves);
  for (Wave& wave : all) {
    const double length = shortest * std::pow(longest / shortest, unit());
    const double k = 2 * std::numbers::pi / length;
    const double angle = 2 * std::numbers::pi * unit();
    const double rise = axes == 3 ? 2 * unit() - 1 : 0;
    const double across = std::sqrt(1 - rise * rise);
    wave = {{k * across * std::cos(angle), k * across * std::sin(angle), k * rise},
            2 * std::numbers::pi * unit()};
  }
  return all;
}

using Phasor = std::complex<float>;

/// exp(i k.q) is a product of these factors, one for each axis of p.
std::vector<Phasor> factors(const std::vector<Wave>& all, const BentField& field, bool bent,
                            int axis) {
  const auto side = static_cast<std::size_t>(field.side);
  const auto other = static_cast<std::size_t>(field.bent_axis(axis));
  std::vector<Phasor> values(all.size() * side);
  for (std::size_t w = 0; w < all.size(); ++w) {
    for (std::size_t i = 0; i < side; ++i) {
      const auto at = static_cast<double>(i);
      double phase = all[w].k[static_cast<std::size_t>(axis)] * at;
      if (bent) phase += all[w].k[other] * field.bend(axis, at);
      if (axis == 0) phase += all[w].phase;
      values[w * side + i] = {static_cast<float>(std::cos(phase)),
                              static_cast<float>(std::sin(phase))};
    }
  }
  return values;
}

Pixels draw(const BentField& field, bool bent) {
  const std::vector<Wave> all = random_waves(field.axes);
  const auto side = static_cast<std::size_t>(field.side);
  std::array<std::vector<Phasor>, 3> along;
  for (int axis = 0; axis < field.axes; ++axis) {
    along[static_cast<std::size_t>(axis)] = factors(all, field, bent, axis);
  }
  const std::size_t rows = field.axes == 3 ? side * side : side;
  auto bytes = std::make_shared<std::vector<std::byte>>(rows * side * sizeof(std::uint16_t));
  auto* pixels = reinterpret_cast<std::uint16_t*>(bytes->data());
  in_parallel(rows, [&](std::size_t row) {
    std::vector<float> sum(side);
    for (std::size_t w = 0; w < all.size(); ++w) {
      Phasor rest = along[1][w * side + row % side];
      if (field.axes == 3) rest *= along[2][w * side + row / side];
      const Phasor* x = &along[0][w * side];
      for (std::size_t i = 0; i < side; ++i) {
        sum[i] += x[i].real() * rest.real() - x[i].imag() * rest.imag();
      }
    }
    const float gain = 7000 / std::sqrt(static_cast<float>(waves) / 2);
    std::transform(sum.begin(), sum.end(), pixels + row * side, [&](float value) {
      return static_cast<std::uint16_t>(std::clamp(32768 + gain * value, 0.0F, 65535.0F));
    });
  });
  return bytes;
}

}  // namespace

const BentPair& bent_pair(std::int64_t side, int axes) {
  static BentPair kept;
  if (kept.field.side == side && kept.field.axes == axes) return kept;
  const BentField field{side, axes};
  kept = {draw(field, true), draw(field, false), field};
  return kept;
}

}  // namespace warpalign::program::bench
