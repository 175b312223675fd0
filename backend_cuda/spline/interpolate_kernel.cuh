// The interpolation kernel: one pixel per thread, the tensor product of B-spline weights in single
// precision (Ruijters et al., equation 1).
#pragma once

#include "spline/interpolate_points.cuh"

#include "formulas/bspline.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace warpalign::cuda {

template <int degree>
__device__ __forceinline__ void weights(float t, float (&w)[degree + 1]) {
  if constexpr (degree == 0) wa_bspline_weights_0(t, w);
  if constexpr (degree == 1) wa_bspline_weights_1(t, w);
  if constexpr (degree == 2) wa_bspline_weights_2(t, w);
  if constexpr (degree == 3) wa_bspline_weights_3(t, w);
  if constexpr (degree == 4) wa_bspline_weights_4(t, w);
  if constexpr (degree == 5) wa_bspline_weights_5(t, w);
}

template <int degree>
__device__ __forceinline__ void derivatives(float t, float (&w)[degree + 1]) {
  if constexpr (degree == 1) wa_bspline_derivatives_1(t, w);
  if constexpr (degree == 2) wa_bspline_derivatives_2(t, w);
  if constexpr (degree == 3) wa_bspline_derivatives_3(t, w);
  if constexpr (degree == 4) wa_bspline_derivatives_4(t, w);
  if constexpr (degree == 5) wa_bspline_derivatives_5(t, w);
}

/// The neighbours of a location along one axis, as indices of coefficients, and their weights.
template <int degree, bool gradient>
struct Neighbours {
  int first = 0;
  float t = 0.0f;  // the argument of the weight functions
  float w[degree + 1];
  float slope[gradient ? degree + 1 : 1];

  __device__ __forceinline__ void choose(AxisLocation location, int margin) {
    if (degree % 2 == 0) {
      if (location.halfway) {  // floor(x + 1/2): ties round up
        location.whole += 1;
        location.fraction = -0.5f;
      }
    } else if (location.fraction < 0.0f) {
      location.whole -= 1;
      location.fraction += 1.0f;
    }
    first = location.whole + margin - degree / 2;
    t = location.fraction;
    weights<degree>(t, w);
    if constexpr (gradient) {
      derivatives<degree>(t, slope);
#pragma unroll
      for (int i = 0; i <= degree; ++i) slope[i] = location.flat ? 0.0f : slope[i];
    }
  }

  __device__ __forceinline__ bool inside(int stored) const {
    return first >= 0 && first + degree < stored;
  }
};

__device__ __forceinline__ float constant_value(float cval, float) { return cval; }
__device__ __forceinline__ float2 constant_value(float cval, float2) {
  return make_float2(cval, 0.0f);
}
__device__ __forceinline__ void accumulate(float& sum, float w, float value) {
  sum = fmaf(w, value, sum);
}
__device__ __forceinline__ void accumulate(float2& sum, float w, float2 value) {
  sum.x = fmaf(w, value.x, sum.x);
  sum.y = fmaf(w, value.y, sum.y);
}

/// A sum of products and, optionally, its derivatives along the axes that have been summed so far.
template <class Value, bool gradient>
struct Sums {
  Value value{};
  float slope[gradient ? 3 : 1] = {};

  // Adds w * part along `axis`, for which d is the weight of the derivative.
  template <int axis>
  __device__ __forceinline__ void add(const Sums& part, float w, float d) {
    accumulate(value, w, part.value);
    if constexpr (gradient) {
#pragma unroll
      for (int i = 0; i < axis; ++i) slope[i] = fmaf(w, part.slope[i], slope[i]);
      slope[axis] = fmaf(d, part.value, slope[axis]);
    }
  }
};

template <int degree, bool gradient, class Value, class Fetch>
__device__ __forceinline__ Sums<Value, gradient> sum_row(const Neighbours<degree, gradient>& x,
                                                         Fetch fetch) {
  Sums<Value, gradient> row;
#pragma unroll
  for (int i = 0; i <= degree; ++i) {
    const Value value = fetch(i);
    accumulate(row.value, x.w[i], value);
    if constexpr (gradient) row.slope[0] = fmaf(x.slope[i], value, row.slope[0]);
  }
  return row;
}

