// Evaluation of planes under an affine transform from a copy of the source in shared memory.
#include "device/dependent_launch.cuh"
#include "spline/interpolate_shared.cuh"
#include "spline/interpolate_tiled.hpp"
#include "spline/tile_source.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::cuda {
namespace {

// The row pitch of a copy in shared memory. A warp runs along a row of the output. If that mostly
// follows a row of the source, a multiple of the 32 banks is best; otherwise any pitch that is not
// such a multiple is better.
constexpr int flat_pitch = 96;
constexpr int steep_pitch = 100;
constexpr std::size_t wanted_shared = 96 * 1024;

// Copies coefficients that all lie within the array; each lane copies four coefficients of a row.
template <int pitch>
__device__ __forceinline__ void copy_inside(const float* __restrict__ coefficients,
                                            const Evaluation& e, const TileSource<2>& source,
                                            const TileLocation<2>& location, float* target) {
  const int x = static_cast<int>(threadIdx.x) % warp_lanes * 4;
  if (x >= source.extent[0]) return;
  const int stored = e.spline.stored[0];
  const int first = static_cast<int>(threadIdx.x) / warp_lanes;
  const float* from = coefficients + static_cast<long long>(location.corner[1] + first) * stored +
                      location.corner[0] + x;
  float* to = target + first * pitch + x;
  float* const end = target + source.extent[1] * pitch;
#pragma unroll 4
  for (; to < end; to += tile_warps * pitch, from += tile_warps * stored) {
    __pipeline_memcpy_async(to, from, 4 * sizeof(float));
  }
}

// Makes any copy, coefficient by coefficient, extended by the boundary rule.
template <int pitch>
__device__ __forceinline__ void copy_extended(const float* __restrict__ coefficients,
                                              const Evaluation& e, const TileSource<2>& source,
                                              const TileLocation<2>& location, float* target) {
  __shared__ int columns[pitch];
  const int rule = e.spline.rules.extension;
  const int thread = static_cast<int>(threadIdx.x);
  const int width = source.extent[0];
  if (thread < width) {
    columns[thread] = wa_extend(rule, location.corner[0] + thread, e.spline.stored[0]);
  }
  __syncthreads();
  for (int row = thread / warp_lanes; row < source.extent[1]; row += tile_warps) {
    const int y = wa_extend(rule, location.corner[1] + row, e.spline.stored[1]);
    const float* from = coefficients + static_cast<long long>(y) * e.spline.stored[0];
    for (int x = thread % warp_lanes; x < width; x += warp_lanes) {
      if (y >= 0 && columns[x] >= 0) {
        __pipeline_memcpy_async(target + row * pitch + x, from + columns[x], sizeof(float));
      } else {
        target[row * pitch + x] = e.spline.rules.cval;
      }
    }
  }
}

// A multiprocessor holds 1024 threads on Turing, and 1536 or more on later architectures.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int max_tiled_blocks = 1024 / tile_threads;
#else
inline constexpr int max_tiled_blocks = 1536 / tile_threads;
#endif

template <int degree>
inline constexpr int wanted_tiled_blocks = degree <= 3 ? 5 : 4;
template <int degree>
inline constexpr int tiled_blocks =
    wanted_tiled_blocks<degree> < max_tiled_blocks ? wanted_tiled_blocks<degree> : max_tiled_blocks;

template <int degree, int pitch, bool floats>
__global__ void __launch_bounds__(tile_threads, tiled_blocks<degree>)
    tiled_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
                 const __grid_constant__ TileSource<2> source) {
  wait_for_previous_kernel();
  extern __shared__ float4 shared_words[];
  float* copy = reinterpret_cast<float*>(shared_words);
  const unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(copy)) - degree / 2 * (4 + 4 * pitch);
  const bool rejects = e.spline.rules.points == PointRule::reject_outside;
  for_tiles<degree>(e, source, [&](const TileLocation<2>& location) {
    if (rejects && location.outside) {
      blank_tile(e, location);
      return;
    }
    if (location.split) return;  // split_tile_kernel() evaluates it
    if (location.inside && source.words) {
      copy_inside<pitch>(coefficients, e, source, location, copy);
    } else {
      copy_extended<pitch>(coefficients, e, source, location, copy);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const auto value = [&](const Located<degree>(&at)[2]) {
      float wx[degree + 1], wy[degree + 1];
      weights<degree>(at[0].t, wx);
      weights<degree>(at[1].t, wy);
      const unsigned address = at[1].whole * (4 * pitch) + (at[0].whole * 4 + base);
      return sum_tile_plane<degree, pitch>(wx, wy, address,
                                           std::make_integer_sequence<int, degree + 1>{});
    };
    if (rejects && !location.inside) {
      evaluate_tile<degree, floats, true>(e, source, location, value);
    } else {
      evaluate_tile<degree, floats, false>(e, source, location, value);
    }
    __syncthreads();  // before the next tile's copy overwrites this one
  });
}

