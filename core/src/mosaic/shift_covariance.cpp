// How certain the shift between two tiles is.
#include "mosaic/shift_covariance.hpp"

#include "mosaic/mosaic_types.hpp"
#include "values/real_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {
namespace {

/// Sums over the overlap: of the values of both arrays and of their products, and of the products
/// of the reference's derivatives.
template <std::size_t n>
struct OverlapSums {
  double count = 0, r = 0, m = 0, rr = 0, rm = 0, mm = 0;
  CovarianceOf<n> derivatives;
};

/// The reference's samples [begin, end) along each axis. An axis that is not there has one sample.
struct SampleBox {
  std::array<std::int64_t, 3> begin{0, 0, 0};
  std::array<std::int64_t, 3> end{1, 1, 1};

  [[nodiscard]] bool is_empty() const {
    return end[0] <= begin[0] || end[1] <= begin[1] || end[2] <= begin[2];
  }
  [[nodiscard]] double samples() const {
    return static_cast<double>(end[0] - begin[0]) * static_cast<double>(end[1] - begin[1]) *
           static_cast<double>(end[2] - begin[2]);
  }
};

/// Samples of an image (n = 2) or a dense volume (n = 3), whose planes lie below each other.
template <std::size_t n>
class OverlapSamples {
 public:
  OverlapSamples(const HostImage& rows, std::int64_t height) : rows_(rows), height_(height) {}

  [[nodiscard]] double at(const std::array<std::int64_t, 3>& p) const {
    return rows_.at(p[0], p[2] * height_ + p[1]);
  }
  /// Linear interpolation at p + shift.
  template <class P>
  [[nodiscard]] double between(const std::array<std::int64_t, 3>& p, const P& shift) const {
    const double x = static_cast<double>(p[0]) + shift.x;
    const double y = static_cast<double>(p[1]) + shift.y;
    if constexpr (n == 2) {
      return rows_.between(x, y);
    } else {
      const double z = static_cast<double>(p[2]) + shift.z;
      const double plane = std::floor(z);
      const double first = plane * static_cast<double>(height_);
      const double w = z - plane;
      return rows_.between(x, first + y) * (1 - w) +
             rows_.between(x, first + static_cast<double>(height_) + y) * w;
    }
  }

 private:
  RealPixels rows_;
  std::int64_t height_;
};

/// The reference samples that have neighbours, and whose linear interpolation exists.
template <class P>
SampleBox overlap_box(const Shape& reference, const Shape& moving, const P& shift) {
  SampleBox box;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    const double s = along(shift, axis);
    box.begin[axis] = std::max<std::int64_t>(1, std::llround(std::ceil(-s)));
    const auto last = static_cast<double>(side_along(moving, axis) - 1);
    box.end[axis] =
        std::min<std::int64_t>(side_along(reference, axis) - 1, std::llround(std::floor(last - s)));
  }
  return box;
}

template <std::size_t n, class P>
OverlapSums<n> overlap_sums(const OverlapSamples<n>& from, const OverlapSamples<n>& to,
                            const P& shift, const SampleBox& box, std::int64_t step) {
  OverlapSums<n> sums;
  std::array<std::int64_t, 3> p{};
  for (p[2] = box.begin[2]; p[2] < box.end[2]; p[2] += step) {
    for (p[1] = box.begin[1]; p[1] < box.end[1]; p[1] += step) {
      for (p[0] = box.begin[0]; p[0] < box.end[0]; p[0] += step) {
        const double r = from.at(p);
        const double m = to.between(p, shift);
        std::array<double, n> slopes{};
        double all = r + m;
        for (std::size_t axis = 0; axis < n; ++axis) {
          std::array<std::int64_t, 3> before = p, after = p;
          --before[axis];
          ++after[axis];
          slopes[axis] = (from.at(after) - from.at(before)) / 2;
          all += slopes[axis];
        }
        if (!std::isfinite(all)) continue;
        sums.count += 1;
        sums.r += r;
        sums.m += m;
        sums.rr += r * r;
        sums.rm += r * m;
        sums.mm += m * m;
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j <= i; ++j) sums.derivatives.at(i, j) += slopes[i] * slopes[j];
        }
      }
    }
  }
  return sums;
}

