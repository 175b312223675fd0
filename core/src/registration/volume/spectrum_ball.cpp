// The magnitudes of a volume's spectrum at low frequencies.
#include "registration/volume/spectrum_ball.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr float exponent = 0.3F;  // as of the log-polar spectra of images
constexpr int min_radius = 2;     // of the points

struct Sphere {
  double count = 0, sum = 0;
};

}  // namespace

void take_spectrum_ball(std::span<const std::complex<float>> half_spectrum, std::int64_t side,
                        int radius, std::vector<float>& cube) {
  const int reach = radius + 1;
  const int width = 2 * reach + 1;
  const std::int64_t columns = side / 2 + 1;
  cube.assign(static_cast<std::size_t>(width) * width * width, 0);
  std::vector<Sphere> spheres(static_cast<std::size_t>(2 * reach + 1));
  const auto wrapped = [&](int frequency) { return frequency < 0 ? side + frequency : frequency; };
  const auto visit = [&](auto&& action) {
    for (int w = -reach; w <= reach; ++w) {
      for (int v = -reach; v <= reach; ++v) {
        for (int u = -reach; u <= reach; ++u) {
          const double distance = std::sqrt(static_cast<double>(u * u + v * v + w * w));
          const auto at =
              static_cast<std::size_t>(((w + reach) * width + v + reach) * width + u + reach);
          action(u, v, w, spheres[static_cast<std::size_t>(std::lround(distance))], cube[at]);
        }
      }
    }
  };
  visit([&](int u, int v, int w, Sphere& sphere, float& value) {
    // The spectrum of a real volume has opposite frequencies conjugated.
    const int sign = u < 0 ? -1 : 1;
    const std::int64_t row = wrapped(sign * w) * side + wrapped(sign * v);
    value = std::pow(std::abs(half_spectrum[static_cast<std::size_t>(row * columns + sign * u)]),
                     exponent);
    sphere.count += 1;
    sphere.sum += static_cast<double>(value);
  });
  visit([](int /*u*/, int /*v*/, int /*w*/, const Sphere& sphere, float& value) {
    value -= static_cast<float>(sphere.sum / sphere.count);
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
