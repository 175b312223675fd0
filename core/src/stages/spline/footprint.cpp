// The footprint of an output pixel in the input of an affine transform.
#include "stages/spline/footprint.hpp"

#include "formulas/principal_axes.h"
#include "stages/spline/discrete_filters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// Points with a smaller part of the largest weight are left out.
constexpr double negligible_point = 1e-7;
// Relative to the trace: rounding errors of a rotation must not choose the eigenvectors.
constexpr double negligible_element = 1e-12;

backend::FootprintPoint point_at(const std::array<double, 3>& offset, double weight) {
  backend::FootprintPoint point{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double whole = std::floor(offset[axis]);
    point.whole[axis] = static_cast<float>(whole);
    point.fraction[axis] = static_cast<float>(offset[axis] - whole);
  }
  point.weight = static_cast<float>(weight);
  return point;
}

}  // namespace

std::vector<backend::FootprintPoint> footprint_of(const HomogeneousMatrix& output_to_input,
                                                  int dimensions, std::size_t max_points) {
  std::array<double, 9> squared{}, axes{};  // J J^T, and its eigenvectors as columns
  const auto n = static_cast<std::size_t>(dimensions);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) {
        squared[3 * i + k] += output_to_input.m[4 * i + l] * output_to_input.m[4 * k + l];
      }
    }
  }
  wa_principal_axes(negligible_element, squared.data(), axes.data());
  std::array<SymmetricFilter, 3> filters{{{1.0}, {1.0}, {1.0}}};
  double count = 1;
  for (std::size_t axis = 0; axis < n; ++axis) {
    const double step = std::sqrt(std::max(0.0, squared[4 * axis]));
    const double sigma = step > 1 + 1e-9 ? (step - 1) / 2 : 0;
    count *= 2 * std::floor(4 * sigma + 0.5) + 1;
    if (count > static_cast<double>(max_points)) return {};
    filters[axis] = gaussian_filter(sigma);
  }
  std::array<int, 3> radius{};
  double largest = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    radius[axis] = radius_of(filters[axis]);
    largest *= filters[axis][static_cast<std::size_t>(radius[axis])];
  }
  std::vector<backend::FootprintPoint> points;
  for (int k = -radius[2]; k <= radius[2]; ++k) {
    for (int j = -radius[1]; j <= radius[1]; ++j) {
      for (int i = -radius[0]; i <= radius[0]; ++i) {
        const std::array<int, 3> steps{i, j, k};
        double weight = 1;
        std::array<double, 3> offset{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          weight *= filters[axis][static_cast<std::size_t>(steps[axis] + radius[axis])];
          for (std::size_t row = 0; row < 3; ++row) {
            offset[row] += steps[axis] * axes[3 * row + axis];
          }
        }
        if (weight >= negligible_point * largest) points.push_back(point_at(offset, weight));
      }
    }
  }
  return points;
}

}  // namespace warpalign::detail