// Evaluates, pixel by pixel, the tiles that `wrap` splits (see TileLocation::split).
template <int degree>
__global__ void __launch_bounds__(tile_threads)
    split_tile_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
                      const __grid_constant__ TileSource<2> source) {
  for_tiles<degree>(e, source, [&](const TileLocation<2>& location) {
    if (!location.split) return;
    const int x = location.first[0] + TileThread().column;
    for_tile_pixels(e, location, [&](int j, long long index) {
      evaluate_alone<degree, 2>(coefficients, e, x, location.first[1] + j, 0, index);
    });
  });
}

using TiledKernel = void (*)(const float*, Evaluation, TileSource<2>);

TiledKernel split_tile_kernel_of(int degree) {
  return with_tiled_degree(
      degree, [](auto constant) -> TiledKernel { return &split_tile_kernel<constant.value>; });
}

template <int pitch>
TiledKernel kernel_of(int degree, bool floats) {
  return with_tiled_degree(degree, [&](auto constant) -> TiledKernel {
    return floats ? &tiled_kernel<constant.value, pitch, true>
                  : &tiled_kernel<constant.value, pitch, false>;
  });
}

struct PitchKernel {
  TiledKernel function;
  int pitch;
};

// The kernels for both pitches.
std::array<PitchKernel, 2> pitch_kernels_of(int degree, bool floats) {
  return {{{kernel_of<flat_pitch>(degree, floats), flat_pitch},
           {kernel_of<steep_pitch>(degree, floats), steep_pitch}}};
}

std::size_t max_tile_bytes(const CallSite& site) {
  return std::min(wanted_shared, max_shared(site));
}

bool evaluate_plane(const CallSite& site, const backend::Queue& queue, const float* coefficients,
                    const Evaluation& e, int degree) {
  const auto source = plane_source(e, degree);
  if (!source) return false;
  const auto kernels = pitch_kernels_of(degree, e.output.type == PixelType::f32);
  const bool steep = std::abs(e.points.m[4]) > 0.7 * std::abs(e.points.m[0]);
  const PitchKernel& kernel =
      steep || source->extent[0] > kernels.front().pitch ? kernels.back() : kernels.front();
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(kernel.pitch) *
                            static_cast<std::size_t>(source->extent[1]);
  if (source->extent[0] > kernel.pitch || bytes > max_tile_bytes(site)) return false;
  const dim3 grid = grid_of_tiles(e.output);
  launch_dependent_with_shared(site, queue, grid, dim3(tile_threads), bytes, kernel.function,
                           coefficients, e, *source);
  if (e.spline.rules.points == PointRule::period_minus_one) {
    launch(site, queue, grid, dim3(tile_threads), split_tile_kernel_of(degree), coefficients, e,
           *source);
  }
  return true;
}

void load_plane_kernels(const CallSite& site, int degree) {
  load(split_tile_kernel_of(degree), site);
  for (const bool floats : {false, true}) {
    for (const PitchKernel& kernel : pitch_kernels_of(degree, floats)) {
      load(kernel.function, site);
      allow_shared(kernel.function, max_tile_bytes(site), site);
    }
  }
}

}  // namespace

bool evaluate_tiled(const CallSite& site, const backend::Queue& queue, const float* coefficients,
                    const Evaluation& e, int dimensions, int degree) {
  if (degree == 0 || dimensions == 1) return false;
  return dimensions == 2 ? evaluate_plane(site, queue, coefficients, e, degree)
                         : evaluate_volume(site, queue, coefficients, e, degree);
}

void load_tiled_kernels(const CallSite& site, int dimensions, int degree) {
  if (degree == 0 || dimensions == 1) return;
  if (dimensions == 2) {
    load_plane_kernels(site, degree);
  } else {
    load_volume_kernels(site, degree);
  }
}

}  // namespace warpalign::cuda
