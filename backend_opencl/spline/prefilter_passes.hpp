// The prefilter as a chain of passes, each of which filters one axis or two.
#pragma once

#include "device/kernel.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

#include <functional>
#include <vector>

namespace warpalign::opencl {

/// An array viewed as [outer][n][inner], to be filtered along its middle axis.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;  ///< in floats: a complex number counts as two
};

struct Pass {
  std::function<void(cl_command_queue, cl_mem source, cl_mem target)> launch;
  Shape result;           ///< the shape of its output, for each array of a batch
  bool in_place = false;  ///< reads and writes the target
};

/// The data that the passes of one plan share.
struct PassMaker {
  Context& context;
  const PrefilterSpec& spec;
  const backend::PrefilterDetails& details;

  [[nodiscard]] int components() const { return spec.input == PixelType::c32 ? 2 : 1; }
  /// The view of a batch of arrays of that shape along axis 0 (x), 1 or 2.
  [[nodiscard]] AxisView view(const Shape& shape, int axis) const;
  /// The shape with the margin added at both ends of the axis.
  [[nodiscard]] Shape with_margin(const Shape& shape, int axis) const;
  /// The type that a pass reads: that of the samples if it is the first of the chain, else f32.
  [[nodiscard]] PixelType source_type(bool first) const;
  [[nodiscard]] int halo() const;
  /// The gain by which the result must be multiplied after `axes` axes are filtered.
  [[nodiscard]] double gain_of(int axes) const;
  /// The gain that the pass applies after which `axes` axes are filtered: the last pass applies the
  /// gain of all axes and the others 1, so that a constant image is not rounded once more per axis.
  [[nodiscard]] double gain_after(int axes) const;
  /// The value of `cval` after `axes` axes are filtered without their gain.
  [[nodiscard]] cl_float cval_after(int axes) const;
  /// The options EXTENSION, POLE_0 and, with two poles, TWO_POLES and POLE_1.
  [[nodiscard]] std::string recursion_options() const;
};

// The chains of passes, one for each way of filtering, each in its own file.
/// For exact, and for fir of up to max_streaming_taps; on GPUs, and on CPUs without vectors.
std::vector<Pass> streaming_passes(const PassMaker& maker);
std::vector<Pass> line_passes(const PassMaker& maker);  ///< exact, on CPUs with vectors
std::vector<Pass> iir_passes(const PassMaker& maker);
std::vector<Pass> fir_passes(const PassMaker& maker);

inline constexpr std::size_t max_streaming_taps = 15;

}  // namespace warpalign::opencl