// Sums the neighbours if all of them lie within the coefficients.
template <int degree, int dimensions, bool gradient, class Value>
__device__ __forceinline__ Sums<Value, gradient> sum_inside(
    const Value* __restrict__ coefficients, const SplineGeometry& spline,
    const Neighbours<degree, gradient> (&at)[dimensions]) {
  long long offset = at[0].first;
  if constexpr (dimensions == 2) offset += static_cast<long long>(at[1].first) * spline.stored[0];
  if constexpr (dimensions == 3) {
    offset +=
        (static_cast<long long>(at[2].first) * spline.stored[1] + at[1].first) * spline.stored[0];
  }
  const auto row_sum = [&](const Value* row) {
    return sum_row<degree, gradient, Value>(at[0], [&](int i) { return row[i]; });
  };
  const auto plane_sum = [&](const Value* row) {
    Sums<Value, gradient> plane;
#pragma unroll
    for (int j = 0; j <= degree; ++j, row += spline.stored[0]) {
      plane.template add<1>(row_sum(row), at[dimensions > 1 ? 1 : 0].w[j],
                            at[dimensions > 1 ? 1 : 0].slope[gradient ? j : 0]);
    }
    return plane;
  };
  const Value* first = coefficients + offset;
  if constexpr (dimensions == 1) {
    return row_sum(first);
  } else if constexpr (dimensions == 2) {
    return plane_sum(first);
  } else {
    const long long plane = static_cast<long long>(spline.stored[0]) * spline.stored[1];
    Sums<Value, gradient> sum;
#pragma unroll
    for (int k = 0; k <= degree; ++k, first += plane) {
      sum.template add<2>(plane_sum(first), at[2].w[k], at[2].slope[gradient ? k : 0]);
    }
    return sum;
  }
}

// Sums the neighbours if some lie beyond the coefficients; the boundary rule finds each of them.
// This is rare, so the loops are not unrolled, and they work on copies of the arrays that they
// index.
template <int degree, int dimensions, bool gradient, class Value>
__device__ __forceinline__ Sums<Value, gradient> sum_at_border(
    const Value* __restrict__ coefficients, const SplineGeometry& spline,
    const Neighbours<degree, gradient> (&at)[dimensions]) {
  const int rule = spline.rules.extension;
  const Value fill = constant_value(spline.rules.cval, Value{});
  int column[degree + 1];
#pragma unroll
  for (int i = 0; i <= degree; ++i) {
    column[i] = wa_extend(rule, at[0].first + i, spline.stored[0]);
  }
  const auto row_sum = [&](int y, int z) {
    const Value* row =
        coefficients + (static_cast<long long>(z) * spline.stored[1] + y) * spline.stored[0];
    return sum_row<degree, gradient, Value>(
        at[0], [&](int i) { return y >= 0 && z >= 0 && column[i] >= 0 ? row[column[i]] : fill; });
  };
  if constexpr (dimensions == 1) {
    return row_sum(0, 0);
  } else {
    const Neighbours<degree, gradient> along_y = at[1];
    const auto plane_sum = [&](int z) {
      Sums<Value, gradient> plane;
#pragma unroll 1
      for (int j = 0; j <= degree; ++j) {
        plane.template add<1>(row_sum(wa_extend(rule, along_y.first + j, spline.stored[1]), z),
                              along_y.w[j], along_y.slope[gradient ? j : 0]);
      }
      return plane;
    };
    if constexpr (dimensions == 2) {
      return plane_sum(0);
    } else {
      const Neighbours<degree, gradient> along_z = at[2];
      Sums<Value, gradient> sum;
#pragma unroll 1
      for (int k = 0; k <= degree; ++k) {
        sum.template add<2>(plane_sum(wa_extend(rule, along_z.first + k, spline.stored[2])),
                            along_z.w[k], along_z.slope[gradient ? k : 0]);
      }
      return sum;
    }
  }
}

// Finds the neighbours of a point. Returns false if the value is cval.
template <int degree, int dimensions, bool gradient>
__device__ __forceinline__ bool find_neighbours(const SplineGeometry& spline,
                                                const double (&point)[dimensions], bool snap,
                                                Neighbours<degree, gradient> (&at)[dimensions]) {
  AxisLocation location[dimensions];
  bool found = true;
#pragma unroll
  for (int i = 0; i < dimensions; ++i) {
    found = found && find_location(spline.rules, spline.samples[i], point[i], snap, location[i]);
  }
#pragma unroll
  for (int i = 0; i < dimensions; ++i) at[i].choose(location[i], spline.rules.margin);
  return found;
}

