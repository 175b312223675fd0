// The smoothest values of the samples of one hole.
#pragma once

#include "missing/array_axes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// States of samples that have no number. The samples of a hole, and then their known neighbours,
/// are numbered from 0.
template <typename Number>
struct SampleState {
  static constexpr Number known = -1;   ///< given
  static constexpr Number filled = -5;  ///< missing; its first value is to be smoothed
  static constexpr Number deep = -6;    ///< missing; keeps its first value
};

/// Minimises the squared Laplacian over the samples of a hole by conjugate gradients for least
/// squares (Hestenes and Stiefel 1952). Keeps its memory from one hole to the next.
template <typename Number>
class HoleSolver {
 public:
  explicit HoleSolver(const ArrayAxes& axes) : axes_(axes) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (axes.extent[axis] > 1) used_axes_.push_back(axis);
    }
  }

  /// `hole`: positions of samples whose state is `filled`, none of which depends on a sample of
  /// another hole. Numbers them and their known neighbours in `numbers`.
  template <typename Sample>
  void solve(std::span<const std::int64_t> hole, std::span<Number> numbers,
             std::span<Sample> values) {
    number_samples(hole, numbers);
    number_equations(numbers);
    set_residual(values);
    double scale = 0;  // so that no square exceeds the range of double
    for (const double r : residual_) scale = std::max(scale, std::abs(r));
    if (!(scale > 0) || !std::isfinite(scale)) return;
    for (double& r : residual_) r /= -scale;
    gradient_.assign(num_unknown_, 0);
    transposed(residual_, gradient_);
    direction_ = gradient_;
    direction_.resize(positions_.size() + 1, 0);  // 0 for known samples, and absent neighbours
    change_.assign(positions_.size() + 1, 0);
    step_.assign(num_unknown_, 0);
    double squared = dot(gradient_);
    const double end = std::max(squared * converged, rounding);
    for (int i = 0; i < num_steps && squared > end; ++i) {
      laplacian(direction_, change_);
      const double curvature = dot(change_);
      if (!(curvature > 0)) break;
      const double length = squared / curvature;
      for (std::size_t k = 0; k < num_unknown_; ++k) step_[k] += length * direction_[k];
      for (std::size_t k = 0; k < residual_.size(); ++k) residual_[k] -= length * change_[k];
      transposed(residual_, gradient_);
      const double previous = squared;
      squared = dot(gradient_);
      for (std::size_t k = 0; k < num_unknown_; ++k) {
        direction_[k] = gradient_[k] + squared / previous * direction_[k];
      }
    }
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      Sample& value = values[at(positions_[k])];
      value = static_cast<Sample>(static_cast<double>(value) + scale * step_[k]);
    }
  }

 private:
  using State = SampleState<Number>;
  static constexpr int num_steps = 20;
  // The square of a relative change of the gradient that is lost in single precision.
  static constexpr double converged = 1e-20;
  // The square of the rounding errors of a gradient, for residuals of up to 1: steps along errors
  // alone would grow without limit.
  static constexpr double rounding = 1e-30;

  /// The neighbours of a sample along one axis, by their numbers; that of a sample without a number
  /// is the number of positions.
  struct Neighbours {
    Number lower, upper;
  };

  static std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

  static double dot(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum;
  }

  /// The number of a sample. A known one that touches another hole may be numbered meanwhile.
  static std::atomic_ref<Number> shared(std::span<Number> numbers, std::int64_t position) {
    return std::atomic_ref<Number>(numbers[at(position)]);
  }

  void number_samples(std::span<const std::int64_t> hole, std::span<Number> numbers) {
    positions_.assign(hole.begin(), hole.end());
    num_unknown_ = hole.size();
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      shared(numbers, positions_[k]).store(static_cast<Number>(k), std::memory_order_relaxed);
    }
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      axes_.for_neighbours(positions_[k], [&](std::int64_t neighbour) {
        const auto number = shared(numbers, neighbour);
        if (number.load(std::memory_order_relaxed) != State::known) return;
        number.store(static_cast<Number>(positions_.size()), std::memory_order_relaxed);
        positions_.push_back(neighbour);
      });
    }
  }

  /// The Laplacian counts at the missing samples and their neighbours, along each axis on which a
  /// sample has two neighbours, unless it includes a sample that stays as first filled.
  void number_equations(std::span<Number> numbers) {
    const std::size_t n = used_axes_.size();
    neighbours_.resize(positions_.size() * n);
    // One more for absent neighbours, for which nothing counts.
    counted_.assign((positions_.size() + 1) * n, 0);
    const auto absent = static_cast<Number>(positions_.size());
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      const std::int64_t position = positions_[k];
      bool touches_deep = false;
      const auto number_at = [&](std::int64_t neighbour) {
        const Number number = shared(numbers, neighbour).load(std::memory_order_relaxed);
        touches_deep = touches_deep || number == State::deep;
        // A known sample beside this hole's may have a number of another hole.
        return number >= 0 && number < absent && positions_[at(number)] == neighbour ? number
                                                                                     : absent;
      };
      for (std::size_t a = 0; a < n; ++a) {
        const std::size_t axis = used_axes_[a];
        const std::int64_t i = axes_.along(position, axis);
        const bool has_lower = i > 0, has_upper = i + 1 < axes_.extent[axis];
        neighbours_[k * n + a] = {has_lower ? number_at(position - axes_.stride[axis]) : absent,
                                  has_upper ? number_at(position + axes_.stride[axis]) : absent};
        counted_[k * n + a] = has_lower && has_upper ? 1 : 0;
      }
      if (touches_deep)
        std::fill_n(counted_.begin() + static_cast<std::ptrdiff_t>(k * n), n, std::uint8_t{0});
    }
  }

  /// The Laplacian of the values.
  template <typename Sample>
  void set_residual(std::span<Sample> values) {
    const auto value = [&](std::int64_t i) { return static_cast<double>(values[at(i)]); };
    residual_.assign(positions_.size() + 1, 0);
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      for (std::size_t a = 0; a < used_axes_.size(); ++a) {
        if (counted_[k * used_axes_.size() + a] == 0) continue;
        const std::int64_t position = positions_[k], stride = axes_.stride[used_axes_[a]];
        residual_[k] += value(position - stride) + value(position + stride) - 2 * value(position);
      }
    }
  }

  /// The Laplacian of an array that is 0 except at the samples with a number.
  void laplacian(const std::vector<double>& x, std::vector<double>& result) const {
    const std::size_t n = used_axes_.size();
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      double sum = 0;
      for (std::size_t a = k * n; a < k * n + n; ++a) {
        const Neighbours& near = neighbours_[a];
        sum += counted_[a] * (x[at(near.lower)] + x[at(near.upper)] - 2 * x[k]);
      }
      result[k] = sum;
    }
  }

  /// The product of the transposed Laplacian with values of the equations, at the missing samples.
  void transposed(const std::vector<double>& x, std::vector<double>& result) const {
    const std::size_t n = used_axes_.size();
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      double sum = 0;
      for (std::size_t a = 0; a < n; ++a) {
        const Neighbours& near = neighbours_[k * n + a];
        const std::size_t lower = at(near.lower), upper = at(near.upper);
        sum += counted_[lower * n + a] * x[lower] + counted_[upper * n + a] * x[upper] -
               2 * counted_[k * n + a] * x[k];
      }
      result[k] = sum;
    }
  }

  const ArrayAxes& axes_;
  std::vector<std::size_t> used_axes_;
  std::vector<std::int64_t> positions_;  ///< the unknown samples, then their known neighbours
  std::size_t num_unknown_ = 0;
  std::vector<Neighbours> neighbours_;  ///< of each position, along each used axis
  std::vector<std::uint8_t> counted_;   ///< whether that axis counts in the Laplacian there
  std::vector<double> residual_, gradient_, direction_, change_, step_;
};

}  // namespace warpalign::detail
