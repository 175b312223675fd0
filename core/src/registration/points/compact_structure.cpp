// Small images of one structure on an even background: a square, a letter, a cell.
#include "registration/points/compact_structure.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/points/robust_deviation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace warpalign::detail {

namespace {

// A pixel of the structure differs from the background by this many standard deviations of that,
// and by this fraction of the largest difference.
constexpr double structure_deviations = 6;
constexpr double structure_fraction = 0.1;
// The structure is at least this many pixels, at most this fraction of the image, and at least this
// fraction of its own bounding box.
constexpr double min_structure_pixels = 9;
constexpr double max_structure_part = 0.05;
constexpr double min_filled_part = 0.15;
// Pixels about the structure that have to be background, and that are compared.
constexpr std::int64_t structure_margin = 3;

// Shifts are compared up to this many pixels from that of the centres of both bounding boxes.
constexpr std::int64_t shift_reach = 4;
constexpr int fit_steps = 20;
constexpr double fit_tolerance = 1e-4;  // pixels

// The residual of the structure's variance after the fit, beyond noise, where it is the same one. A
// disc and a square of the same size leave a fifth.
constexpr double max_other_part = 0.03;
// The structure's energy over that of the noise.
constexpr double min_signal_to_noise = 15;

// The weights of Catmull and Rom's cubic convolution for a position between samples 0 and 1.
std::array<double, 4> cubic_weights(double t) {
  return {((-0.5 * t + 1) * t - 0.5) * t, (1.5 * t - 2.5) * t * t + 1,
          ((-1.5 * t + 2) * t + 0.5) * t, (0.5 * t - 0.5) * t * t};
}

// The value between pixels; the background beyond the edges.
double value_at(const CompactStructure& image, double x, double y) {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const std::array<double, 4> across = cubic_weights(x - left);
  const std::array<double, 4> down = cubic_weights(y - top);
  double sum = 0;
  for (std::int64_t j = 0; j < 4; ++j) {
    const std::int64_t row = static_cast<std::int64_t>(top) + j - 1;
    if (row < 0 || row >= image.height) continue;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t column = static_cast<std::int64_t>(left) + i - 1;
      if (column < 0 || column >= image.width) continue;
      sum +=
          across[static_cast<std::size_t>(i)] * down[static_cast<std::size_t>(j)] *
          static_cast<double>(image.values[static_cast<std::size_t>(row * image.width + column)]);
    }
  }
  return sum;
}

// Sharp edges are sampled too coarsely to be interpolated. Smooths by a binomial filter of five
// samples along both axes, beyond whose edges there is background.
constexpr std::array<float, 5> binomial{0.0625F, 0.25F, 0.375F, 0.25F, 0.0625F};
constexpr double smoothed_noise = 0.2734375;  // of white noise, its standard deviation

void smooth_structure(CompactStructure& image) {
  std::vector<float> between(image.values.size(), 0);
  const auto filter = [&](const std::vector<float>& from, std::vector<float>& to, bool down) {
    std::size_t i = 0;
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x, ++i) {
        float sum = 0;
        for (std::int64_t k = -2; k <= 2; ++k) {
          const std::int64_t u = down ? x : x + k;
          const std::int64_t v = down ? y + k : y;
          if (u < 0 || v < 0 || u >= image.width || v >= image.height) continue;
          sum += binomial[static_cast<std::size_t>(k + 2)] *
                 from[static_cast<std::size_t>(v * image.width + u)];
        }
        to[i] = sum;
      }
    }
  };
  filter(image.values, between, false);
  filter(between, image.values, true);
  image.noise *= smoothed_noise;
}

// The rectangle of the reference that is compared.
struct StructureWindow {
  std::int64_t left, top, right, bottom;

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::int64_t y = top; y <= bottom; ++y) {
      for (std::int64_t x = left; x <= right; ++x) {
        visit(static_cast<double>(x), static_cast<double>(y));
      }
    }
  }
  [[nodiscard]] double pixels() const {
    return static_cast<double>((right - left + 1) * (bottom - top + 1));
  }
};

// Both images over a window, the moving one shifted.
struct Comparison {
  double gain = 0, offset = 0;  // moving = gain reference + offset
  double variance = 0;          // of the moving image
  double residual = 0;          // mean square of what gain and offset leave
  double reference_variance = 0;
  double correlation = 0;
};

Comparison compared(const CompactStructure& reference, const CompactStructure& moving,
                    const StructureWindow& window, Point shift) {
  double r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  window.for_each([&](double x, double y) {
    const double a = value_at(reference, x, y);
    const double b = value_at(moving, x + shift.x, y + shift.y);
    r += a;
    m += b;
    rr += a * a;
    mm += b * b;
    rm += a * b;
  });
  const double n = window.pixels();
  Comparison result;
  result.reference_variance = rr / n - square(r / n);
  result.variance = mm / n - square(m / n);
  const double covariance = rm / n - r * m / (n * n);
  if (!(result.reference_variance > 0) || !(result.variance > 0)) return result;
  result.gain = covariance / result.reference_variance;
  result.offset = m / n - result.gain * r / n;
  result.residual = std::max(result.variance - result.gain * covariance, 0.0);
  result.correlation = covariance / std::sqrt(result.reference_variance * result.variance);
  return result;
}

