// The control points of a cubic spline along one axis of an image.
#include "registration/local/field/spline_axis.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

using Weights = std::array<double, 4>;

// The cubic basis functions of one interval and their derivatives, with the interval's length as
// the unit; t is 0 to 1.
Weights basis(double t, int derivative) noexcept {
  const double s = 1 - t;
  if (derivative == 0) {
    return {s * s * s / 6, 2.0 / 3 - t * t * (2 - t) / 2, 2.0 / 3 - s * s * (2 - s) / 2,
            t * t * t / 6};
  }
  if (derivative == 1) {
    return {-s * s / 2, t * (3 * t - 4) / 2, -s * (3 * s - 4) / 2, t * t / 2};
  }
  return {s, 3 * t - 2, 3 * s - 2, t};
}

// Gauss-Legendre with four points: exact for products of cubic polynomials.
struct Node {
  double t;
  double weight;
};
std::array<Node, 4> quadrature() noexcept {
  const double inner = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(6.0 / 5));
  const double outer = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(6.0 / 5));
  const double inner_weight = (18 + std::sqrt(30.0)) / 72;
  const double outer_weight = (18 - std::sqrt(30.0)) / 72;
  return {{{(1 - outer) / 2, outer_weight},
           {(1 - inner) / 2, inner_weight},
           {(1 + inner) / 2, inner_weight},
           {(1 + outer) / 2, outer_weight}}};
}

// Drops negligible weights at the ends, which would widen the band of the equations.
void drop_smallest(AxisMean& mean) noexcept {
  constexpr double least = 1e-7;
  const auto counts = [](double weight) { return weight >= least; };
  const auto begin = std::find_if(mean.weight.begin(), mean.weight.end(), counts);
  const auto end = std::find_if(mean.weight.rbegin(), mean.weight.rend(), counts).base();
  mean.first += static_cast<std::size_t>(begin - mean.weight.begin());
  mean.count = static_cast<std::size_t>(end - begin);
  std::fill(std::copy(begin, end, mean.weight.begin()), mean.weight.end(), 0.0);
}

}  // namespace

SplineAxis spline_axis(std::int64_t pixels, double spacing, std::size_t max_intervals) {
  const double length = static_cast<double>(std::max<std::int64_t>(pixels - 1, 1));
  const double intervals =
      std::clamp(std::round(length / spacing), 1.0, static_cast<double>(max_intervals));
  SplineAxis axis;
  axis.intervals = static_cast<std::size_t>(intervals);
  axis.spacing = length / intervals;
  axis.origin = -axis.spacing;
  return axis;
}

AxisWeights weights_at(const SplineAxis& axis, double pixel) noexcept {
  const double last = static_cast<double>(axis.intervals);
  const double inside = pixel > 0 ? pixel / axis.spacing : 0;  // 0 for NaN
  const double position = std::min(inside, last);
  const double interval = std::min(std::floor(position), last - 1);
  return {static_cast<std::size_t>(interval), basis(position - interval, 0)};
}

AxisMean mean_about(const SplineAxis& axis, double pixel, double length) noexcept {
  constexpr double max_intervals = 4;
  // The distance of the two Gauss-Legendre nodes from the centre of a unit interval.
  const double node = 0.5 / std::sqrt(3.0);
  const double half = std::min(length, max_intervals * axis.spacing) / 2;
  const double last = static_cast<double>(axis.intervals);
  const double from = std::clamp((pixel - half) / axis.spacing, 0.0, last);
  const double to = std::clamp((pixel + half) / axis.spacing, 0.0, last);
  AxisMean mean;
  mean.first = weights_at(axis, from * axis.spacing).first;
  const auto add = [&](double position, double part) {
    const AxisWeights at = weights_at(axis, position * axis.spacing);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t index = at.first + i - mean.first;
      if (index < AxisMean::most) mean.weight[index] += part * at.weight[i];
    }
  };
  if (!(to > from)) add(from, 1);
  // Within each interval the basis functions are cubic polynomials, for which two nodes are exact.
  for (double left = from; left < to;) {
    const double right = std::min(std::floor(left) + 1, to);
    for (const double position : {0.5 - node, 0.5 + node}) {
      add(left + position * (right - left), 0.5 * (right - left) / (to - from));
    }
    left = right;
  }
  drop_smallest(mean);
  return mean;
}

GramMatrix gram_matrix(const SplineAxis& axis, int derivative, double unit) {
  const double length = axis.spacing / unit;
  const double scale = length / std::pow(length, 2 * derivative);
  std::array<Weights, 4> within{};  // for the functions i and i + offset of one interval
  for (const Node& node : quadrature()) {
    const Weights value = basis(node.t, derivative);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t offset = 0; i + offset < 4; ++offset) {
        within[i][offset] += scale * node.weight * value[i] * value[i + offset];
      }
    }
  }
  GramMatrix gram(axis.controls());
  for (std::size_t interval = 0; interval < axis.intervals; ++interval) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t offset = 0; i + offset < 4; ++offset) {
        gram[interval + i][offset] += within[i][offset];
      }
    }
  }
  return gram;
}

}  // namespace warpalign::detail
