// How certain the shift between two tiles is.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace warpalign::detail {

/// A symmetric n x n matrix: its lower triangle, row by row (xx, xy, yy for n = 2).
template <std::size_t n>
struct CovarianceOf {
  std::array<double, n*(n + 1) / 2> lower{};

  [[nodiscard]] double& at(std::size_t row, std::size_t column) {
    return lower[index(row, column)];
  }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return lower[index(row, column)];
  }

 private:
  [[nodiscard]] static std::size_t index(std::size_t row, std::size_t column) {
    if (row < column) std::swap(row, column);
    return row * (row + 1) / 2 + column;
  }
};

using Covariance = CovarianceOf<2>;

/// The covariance of the shift between two images, in square pixels: the variance of what the
/// images do not share, times the inverse of the structure tensor of the overlap, as for the
/// Gauss-Newton fit of a shift. `reference_to_moving` is added to reference coordinates. At most
/// about 16000 pixels on a regular grid are evaluated. Where the texture leaves a direction
/// undetermined the variance is large, but finite.
[[nodiscard]] Covariance shift_covariance(const HostImage& reference, const HostImage& moving,
                                          const Point& reference_to_moving);
/// The same for two volumes.
[[nodiscard]] CovarianceOf<3> shift_covariance(const HostVolume& reference,
                                               const HostVolume& moving,
                                               const Point3& reference_to_moving);

}  // namespace warpalign::detail