// Gauss and Newton's steps to the shift of the least residual.
Point fitted_shift(const CompactStructure& reference, const CompactStructure& moving,
                   const StructureWindow& window, Point shift) {
  for (int step = 0; step < fit_steps; ++step) {
    const Comparison at = compared(reference, moving, window, shift);
    double xx = 0, xy = 0, yy = 0, ex = 0, ey = 0;
    window.for_each([&](double x, double y) {
      const double u = x + shift.x;
      const double v = y + shift.y;
      const double gx = (value_at(moving, u + 0.5, v) - value_at(moving, u - 0.5, v));
      const double gy = (value_at(moving, u, v + 0.5) - value_at(moving, u, v - 0.5));
      const double error = at.gain * value_at(reference, x, y) + at.offset - value_at(moving, u, v);
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
      ex += gx * error;
      ey += gy * error;
    });
    const double determinant = xx * yy - xy * xy;
    if (!(determinant > 0)) break;
    const Point move{(yy * ex - xy * ey) / determinant, (xx * ey - xy * ex) / determinant};
    shift = {shift.x + move.x, shift.y + move.y};
    if (!(length(move) > fit_tolerance)) break;
  }
  return shift;
}

// The number of independent pixels: smooth structures have fewer.
double independent_pixels(const CompactStructure& image, const StructureWindow& window,
                          double variance) {
  double slopes = 0;
  window.for_each([&](double x, double y) {
    slopes += square(value_at(image, x + 0.5, y) - value_at(image, x - 0.5, y)) +
              square(value_at(image, x, y + 0.5) - value_at(image, x, y - 0.5));
  });
  return std::min(slopes / variance, window.pixels());
}

}  // namespace

std::optional<CompactStructure> compact_structure(std::vector<float> values, std::int64_t width,
                                                  std::int64_t height) {
  if (values.empty()) return std::nullopt;
  std::vector<float> copy = values;
  const auto [background, noise] = robust_statistics(copy);
  double largest = 0;
  for (float& value : values) {
    value -= static_cast<float>(background);
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  CompactStructure found{width, height, std::move(values), width, height, -1, -1, noise};
  const auto limit =
      static_cast<float>(std::max(structure_deviations * noise, structure_fraction * largest));
  double count = 0;
  std::size_t i = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x, ++i) {
      if (!(std::abs(found.values[i]) > limit)) continue;
      ++count;
      found.left = std::min(found.left, x);
      found.right = std::max(found.right, x);
      found.top = std::min(found.top, y);
      found.bottom = std::max(found.bottom, y);
    }
  }
  const auto pixels = static_cast<double>(width * height);
  if (count < min_structure_pixels || count > max_structure_part * pixels) return std::nullopt;
  const bool is_inside = found.left >= structure_margin && found.top >= structure_margin &&
                         found.right < width - structure_margin &&
                         found.bottom < height - structure_margin;
  const auto box =
      static_cast<double>((found.right - found.left + 1) * (found.bottom - found.top + 1));
  if (!is_inside || count < min_filled_part * box) return std::nullopt;
  smooth_structure(found);
  return found;
}

std::optional<StructureMatch> match(const CompactStructure& reference,
                                    const CompactStructure& moving) {
  // Bounding boxes of other sizes are of other structures.
  const auto differs = [](std::int64_t a, std::int64_t b) { return std::abs(a - b) > shift_reach; };
  if (differs(reference.right - reference.left, moving.right - moving.left) ||
      differs(reference.bottom - reference.top, moving.bottom - moving.top)) {
    return std::nullopt;
  }
  const StructureWindow window{reference.left - structure_margin, reference.top - structure_margin,
                               reference.right + structure_margin,
                               reference.bottom + structure_margin};
  const Point centres{std::round(0.5 * static_cast<double>(moving.left + moving.right -
                                                           reference.left - reference.right)),
                      std::round(0.5 * static_cast<double>(moving.top + moving.bottom -
                                                           reference.top - reference.bottom))};
  Point best = centres;
  double highest = -1;
  for (std::int64_t dy = -shift_reach; dy <= shift_reach; ++dy) {
    for (std::int64_t dx = -shift_reach; dx <= shift_reach; ++dx) {
      const Point at{centres.x + static_cast<double>(dx), centres.y + static_cast<double>(dy)};
      const double correlation = compared(reference, moving, window, at).correlation;
      if (correlation <= highest) continue;
      highest = correlation;
      best = at;
    }
  }
  StructureMatch result;
  result.shift = fitted_shift(reference, moving, window, best);
  if (!(std::hypot(result.shift.x - best.x, result.shift.y - best.y) <= 1)) return std::nullopt;
  const Comparison at = compared(reference, moving, window, result.shift);
  result.correlation = at.correlation;
  const double noise = square(moving.noise) + square(at.gain * reference.noise);
  const double other = at.residual - noise;
  if (!(at.gain > 0) || other > max_other_part * at.variance) return std::nullopt;
  if (at.variance * window.pixels() < square(min_signal_to_noise) * noise) return std::nullopt;
  constexpr double almost_one = 0.9999;
  result.z_score = significance_of(std::min(result.correlation, almost_one),
                                   independent_pixels(reference, window, at.reference_variance));
  return result;
}

}  // namespace warpalign::detail
