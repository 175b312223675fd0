// Bilinear evaluation of planes under affine transforms by the texture unit: one lookup per pixel.
//
// A thread locates its first pixel in double precision and the others relative to it in single
// precision, which is as exact as the coordinates of the texture unit. A point beyond an edge is
// mapped to a point in the image with the same value under the boundary rule. Pixels so near an
// edge that rounding might matter, and those whose neighbours are not adjacent in memory, are
// evaluated in full precision.
#include "device/dependent_launch.cuh"
#include "device/texture.hpp"
#include "spline/interpolate_bilinear.hpp"
#include "spline/interpolate_kernel.cuh"

namespace warpalign::cuda {
namespace {

enum class Method {
  lookup,         // one texture lookup at the coordinate
  constant,       // cval
  full_precision  // full precision, without the texture unit
};

// A coordinate modulo the period, for coordinates less than eight periods away. Because of
// rounding, the result may be slightly below 0 or above the period.
__device__ __forceinline__ float modulo(float at, float period) {
  return fmaf(-period, floorf(__fdividef(at, period)), at);
}

// Maps any coordinate into [0, n - 1].
__device__ __forceinline__ Method extend(int extension, int n, float& at) {
  const float last = static_cast<float>(n - 1);
  switch (extension) {
    case WA_MIRROR: {
      if (n == 1) return Method::full_precision;
      const float folded = modulo(fabsf(at), 2.0f * last);
      at = fmaxf(fminf(folded, 2.0f * last - folded), 0.0f);
      return Method::lookup;
    }
    case WA_REFLECT: {
      const float period = 2.0f * static_cast<float>(n);
      const float folded = modulo(fabsf(at + 0.5f), period);
      at = fminf(fmaxf(fminf(folded, period - folded) - 0.5f, 0.0f), last);
      return Method::lookup;
    }
    case WA_PERIODIC:
      at = modulo(at, static_cast<float>(n));
      return at >= 0.0f && at <= last ? Method::lookup : Method::full_precision;
    default:
      return Method::full_precision;
  }
}

// The method for a coordinate along an axis of n samples. For a lookup, the coordinate is mapped
// into [0, n - 1].
__device__ __forceinline__ Method method_at(const SplineRules& rules, int n, float& at) {
  constexpr float tolerance = 0.0078125f;  // exceeds the rounding error of coordinates below 2^15
  const float last = static_cast<float>(n - 1);
  if (at >= tolerance && at <= last - tolerance) return Method::lookup;
  if (!(fabsf(at) < 4.0f * static_cast<float>(n)))
    return Method::full_precision;  // far away, or NaN
  switch (rules.points) {
    case PointRule::reject_outside:
      return at < -tolerance || at > last + tolerance ? Method::constant : Method::full_precision;
    case PointRule::clamp_to_margin:
      at = fminf(fmaxf(at, 0.0f), last);
      return Method::lookup;
    case PointRule::period_minus_one:
      if (n == 1) return Method::full_precision;
      at = modulo(at, last);
      return at >= tolerance && at <= last - tolerance ? Method::lookup : Method::full_precision;
    default:
      if (rules.extension == WA_FILL && (at < -1.0f - tolerance || at > last + 1.0f + tolerance)) {
        return Method::constant;
      }
      return extend(rules.extension, n, at);
  }
}

// Not inlined, because every pixel would pay for its registers.
__device__ __noinline__ float evaluate_exactly(const float* __restrict__ coefficients,
                                               const Evaluation& e, int x, int y) {
  double point[2];
  find_point<2>(e.points, x, y, 0, 0, point);
  return evaluate<1, 2, false>(coefficients, e.spline, point, true).value;
}

struct Lookup {
  float u, v;  // valid for a lookup only
  Method method;
};

__device__ __forceinline__ Lookup lookup_of(const SplineGeometry& spline, float u, float v) {
  Lookup lookup{u, v, Method::lookup};
  const Method along_x = method_at(spline.rules, spline.samples[0], lookup.u);
  const Method along_y = method_at(spline.rules, spline.samples[1], lookup.v);
  if (along_x == Method::full_precision || along_y == Method::full_precision)
    lookup.method = Method::full_precision;
  if (along_x == Method::constant || along_y == Method::constant) lookup.method = Method::constant;
  return lookup;
}

// All lookups of a thread are issued before the first result is needed.
template <bool floats>
__global__ void __launch_bounds__(LookupBlock::width* LookupBlock::height)
    bilinear_kernel(cudaTextureObject_t texture, const float* __restrict__ coefficients,
                    const __grid_constant__ Evaluation e) {
  wait_for_previous_kernel();
  const int left =
      static_cast<int>(blockIdx.x) * LookupBlock::tile_width + static_cast<int>(threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * LookupBlock::height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * LookupBlock::height);
  const float step_u = static_cast<float>(LookupBlock::width * e.points.m[0]);
  const float step_v = static_cast<float>(LookupBlock::width * e.points.m[4]);
  for (int y = top; y < e.output.height; y += step) {
    double first[2];
    find_point<2>(e.points, left, y, 0, 0, first);
    Method methods[LookupBlock::pixels_per_thread];
    float values[LookupBlock::pixels_per_thread];
#pragma unroll
    for (int k = 0; k < LookupBlock::pixels_per_thread; ++k) {
      const float steps = static_cast<float>(k);
      const Lookup lookup = lookup_of(e.spline, fmaf(steps, step_u, static_cast<float>(first[0])),
                                      fmaf(steps, step_v, static_cast<float>(first[1])));
      methods[k] = lookup.method;
      // In texture coordinates, texel centres are at half-integers.
      values[k] = tex2D<float>(texture, lookup.u + 0.5f, lookup.v + 0.5f);
    }
    const long long row = static_cast<long long>(y) * e.output.width;
#pragma unroll
    for (int k = 0; k < LookupBlock::pixels_per_thread; ++k) {
      const int x = left + k * LookupBlock::width;
      if (x >= e.output.width) break;
      if (methods[k] == Method::constant) values[k] = e.spline.rules.cval;
      if (methods[k] == Method::full_precision) values[k] = evaluate_exactly(coefficients, e, x, y);
      store_pixel<floats>(e.output, row + x, values[k]);
    }
  }
}

}  // namespace

BilinearKernel bilinear_kernel_of(bool floats) {
  return floats ? &bilinear_kernel<true> : &bilinear_kernel<false>;
}

bool bilinear_serves(const Evaluation& e) {
  return e.points.kind == PointKind::affine && e.output.depth == 1;
}

void launch_bilinear(const CallSite& site, const backend::Queue& queue, BilinearKernel kernel,
                     cudaTextureObject_t texture, const float* coefficients, const Evaluation& e) {
  launch_dependent(
      site, queue,
      tile_grid(e.output.width, e.output.height, LookupBlock::tile_width, LookupBlock::height),
      dim3(LookupBlock::width, LookupBlock::height), kernel, texture, coefficients, e);
}

}  // namespace warpalign::cuda
