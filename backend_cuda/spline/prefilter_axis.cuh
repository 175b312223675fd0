// An axis in the form that the prefilter's kernels take, and the memory layout of a pass along it.
#pragma once

#include "device/launch.hpp"

#include "formulas/boundary.h"

#include <warpalign/backend/stages/spline/prefilter.hpp>

namespace warpalign::cuda {

static_assert(static_cast<int>(backend::Extension::mirror) == WA_MIRROR);
static_assert(static_cast<int>(backend::Extension::reflect) == WA_REFLECT);
static_assert(static_cast<int>(backend::Extension::periodic) == WA_PERIODIC);
static_assert(static_cast<int>(backend::Extension::clamp) == WA_CLAMP);
static_assert(static_cast<int>(backend::Extension::fill) == WA_FILL);

/// How samples are extended beyond the ends of an axis, and how many coefficients are kept there.
struct Beyond {
  int rule = WA_MIRROR;
  int margin = 0;
  float fill = 0;
};

[[nodiscard]] inline Beyond beyond_of(const PrefilterSpec& spec,
                                      const backend::PrefilterDetails& details) {
  return {static_cast<int>(details.extension), details.margin,
          static_cast<float>(spec.spline.cval)};
}

/// A pass along one axis of a dense array of floats (outer, axis, inner). Element k of a line is k
/// * inner floats from its start. The result has n + 2 margin elements along the axis.
struct AxisPass {
  int n = 1;
  int components = 1;  ///< 2: real and imaginary parts alternate
  long long inner = 1;
  long long outer = 1;
  Beyond beyond;
};

/// The value beyond an axis under WA_FILL. cval is real.
__device__ __forceinline__ float fill_value(const AxisPass& pass, long long column) {
  return pass.components == 2 && (column & 1) != 0 ? 0.0f : pass.beyond.fill;
}

/// Sample k of a line, for any k, extended beyond the ends of the axis.
__device__ __forceinline__ float sample_at(const float* __restrict__ line, const AxisPass& pass,
                                           int k, float fill) {
  const int at = wa_extend(pass.beyond.rule, k, pass.n);
  return at < 0 ? fill : line[at * pass.inner];
}

/// The length of the segments of an axis, one per row of blocks: about `wanted`, a multiple of
/// `multiple`, and large enough that the number of segments fits the height of a grid.
[[nodiscard]] inline int segment_length(int length, int wanted, int multiple) {
  const std::int64_t minimum = divide_up(length, 65535);
  return static_cast<int>(divide_up(std::max<std::int64_t>(wanted, minimum), multiple) * multiple);
}

[[nodiscard]] inline unsigned grid_extent(std::int64_t slices) {
  return static_cast<unsigned>(std::min<std::int64_t>(slices, 65535));
}

/// The shape of the arrays that a stage filters, and the number of axes to filter.
struct Volume {
  int width, height, depth;
  int components;
  int dimensions;
  long long batch = 1;

  [[nodiscard]] long long planes() const { return depth * batch; }
};

[[nodiscard]] inline Volume volume_of(const PrefilterSpec& spec, const CallSite& site) {
  return {extent(spec.images.shape.width, site),
          extent(spec.images.shape.height, site),
          extent(spec.images.shape.depth, site),
          spec.input == PixelType::c32 ? 2 : 1,
          spec.images.dimensions,
          spec.images.count};
}

/// The pass along axis 0, 1 or 2 of volumes whose earlier axes already have their margins.
[[nodiscard]] inline AxisPass axis_pass(const Volume& v, const Beyond& beyond, int axis) {
  const long long wide = v.width + 2 * beyond.margin;
  const long long high = v.height + 2 * beyond.margin;
  const long long c = v.components;
  switch (axis) {
    case 0:
      return {v.width, v.components, c, v.height * v.planes(), beyond};
    case 1:
      return {v.height, v.components, c * wide, v.planes(), beyond};
    default:
      return {v.depth, v.components, c * wide * high, v.batch, beyond};
  }
}

/// The number of floats that a pass writes.
[[nodiscard]] inline long long result_elements(const AxisPass& pass) {
  return pass.outer * pass.inner * (pass.n + 2 * pass.beyond.margin);
}

}  // namespace warpalign::cuda
