// How certain the shift between two tiles is.
#include "mosaic/shift_covariance.hpp"

#include "mosaic/real_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {
namespace {

/// Sums over the overlap: of the values of both images and of their products, and of the products
/// of the reference's derivatives.
struct Sums {
  double n = 0, r = 0, m = 0, rr = 0, rm = 0, mm = 0, xx = 0, xy = 0, yy = 0;
};

struct Box {
  std::int64_t left, top, right, bottom;  ///< the last ones are outside
};

/// The reference pixels that have neighbours, and whose bilinear samples exist.
Box overlap_box(const HostImage& reference, const HostImage& moving, const Point& shift) {
  const auto begin = [](double s) {
    return std::max<std::int64_t>(1, std::llround(std::ceil(-s)));
  };
  const auto end = [](std::int64_t reference_size, std::int64_t moving_size, double s) {
    return std::min<std::int64_t>(
        reference_size - 1, std::llround(std::floor(static_cast<double>(moving_size - 1) - s)));
  };
  return {begin(shift.x), begin(shift.y), end(reference.width, moving.width, shift.x),
          end(reference.height, moving.height, shift.y)};
}

Sums sums_of(const HostImage& reference, const HostImage& moving, const Point& shift,
             const Box& box, std::int64_t step) {
  const RealPixels from(reference);
  const RealPixels to(moving);
  Sums sums;
  for (std::int64_t y = box.top; y < box.bottom; y += step) {
    for (std::int64_t x = box.left; x < box.right; x += step) {
      const double r = from.at(x, y);
      const double m =
          to.between(static_cast<double>(x) + shift.x, static_cast<double>(y) + shift.y);
      const double dx = (from.at(x + 1, y) - from.at(x - 1, y)) / 2;
      const double dy = (from.at(x, y + 1) - from.at(x, y - 1)) / 2;
      if (!std::isfinite(r + m + dx + dy)) continue;
      sums.n += 1;
      sums.r += r;
      sums.m += m;
      sums.rr += r * r;
      sums.rm += r * m;
      sums.mm += m * m;
      sums.xx += dx * dx;
      sums.xy += dx * dy;
      sums.yy += dy * dy;
    }
  }
  return sums;
}

}  // namespace

Covariance shift_covariance(const HostImage& reference, const HostImage& moving,
                            const Point& reference_to_moving) {
  constexpr double max_samples = 16000;
  constexpr Covariance unknown{1, 0, 1};
  const Box box = overlap_box(reference, moving, reference_to_moving);
  if (box.right <= box.left || box.bottom <= box.top) return unknown;
  const double pixels =
      static_cast<double>(box.right - box.left) * static_cast<double>(box.bottom - box.top);
  const auto step =
      static_cast<std::int64_t>(std::max(1.0, std::floor(std::sqrt(pixels / max_samples))));
  const Sums s = sums_of(reference, moving, reference_to_moving, box, step);
  if (s.n < 4) return unknown;
  const double vr = s.rr / s.n - s.r / s.n * s.r / s.n;
  const double vm = s.mm / s.n - s.m / s.n * s.m / s.n;
  const double c = s.rm / s.n - s.r / s.n * s.m / s.n;
  if (!(vr > 0) || !(vm > 0)) return unknown;
  // The variance of the reference that the moving image does not explain by a gain and an offset.
  const double noise = std::max(vr - c * c / vm, 1e-12 * vr);
  // The sums stand for all pixels of the overlap.
  const double scale = pixels / s.n / noise;
  double xx = s.xx * scale;
  double yy = s.yy * scale;
  const double xy = s.xy * scale;
  // A prior with a deviation of 10 pixels keeps the inverse finite.
  xx += 1e-2;
  yy += 1e-2;
  const double determinant = xx * yy - xy * xy;
  return {yy / determinant, -xy / determinant, xx / determinant};
}

}  // namespace warpalign::detail
