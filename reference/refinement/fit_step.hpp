// The oracle of a Gauss-Newton step: solves the normal equations by elimination, and applies the
// parameters to positions in the moving image.
#pragma once

#include "reference/refinement/similarity_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace reference {

/// The sums of two channels, without the moments: only what the normal equations need.
inline SimilaritySums added_equations(SimilaritySums first, const SimilaritySums& second) {
  std::transform(first.hessian.begin(), first.hessian.end(), second.hessian.begin(),
                 first.hessian.begin(), std::plus<>());
  std::transform(first.gradient.begin(), first.gradient.end(), second.gradient.begin(),
                 first.gradient.begin(), std::plus<>());
  return first;
}

/// The solution of a x = b, by Gauss-Jordan elimination with the largest pivot of each column.
inline std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column] / a[column][column];
      for (std::size_t k = 0; k < n; ++k) a[row][k] -= factor * a[column][k];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t i = 0; i < n; ++i) b[i] /= a[i][i];
  return b;
}

/// The parameters of the step that follows from the sums; those not in `free` are 0.
inline std::vector<double> step_of(const SimilaritySums& sums,
                                   const std::vector<std::size_t>& free) {
  const std::size_t parameters = sums.gradient.size();
  std::vector<std::vector<double>> a;
  std::vector<double> b;
  for (const std::size_t row : free) {
    a.emplace_back();
    for (const std::size_t column : free)
      a.back().push_back(sums.hessian[row * parameters + column]);
    b.push_back(-sums.gradient[row]);
  }
  const std::vector<double> x = solved(a, b);
  std::vector<double> step(parameters, 0.0);
  for (std::size_t i = 0; i < free.size(); ++i) step[free[i]] = x[i];
  return step;
}

/// The position after a step, by four parameters of a similarity about c, or eight of a homography
/// about c with `unit`.
inline Position stepped(Position q, const std::vector<double>& d, Position c, double unit) {
  const double x = q.x - c.x;
  const double y = q.y - c.y;
  if (d.size() == 4) {
    const double cosine = std::exp(d[2]) * std::cos(d[3]);
    const double sine = std::exp(d[2]) * std::sin(d[3]);
    return {q.x + d[0] + (cosine - 1) * x + sine * y, q.y + d[1] + (cosine - 1) * y - sine * x};
  }
  const double v = 1 + (d[6] * x + d[7] * y) / (unit * unit);
  return {c.x + (x + d[0] + (d[2] * x + d[3] * y) / unit) / v,
          c.y + (y + d[1] + (d[4] * x + d[5] * y) / unit) / v};
}

/// The ratio of the standard deviations of the moving image and the reference, over all channels.
inline double contrast(const std::vector<SimilaritySums>& channels) {
  double reference = 0;
  double moving = 0;
  for (const SimilaritySums& s : channels) {
    reference += s.reference_square / s.pixels - std::pow(s.reference / s.pixels, 2);
    moving += s.moving_square / s.pixels - std::pow(s.moving / s.pixels, 2);
  }
  return std::sqrt(moving / reference);
}

}  // namespace reference
