// A spline task (prefilter, evaluation or both) and its true results.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::program::bench {

/// A prefilter, an evaluation at the transformed position of every output pixel, or both. Without a
/// prefilter the input holds the coefficients. Edges are mirrored.
struct SplineProblem {
  SplineModel spline{.prefilter = std::nullopt};
  ImageBatch images{};
  Shape output{};  ///< shape of the evaluation; no pixels if there is none
  HomogeneousMatrix output_to_input{};

  [[nodiscard]] bool has_evaluation() const { return output.pixels() > 0; }
  [[nodiscard]] Shape result() const { return has_evaluation() ? output : images.shape; }
};

using Position = std::array<double, 3>;

/// The problem's true value at an output pixel in double precision, from the surrounding part of
/// the input: samples farther away change a coefficient by less than 1e-10 of their value.
[[nodiscard]] double true_value(const SplineProblem& problem, const float* input,
                                const std::array<std::int64_t, 3>& pixel);
/// The value of the spline whose coefficients are the input.
[[nodiscard]] double true_value_at(const SplineProblem& problem, const float* input,
                                   const Position& point);
/// The position at which an output pixel is read.
[[nodiscard]] Position read_at(const SplineProblem& problem,
                               const std::array<std::int64_t, 3>& pixel);

/// Selects `count` pixels of an array: its corners, and others distributed quasi-randomly.
[[nodiscard]] std::vector<std::array<std::int64_t, 3>> sample_pixels(const Shape& shape,
                                                                     std::size_t count);

/// Compares result pixels with true values, for inputs of noise from 0 to 1.
[[nodiscard]] Verdict check_spline(const SplineProblem& problem, const float* input,
                                   const std::vector<float>& result);
/// The same for the first `slices` slices, with coordinates in single precision.
[[nodiscard]] Verdict check_host_spline(const SplineProblem& problem, const float* input,
                                        const std::vector<float>& result, std::int64_t slices);

}  // namespace warpalign::program::bench
