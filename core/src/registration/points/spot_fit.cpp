// Fits a Gaussian spot to the pixels around a place.
#include "registration/points/spot_fit.hpp"

#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

namespace {

constexpr int max_iterations = 20;
constexpr double converged = 1e-4;  // of a step, in pixels
constexpr double max_step = 0.5;    // in pixels
// A fit may leave its start by this many sigma.
constexpr double max_drift = 1.2;
constexpr double min_sigma = 0.3;
constexpr double max_sigma = 8;
// As many pixels at the end of the range are a saturated core, not a maximum.
constexpr int min_saturated = 4;

// height, background, x, y, log sigma
constexpr std::size_t most_parameters = 5;

class Window {
 public:
  Window(const PixelPlane& plane, Point centre, double sigma, double saturation)
      : plane_(plane), saturation_(saturation) {
    const auto radius = static_cast<std::int64_t>(std::ceil(2.5 * sigma)) + 1;
    const std::int64_t x = std::llround(centre.x);
    const std::int64_t y = std::llround(centre.y);
    left_ = std::max<std::int64_t>(x - radius, 0);
    top_ = std::max<std::int64_t>(y - radius, 0);
    right_ = std::min(x + radius, plane.shape.width - 1);
    bottom_ = std::min(y + radius, plane.shape.height - 1);
    int saturated = 0;
    for_pixels([&](std::int64_t, std::int64_t, double value) { saturated += value >= saturation; });
    skips_saturated_ = saturated >= min_saturated;
  }

  /// Calls use(x, y, value) for the pixels that count.
  template <class Use>
  void for_pixels(Use use) const {
    for (std::int64_t y = top_; y <= bottom_; ++y) {
      for (std::int64_t x = left_; x <= right_; ++x) {
        if (!plane_.counts(x, y)) continue;
        const double value = plane_(x, y);
        if (skips_saturated_ && value >= saturation_) continue;
        use(x, y, value);
      }
    }
  }
  [[nodiscard]] double area() const {
    return static_cast<double>((right_ - left_ + 1) * (bottom_ - top_ + 1));
  }

 private:
  const PixelPlane& plane_;
  double saturation_;
  bool skips_saturated_ = false;
  std::int64_t left_, top_, right_, bottom_;
};

struct Normal {
  std::array<double, most_parameters * most_parameters> h{};
  std::array<double, most_parameters> b{};
  double squares = 0;  // of the residuals
  double energy = 0;   // of the spot
  double pixels = 0;
};

Normal normal_of(const Window& window, const Spot& spot, std::size_t n) {
  Normal sums;
  const double inverse = 1 / (spot.sigma * spot.sigma);
  window.for_pixels([&](std::int64_t x, std::int64_t y, double value) {
    const double dx = static_cast<double>(x) - spot.place.x;
    const double dy = static_cast<double>(y) - spot.place.y;
    const double squared = (dx * dx + dy * dy) * inverse;
    const double shape = std::exp(-squared / 2);
    const double bright = spot.height * shape;
    const std::array<double, most_parameters> slope{shape, 1, bright * dx * inverse,
                                                    bright * dy * inverse, bright * squared};
    const double residual = value - spot.background - bright;
    for (std::size_t i = 0; i < n; ++i) {
      sums.b.at(i) += slope.at(i) * residual;
      for (std::size_t j = 0; j <= i; ++j) sums.h.at(i * n + j) += slope.at(i) * slope.at(j);
    }
    sums.squares += residual * residual;
    sums.energy += bright * bright;
    sums.pixels += 1;
  });
  return sums;
}

bool solve(const Normal& sums, std::size_t n, std::span<double> b) {
  auto h = sums.h;
  return solve_symmetric(std::span(h).first(n * n), b);
}

// The diagonal element of the inverse of the normal matrix.
double inverse_diagonal(const Normal& sums, std::size_t n, std::size_t i) {
  std::array<double, most_parameters> unit{};
  unit.at(i) = 1;
  return solve(sums, n, std::span(unit).first(n)) ? unit.at(i) : 0;
}

// Begins with the maximum and the median of the window.
void set_start(const Window& window, Spot& spot) {
  double lowest = INFINITY;
  double highest = -INFINITY;
  double sum = 0;
  double pixels = 0;
  window.for_pixels([&](std::int64_t, std::int64_t, double value) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    sum += value;
    pixels += 1;
  });
  spot.background = pixels > 0 ? std::min(sum / pixels, (lowest + highest) / 2) : 0;
  spot.height = highest - spot.background;
}

bool step(const Window& window, std::size_t n, Spot& spot, double& length) {
  Normal sums = normal_of(window, spot, n);
  const std::span<double> change = std::span(sums.b).first(n);
  if (!solve(sums, n, change)) return false;
  const auto limited = [](double value, double limit) { return std::clamp(value, -limit, limit); };
  spot.height = std::max(spot.height + change[0], 0.1 * spot.height);
  spot.background += change[1];
  const double dx = limited(change[2], max_step);
  const double dy = limited(change[3], max_step);
  spot.place.x += dx;
  spot.place.y += dy;
  length = std::hypot(dx, dy);
  if (n == most_parameters) {
    const double growth = limited(change[4], 0.2);
    spot.sigma *= std::exp(growth);
    length = std::max(length, std::abs(growth));
  }
  return true;
}

}  // namespace

std::optional<Spot> fit_spot(const PixelPlane& plane, Point start, const SpotFit& options) {
  const std::size_t n = options.fits_sigma ? most_parameters : most_parameters - 1;
  const Window window(plane, start, options.sigma, options.saturation);
  Spot spot;
  spot.place = start;
  spot.sigma = options.sigma;
  set_start(window, spot);
  double length = INFINITY;
  for (int i = 0; i < max_iterations && length > converged; ++i) {
    if (!step(window, n, spot, length)) return std::nullopt;
    const double drift = std::hypot(spot.place.x - start.x, spot.place.y - start.y);
    if (!(drift <= max_drift * options.sigma + 0.5)) return std::nullopt;
    if (!(spot.sigma > min_sigma && spot.sigma < max_sigma)) return std::nullopt;
  }
  const Normal sums = normal_of(window, spot, n);
  if (length > 100 * converged || sums.pixels < window.area() / 2 || !(sums.energy > 0)) {
    return std::nullopt;
  }
  const double noise = options.noise * options.noise;
  const double residual =
      std::max(sums.squares / std::max(sums.pixels - static_cast<double>(n), 1.0), noise);
  spot.height_deviation = std::sqrt(noise * inverse_diagonal(sums, n, 0));
  spot.variance = residual * (inverse_diagonal(sums, n, 2) + inverse_diagonal(sums, n, 3)) / 2;
  const double by_noise = noise * (sums.pixels + 4 * std::sqrt(2 * sums.pixels));
  spot.misfit = std::max(sums.squares - by_noise, 0.0) / sums.energy;
  return spot;
}

}  // namespace warpalign::detail
