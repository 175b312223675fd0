// Linear systems of any size.
#include "transforms/dense_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace warpalign::detail {

DenseSolver::DenseSolver(std::vector<double> matrix, std::size_t size)
    : lu_(std::move(matrix)), rows_(size), size_(size) {
  constexpr double rounding = 1e-13;
  std::iota(rows_.begin(), rows_.end(), std::size_t{0});
  double largest = 0;
  for (const double value : lu_) largest = std::max(largest, std::abs(value));
  const auto at = [&](std::size_t row, std::size_t column) -> double& {
    return lu_[row * size_ + column];
  };
  for (std::size_t k = 0; k < size_; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < size_; ++row) {
      if (std::abs(at(row, k)) > std::abs(at(pivot, k))) pivot = row;
    }
    if (!(std::abs(at(pivot, k)) > rounding * largest)) {
      singular_ = true;
      return;
    }
    if (pivot != k) {
      std::swap_ranges(&at(k, 0), &at(k, 0) + size_, &at(pivot, 0));
      std::swap(rows_[k], rows_[pivot]);
    }
    for (std::size_t row = k + 1; row < size_; ++row) {
      const double factor = at(row, k) /= at(k, k);
      double* const to = &at(row, 0);
      const double* const from = &at(k, 0);
      for (std::size_t column = k + 1; column < size_; ++column)
        to[column] -= factor * from[column];
    }
  }
}

void DenseSolver::solve(std::span<double> b) const {
  std::vector<double> x(size_);
  for (std::size_t row = 0; row < size_; ++row) {
    x[row] = b[rows_[row]];
    for (std::size_t k = 0; k < row; ++k) x[row] -= lu_[row * size_ + k] * x[k];
  }
  for (std::size_t row = size_; row-- > 0;) {
    for (std::size_t k = row + 1; k < size_; ++k) x[row] -= lu_[row * size_ + k] * x[k];
    x[row] /= lu_[row * size_ + row];
  }
  std::copy(x.begin(), x.end(), b.begin());
}

std::vector<double> largest_eigenvector(std::vector<double> matrix, std::size_t size) {
  constexpr int max_sweeps = 60;
  std::vector<double> vectors(size * size);
  for (std::size_t i = 0; i < size; ++i) vectors[i * size + i] = 1;
  const auto a = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * size + j]; };
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) {
        if (!(std::abs(a(p, q)) > 1e-17 * (std::abs(a(p, p)) + std::abs(a(q, q))))) continue;
        rotated = true;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0);
        const double s = t * c;
        for (std::size_t k = 0; k < size; ++k) {
          const double kp = a(k, p);
          const double kq = a(k, q);
          a(k, p) = c * kp - s * kq;
          a(k, q) = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < size; ++k) {
          const double pk = a(p, k);
          const double qk = a(q, k);
          a(p, k) = c * pk - s * qk;
          a(q, k) = s * pk + c * qk;
          const double vp = vectors[k * size + p];
          const double vq = vectors[k * size + q];
          vectors[k * size + p] = c * vp - s * vq;
          vectors[k * size + q] = s * vp + c * vq;
        }
      }
    }
    if (!rotated) break;
  }
  std::size_t largest = 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (a(i, i) > a(largest, largest)) largest = i;
  }
  std::vector<double> vector(size);
  for (std::size_t k = 0; k < size; ++k) vector[k] = vectors[k * size + largest];
  return vector;
}

}  // namespace warpalign::detail
