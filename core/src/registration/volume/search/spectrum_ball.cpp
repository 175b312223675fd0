// The magnitudes of a volume's spectrum at low frequencies.
#include "registration/volume/search/spectrum_ball.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr float exponent = 0.3F;  // the same as for the log-polar spectra of images
constexpr int min_radius = 2;     // points closer to the origin are skipped

struct Sphere {
  double count = 0, sum = 0;
  float mean = 0;
};

}  // namespace

void take_spectrum_ball(std::span<const std::complex<float>> half_spectrum, std::int64_t side,
                        int radius, std::vector<float>& cube) {
  const int reach = radius + 1;
  const int width = 2 * reach + 1;
  const std::int64_t columns = side / 2 + 1;
  cube.resize(static_cast<std::size_t>(width) * width * width);
  std::array<Sphere, 2 * (max_ball_radius + 1) + 1> spheres{};
  const auto sphere_of = [&](int u, int v, int w) -> Sphere& {
    const auto square = static_cast<float>(u * u + v * v + w * w);
    return spheres[static_cast<std::size_t>(std::sqrt(square) + 0.5F)];
  };
  // The spectrum of a real volume is symmetric, so half of it is enough.
  const auto visit = [&](auto&& action) {
    for (int w = -reach; w <= reach; ++w) {
      for (int v = -reach; v <= reach; ++v) {
        for (int u = 0; u <= reach; ++u) {
          const int at = ((w + reach) * width + v + reach) * width + u + reach;
          const int opposite = ((reach - w) * width + reach - v) * width + reach - u;
          action(u, v, w, cube[static_cast<std::size_t>(at)],
                 cube[static_cast<std::size_t>(opposite)]);
        }
      }
    }
  };
  const auto wrapped = [&](int frequency) { return frequency < 0 ? side + frequency : frequency; };
  visit([&](int u, int v, int w, float& value, float& /*opposite*/) {
    const std::int64_t row = wrapped(w) * side + wrapped(v);
    value = std::pow(std::norm(half_spectrum[static_cast<std::size_t>(row * columns + u)]),
                     exponent / 2);
    Sphere& sphere = sphere_of(u, v, w);
    const double counts = u == 0 ? 1 : 2;
    sphere.count += counts;
    sphere.sum += counts * static_cast<double>(value);
  });
  for (Sphere& sphere : spheres) {
    if (sphere.count > 0) sphere.mean = static_cast<float>(sphere.sum / sphere.count);
  }
  visit([&](int u, int v, int w, float& value, float& opposite) {
    // visit() reaches both a point and its opposite if u is 0.
    if (u == 0 && (w < 0 || (w == 0 && v < 0))) return;
    value -= sphere_of(u, v, w).mean;
    opposite = value;
  });
}

void take_ball_points(std::span<const float> cube, std::int64_t cube_side, int radius,
                      std::vector<ScoredPoint>& points) {
  const int reach = static_cast<int>(cube_side / 2);
  points.clear();
  for (int w = 0; w <= radius; ++w) {
    for (int v = -radius; v <= radius; ++v) {
      for (int u = -radius; u <= radius; ++u) {
        const bool second_of_pair = w == 0 && (v < 0 || (v == 0 && u <= 0));
        const int square = u * u + v * v + w * w;
        if (second_of_pair || square > radius * radius || square < min_radius * min_radius) {
          continue;
        }
        const auto at =
            static_cast<std::size_t>(((w + reach) * cube_side + v + reach) * cube_side + u + reach);
        points.push_back(
            {static_cast<float>(u), static_cast<float>(v), static_cast<float>(w), cube[at]});
      }
    }
  }
}

}  // namespace warpalign::detail