Covariance inverse_of(const Covariance& m) {
  const auto& [xx, xy, yy] = m.lower;
  const double determinant = xx * yy - xy * xy;
  return {yy / determinant, -xy / determinant, xx / determinant};
}

CovarianceOf<3> inverse_of(const CovarianceOf<3>& m) {
  const auto minor = [&](std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
    return m.at(i, j) * m.at(k, l) - m.at(i, l) * m.at(k, j);
  };
  CovarianceOf<3> inverse;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      inverse.at(i, j) = minor((i + 1) % 3, (j + 1) % 3, (i + 2) % 3, (j + 2) % 3);
    }
  }
  const double determinant =
      m.at(0, 0) * inverse.at(0, 0) + m.at(0, 1) * inverse.at(0, 1) + m.at(0, 2) * inverse.at(0, 2);
  for (double& value : inverse.lower) value /= determinant;
  return inverse;
}

template <std::size_t n>
CovarianceOf<n> unknown_covariance() {
  CovarianceOf<n> unknown;
  for (std::size_t axis = 0; axis < n; ++axis) unknown.at(axis, axis) = 1;
  return unknown;
}

/// `samples`: the number in the overlap, for which the sums stand.
template <std::size_t n>
CovarianceOf<n> covariance_of(const OverlapSums<n>& s, double samples) {
  if (s.count < 4) return unknown_covariance<n>();
  const double vr = s.rr / s.count - s.r / s.count * s.r / s.count;
  const double vm = s.mm / s.count - s.m / s.count * s.m / s.count;
  const double c = s.rm / s.count - s.r / s.count * s.m / s.count;
  if (!(vr > 0) || !(vm > 0)) return unknown_covariance<n>();
  // The variance of the reference that the moving array does not explain by a gain and an offset.
  const double noise = std::max(vr - c * c / vm, 1e-12 * vr);
  const double scale = samples / s.count / noise;
  CovarianceOf<n> information = s.derivatives;
  for (double& value : information.lower) value *= scale;
  // A prior with a deviation of 10 pixels keeps the inverse finite.
  for (std::size_t axis = 0; axis < n; ++axis) information.at(axis, axis) += 1e-2;
  return inverse_of(information);
}

constexpr double max_covariance_samples = 16000;

std::int64_t step_of(double root) {
  return static_cast<std::int64_t>(std::max(1.0, std::floor(root)));
}

HostImage rows_of(const HostVolume& volume) {
  const Shape& shape = volume.shape;
  return {volume.data, volume.type, shape.width, shape.height * shape.depth, 0};
}

}  // namespace

Covariance shift_covariance(const HostImage& reference, const HostImage& moving,
                            const Point& reference_to_moving) {
  const SampleBox box = overlap_box(reference.shape(), moving.shape(), reference_to_moving);
  if (box.is_empty()) return unknown_covariance<2>();
  const OverlapSamples<2> from(reference, reference.height);
  const OverlapSamples<2> to(moving, moving.height);
  const std::int64_t step = step_of(std::sqrt(box.samples() / max_covariance_samples));
  return covariance_of(overlap_sums(from, to, reference_to_moving, box, step), box.samples());
}

CovarianceOf<3> shift_covariance(const HostVolume& reference, const HostVolume& moving,
                                 const Point3& reference_to_moving) {
  const SampleBox box = overlap_box(reference.shape, moving.shape, reference_to_moving);
  if (box.is_empty()) return unknown_covariance<3>();
  const HostImage from_rows = rows_of(reference);
  const HostImage to_rows = rows_of(moving);
  const OverlapSamples<3> from(from_rows, reference.shape.height);
  const OverlapSamples<3> to(to_rows, moving.shape.height);
  const std::int64_t step = step_of(std::cbrt(box.samples() / max_covariance_samples));
  return covariance_of(overlap_sums(from, to, reference_to_moving, box, step), box.samples());
}

}  // namespace warpalign::detail
