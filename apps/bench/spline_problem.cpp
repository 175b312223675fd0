// The true results of a spline task.
#include "bench/spline_problem.hpp"

#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::program::bench {
namespace {

using Index = std::array<std::int64_t, 3>;

std::int64_t along(const Shape& shape, std::size_t axis) {
  return axis == 0 ? shape.width : (axis == 1 ? shape.height : shape.depth);
}

bool counts(const SplineProblem& problem, std::size_t axis) {
  return axis < static_cast<std::size_t>(problem.images.dimensions);
}

/// The equivalent position within 0 ... n - 1: a mirrored spline is symmetric about its first and
/// last sample.
double folded(double x, std::int64_t n) {
  if (n == 1) return 0;
  const double period = 2 * static_cast<double>(n - 1);
  const double rest = std::fabs(std::remainder(x, period));
  return rest;
}

/// The part of the input that can influence the value of a pixel. It is not truncated at the
/// image's edges, so that mirroring is correct there.
struct Window {
  reference::Volume values;
  Index origin{};
};

Window window_around(const SplineProblem& problem, const float* input, const Index& centre,
                     std::int64_t reach) {
  Window window;
  Index extent{1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    window.origin[axis] = centre[axis];
    if (!counts(problem, axis)) continue;
    window.origin[axis] = std::max<std::int64_t>(centre[axis] - reach, 0);
    const std::int64_t end = std::min(centre[axis] + reach + 1, along(problem.images.shape, axis));
    extent[axis] = end - window.origin[axis];
  }
  window.values = reference::Volume(extent[0], extent[1], extent[2]);
  const auto& [x0, y0, z0] = window.origin;
  for (std::int64_t z = 0; z < extent[2]; ++z) {
    for (std::int64_t y = 0; y < extent[1]; ++y) {
      const std::int64_t row =
          ((z0 + z) * problem.images.shape.height + y0 + y) * problem.images.shape.width + x0;
      for (std::int64_t x = 0; x < extent[0]; ++x) {
        window.values.at(x, y, z) = static_cast<double>(input[row + x]);
      }
    }
  }
  return window;
}

reference::Spline spline_of(const SplineProblem& problem, const reference::Volume& samples) {
  constexpr auto edge = reference::Edge::mirror;
  if (!problem.spline.prefilter) {
    return reference::unfiltered(samples, problem.images.dimensions, problem.spline.degree, edge);
  }
  if (*problem.spline.prefilter == PrefilterMethod::fir) {
    return reference::unfiltered(
        reference::prefilter_fir(samples, problem.images.dimensions, problem.spline.taps, edge),
        problem.images.dimensions, problem.spline.degree, edge);
  }
  return reference::solve(samples, problem.images.dimensions, problem.spline.degree, edge);
}

/// The range of the coefficients of values from 0 to 1: the sum of |b| over all taps is 3 along
/// each axis (Champagnat & Le Sant, proposition 1).
double range_of_coefficients(const SplineProblem& problem) {
  return problem.spline.prefilter ? std::pow(3, problem.images.dimensions) : 1;
}

/// The tolerance: the library's stated error, or the error of a texture unit's 8 fractional bits.
double tolerance_of(const SplineProblem& problem) {
  const double range = range_of_coefficients(problem);
  const double single = 1e-6 * range;
  if (problem.spline.precision == Precision::full) return single;
  return single + problem.images.dimensions * range / 256;
}

Verdict compare(const SplineProblem& problem, const float* input, const std::vector<float>& result,
                const Shape& checked, double tolerance) {
  const std::size_t count = problem.images.dimensions == 3 ? 12 : 48;
  Verdict verdict{0, tolerance, "double precision, at sampled pixels"};
  for (const Index& pixel : sample_pixels(checked, count)) {
    const auto at =
        static_cast<std::size_t>((pixel[2] * checked.height + pixel[1]) * checked.width + pixel[0]);
    const double error =
        std::abs(static_cast<double>(result[at]) - true_value(problem, input, pixel));
    if (!(error <= verdict.error)) verdict.error = error;  // keeps NaN
    if (std::isnan(error)) break;
  }
  return verdict;
}

}  // namespace

Position read_at(const SplineProblem& problem, const Index& pixel) {
  const auto& m = problem.output_to_input.m;
  Position point{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    point[axis] = m[4 * axis + 3];
    for (std::size_t k = 0; k < 3; ++k) {
      point[axis] += m[4 * axis + k] * static_cast<double>(pixel[k]);
    }
  }
  return point;
}

double true_value_at(const SplineProblem& problem, const float* input, const Position& point) {
  constexpr std::int64_t support = 3;
  constexpr std::int64_t horizon = 18;  // 0.268^18 is 5e-11
  Position inside{};
  Index centre{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!counts(problem, axis)) continue;
    inside[axis] = folded(point[axis], along(problem.images.shape, axis));
    centre[axis] = static_cast<std::int64_t>(inside[axis]);
  }
  const Window window =
      window_around(problem, input, centre, support + (problem.spline.prefilter ? horizon : 0));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    inside[axis] -= static_cast<double>(window.origin[axis]);
  }
  return reference::evaluate(spline_of(problem, window.values), inside).value;
}

double true_value(const SplineProblem& problem, const float* input, const Index& pixel) {
  if (problem.has_evaluation()) return true_value_at(problem, input, read_at(problem, pixel));
  constexpr std::int64_t horizon = 18;
  const Window window = window_around(problem, input, pixel, horizon);
  return spline_of(problem, window.values)
      .coefficients.at(pixel[0] - window.origin[0], pixel[1] - window.origin[1],
                       pixel[2] - window.origin[2]);
}

std::vector<Index> sample_pixels(const Shape& shape, std::size_t count) {
  std::vector<Index> pixels{{0, 0, 0},
                            {shape.width - 1, 0, shape.depth - 1},
                            {0, shape.height - 1, 0},
                            {shape.width - 1, shape.height - 1, shape.depth - 1}};
  // Steps of an additive sequence without short periods in three dimensions (from the generalized
  // golden ratio 1.2207: 1 / 1.2207^k).
  constexpr std::array<double, 3> steps{0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  for (std::size_t i = 0; pixels.size() < count; ++i) {
    Index pixel{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double t = 0.5 + static_cast<double>(i) * steps[axis];
      pixel[axis] =
          static_cast<std::int64_t>((t - std::floor(t)) * static_cast<double>(along(shape, axis)));
    }
    pixels.push_back(pixel);
  }
  return pixels;
}

Verdict check_spline(const SplineProblem& problem, const float* input,
                     const std::vector<float>& result) {
  return compare(problem, input, result, problem.result(), tolerance_of(problem));
}

Verdict check_host_spline(const SplineProblem& problem, const float* input,
                          const std::vector<float>& result, std::int64_t slices) {
  Shape checked = problem.result();
  checked.depth = slices;
  // The error of a coordinate in single precision is up to half a unit in the last place; the slope
  // is at most the range of the coefficients, a pixel, along each axis.
  const double largest =
      static_cast<double>(std::max({checked.width, checked.height, checked.depth}));
  const double place = problem.has_evaluation() ? largest * 0x1p-23 * problem.images.dimensions : 0;
  const double range = range_of_coefficients(problem);
  return compare(problem, input, result, checked, tolerance_of(problem) + 2 * place * range);
}

}  // namespace warpalign::program::bench