template <int degree, int dimensions, bool gradient>
__device__ __forceinline__ bool all_inside(const SplineGeometry& spline,
                                           const Neighbours<degree, gradient> (&at)[dimensions]) {
  bool inside = true;
#pragma unroll
  for (int i = 0; i < dimensions; ++i) inside = inside && at[i].inside(spline.stored[i]);
  return inside;
}

template <int degree, int dimensions, bool gradient, class Value>
__device__ __forceinline__ Sums<Value, gradient> evaluate(const Value* __restrict__ coefficients,
                                                          const SplineGeometry& spline,
                                                          const double (&point)[dimensions],
                                                          bool snap) {
  Neighbours<degree, gradient> at[dimensions];
  if (!find_neighbours(spline, point, snap, at)) {
    Sums<Value, gradient> constant;
    constant.value = constant_value(spline.rules.cval, Value{});
    return constant;
  }
  if (all_inside(spline, at)) {
    return sum_inside<degree, dimensions, gradient>(coefficients, spline, at);
  }
  return sum_at_border<degree, dimensions, gradient>(coefficients, spline, at);
}

// Stores a pixel. For integer types the value is rounded, halves away from zero, and saturated.
__device__ __forceinline__ void store(const OutputImage& output, long long index, float value) {
  switch (output.type) {
    case PixelType::u8:
      static_cast<std::uint8_t*>(output.pixels)[index] =
          static_cast<std::uint8_t>(fminf(fmaxf(roundf(value), 0.0f), 255.0f));
      break;
    case PixelType::u16:
      static_cast<std::uint16_t*>(output.pixels)[index] =
          static_cast<std::uint16_t>(fminf(fmaxf(roundf(value), 0.0f), 65535.0f));
      break;
    case PixelType::f16:
      static_cast<__half*>(output.pixels)[index] = __float2half_rn(value);
      break;
    default:
      static_cast<float*>(output.pixels)[index] = value;
      break;
  }
}
__device__ __forceinline__ void store(const OutputImage& output, long long index, float2 value) {
  static_cast<float2*>(output.pixels)[index] = value;
}

/// Stores a pixel; `floats`: the type is f32.
template <bool floats>
__device__ __forceinline__ void store_pixel(const OutputImage& output, long long index,
                                            float value) {
  if constexpr (floats) {
    static_cast<float*>(output.pixels)[index] = value;
  } else {
    store(output, index, value);
  }
}

/// Calls visit(x, y, z, index) for every pixel of the output that this thread processes.
template <class Visit>
__device__ __forceinline__ void for_each_pixel(const OutputImage& output, Visit visit) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * blockDim.y);
  if (x >= output.width) return;
#pragma unroll 1
  for (int z = static_cast<int>(blockIdx.z); z < output.depth; z += static_cast<int>(gridDim.z)) {
#pragma unroll 1
    for (int y = top; y < output.height; y += step) {
      visit(x, y, z, (static_cast<long long>(z) * output.height + y) * output.width + x);
    }
  }
}

template <int degree, int dimensions, bool gradient, class Value>
__global__ void __launch_bounds__(256)
    interpolate_kernel(const Value* __restrict__ coefficients, const Evaluation e) {
  const bool snap = e.points.kind != PointKind::field;
  for_each_pixel(e.output, [&](int x, int y, int z, long long index) {
    double point[dimensions];
    find_point<dimensions>(e.points, x, y, z, index, point);
    const Sums<Value, gradient> sums =
        evaluate<degree, dimensions, gradient>(coefficients, e.spline, point, snap);
    store(e.output, index, sums.value);
    if constexpr (gradient) {
#pragma unroll
      for (int i = 0; i < dimensions; ++i) {
        e.output.gradient[i * e.output.gradient_plane + index] = sums.slope[i];
      }
    }
  });
}

/// The kernel for a degree that is only known at run time.
template <int dimensions, bool gradient, class Value>
InterpolateKernel<Value> kernel_of_degree(int degree) {
  switch (degree) {
    case 0:
      if constexpr (!gradient) return &interpolate_kernel<0, dimensions, false, Value>;
      [[fallthrough]];
    case 1:
      return &interpolate_kernel<1, dimensions, gradient, Value>;
    case 2:
      return &interpolate_kernel<2, dimensions, gradient, Value>;
    case 3:
      return &interpolate_kernel<3, dimensions, gradient, Value>;
    case 4:
      return &interpolate_kernel<4, dimensions, gradient, Value>;
    default:
      return &interpolate_kernel<5, dimensions, gradient, Value>;
  }
}

}  // namespace warpalign::cuda
