// The prefilter as a chain of passes, each filtering one axis, or two at once.
#pragma once

#include "device/kernel.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

#include <functional>
#include <vector>

namespace warpalign::opencl {

/// An array seen as [outer][n][inner], to be filtered along its middle axis.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;  ///< in floats: a complex number counts as two
};

struct Pass {
  std::function<void(cl_command_queue, cl_mem source, cl_mem target)> launch;
  Shape result;           ///< the shape that it leaves
  bool in_place = false;  ///< reads and writes the target
};

/// What the passes of one plan have in common.
struct PassMaker {
  Context& context;
  const PrefilterSpec& spec;
  const backend::PrefilterDetails& details;

  [[nodiscard]] int components() const { return spec.input == PixelType::c32 ? 2 : 1; }
  /// Axis 0 (x), 1 or 2 of an array of that shape.
  [[nodiscard]] AxisView view(const Shape& shape, int axis) const;
  /// That shape with the margin on either side of the axis.
  [[nodiscard]] Shape with_margin(const Shape& shape, int axis) const;
  /// The type that a pass reads: the samples' if it is the chain's first.
  [[nodiscard]] PixelType source_type(bool first) const;
  [[nodiscard]] int halo() const;
  /// What filtering so many axes is multiplied by in the end.
  [[nodiscard]] double gain_of(int axes) const;
  /// What the pass after which `axes` are filtered multiplies by: the gain of all axes in the last
  /// one, else 1, so that a constant image is not rounded once more for every axis.
  [[nodiscard]] double gain_after(int axes) const;
  /// `cval` as it would be after `axes` filtered without their gain.
  [[nodiscard]] cl_float cval_after(int axes) const;
  /// EXTENSION and the poles.
  [[nodiscard]] std::string recursion_options() const;
};

// The chains, one for each way of filtering; each in the file of its kernels.
/// exact, and fir of up to most_marching_taps; GPUs, CPUs without vectors
std::vector<Pass> streaming_passes(const PassMaker& maker);
std::vector<Pass> line_passes(const PassMaker& maker);  ///< exact, CPUs with vectors
std::vector<Pass> iir_passes(const PassMaker& maker);
std::vector<Pass> fir_passes(const PassMaker& maker);

inline constexpr std::size_t max_streaming_taps = 15;

}  // namespace warpalign::opencl
