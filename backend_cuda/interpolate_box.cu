// Evaluation from a copy of the source in shared memory, under an affine transform.
#include "interpolate_box.hpp"
#include "interpolate_shared.cuh"
#include "interpolate_tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::cuda {
namespace {

// The pitches of boxes in shared memory. In planes, a warp goes along a row of the output. Where
// that is mostly a row of the source too, a multiple of the 32 banks is best; else anything but. In
// volumes a warp covers 16 x 2 pixels: rows half the banks apart.
constexpr int flat_pitch = 96;
constexpr int steep_pitch = 100;
constexpr int volume_pitch = 48;
constexpr int widest_pitch = 100;
constexpr std::size_t wanted_shared = 96 * 1024;

// `address`: of the first neighbour; planes lie `plane` bytes apart.
template <int degree, int pitch, int dimensions>
__device__ __forceinline__ float sum_box(const float (&t)[dimensions], unsigned address,
                                         unsigned plane) {
  constexpr auto along = std::make_integer_sequence<int, degree + 1>{};
  float w[3][degree + 1];
#pragma unroll
  for (int i = 0; i < dimensions; ++i) weights<degree>(t[i], w[i]);
  if constexpr (dimensions == 2) {
    return sum_box_plane<degree, pitch>(w[0], w[1], address, along);
  } else {
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k <= degree; ++k, address += plane) {
      sum = fmaf(w[2][k], sum_box_plane<degree, pitch>(w[0], w[1], address, along), sum);
    }
    return sum;
  }
}

/// Rows of a box, whatever the dimensions, and where they are found.
template <int dimensions>
struct BoxRows {
  int height;  // of a plane
  int count;

  __device__ __forceinline__ explicit BoxRows(const TileSource<dimensions>& source)
      : height(source.extent[1]),
        count(dimensions == 3 ? source.extent[1] * source.extent[dimensions - 1]
                              : source.extent[1]) {}
  /// In coefficient indices, y and z.
  __device__ __forceinline__ int2 of(const TilePlace<dimensions>& place, int row) const {
    if constexpr (dimensions == 2) return make_int2(place.corner[1] + row, 0);
    return make_int2(place.corner[1] + row % height, place.corner[dimensions - 1] + row / height);
  }
};

// Copies a box that lies within the coefficients; a lane has four of a row.
template <int pitch, int dimensions>
__device__ __forceinline__ void copy_box(const float* __restrict__ coefficients,
                                         const Evaluation& e, const TileSource<dimensions>& source,
                                         const TilePlace<dimensions>& place, float* target) {
  constexpr int lanes = dimensions == 2 ? 32 : 16;  // for a row
  constexpr int rows_at_once = tile_threads / lanes;
  const int x = static_cast<int>(threadIdx.x) % lanes * 4;
  if (x >= source.extent[0]) return;
  const BoxRows<dimensions> rows(source);
  const int stored = e.spline.stored[0];
  const int first = static_cast<int>(threadIdx.x) / lanes;
  if constexpr (dimensions == 2) {
    const float* from = coefficients + static_cast<long long>(place.corner[1] + first) * stored +
                        place.corner[0] + x;
    float* to = target + first * pitch + x;
    float* const end = target + rows.count * pitch;
#pragma unroll 4
    for (; to < end; to += rows_at_once * pitch, from += rows_at_once * stored) {
      __pipeline_memcpy_async(to, from, 4 * sizeof(float));
    }
  } else {
#pragma unroll 2
    for (int row = first; row < rows.count; row += rows_at_once) {
      const int2 at = rows.of(place, row);
      const float* from =
          coefficients + (static_cast<long long>(at.y) * e.spline.stored[1] + at.x) * stored;
      __pipeline_memcpy_async(target + row * pitch + x, from + place.corner[0] + x,
                              4 * sizeof(float));
    }
  }
}

// Copies any box, coefficient by coefficient, extended by the boundary's rule.
template <int pitch, int dimensions>
__device__ __forceinline__ void extend_box(const float* __restrict__ coefficients,
                                           const Evaluation& e,
                                           const TileSource<dimensions>& source,
                                           const TilePlace<dimensions>& place, float* target) {
  __shared__ int columns[widest_pitch];
  const int rule = e.spline.rules.extension;
  const int thread = static_cast<int>(threadIdx.x);
  const int width = source.extent[0];
  if (thread < width) {
    columns[thread] = wa_extend(rule, place.corner[0] + thread, e.spline.stored[0]);
  }
  __syncthreads();
  const BoxRows<dimensions> rows(source);
  for (int row = thread / warp_lanes; row < rows.count; row += tile_warps) {
    const int2 at = rows.of(place, row);
    const int y = wa_extend(rule, at.x, e.spline.stored[1]);
    const int z = wa_extend(rule, at.y, e.spline.stored[2]);
    const float* from =
        coefficients + (static_cast<long long>(z) * e.spline.stored[1] + y) * e.spline.stored[0];
    for (int x = thread % warp_lanes; x < width; x += warp_lanes) {
      if (y >= 0 && z >= 0 && columns[x] >= 0) {
        __pipeline_memcpy_async(target + row * pitch + x, from + columns[x], sizeof(float));
      } else {
        target[row * pitch + x] = e.spline.rules.cval;
      }
    }
  }
}

// Threads that a multiprocessor holds: 1024 on Turing, 1536 and more since.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int most_box_blocks = 1024 / tile_threads;
#else
inline constexpr int most_box_blocks = 1536 / tile_threads;
#endif

template <int degree, int dimensions>
inline constexpr int wanted_box_blocks = dimensions == 2 ? (degree == 3 ? 5 : 4)
                                                         : (degree == 3 ? 3 : 2);
template <int degree, int dimensions>
inline constexpr int box_blocks =
    wanted_box_blocks<degree, dimensions> < most_box_blocks ? wanted_box_blocks<degree, dimensions>
                                                            : most_box_blocks;

template <int degree, int dimensions, int pitch, bool floats>
__global__ void __launch_bounds__(tile_threads, box_blocks<degree, dimensions>)
    box_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
               const __grid_constant__ TileSource<dimensions> source) {
  extern __shared__ float4 shared_words[];
  float* copy = reinterpret_cast<float*>(shared_words);
  constexpr unsigned offset = magic_bits + degree / 2;
  const unsigned plane = dimensions == 3 ? 4 * pitch * source.extent[1] : 0;
  unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(copy)) - offset * (4 + 4 * pitch + plane);
  // Else the compiler adds the constants, which are too large for it, to each address by itself.
  asm volatile("" : "+r"(base));
  const bool rejects = e.spline.rules.points == PointRule::reject_outside;
  for_tiles<degree, dimensions>(e, source, [&](const TilePlace<dimensions>& place) {
    if (rejects && place.apart) {
      blank_tile(e, place);
      return;
    }
    if (place.within && source.words) {
      copy_box<pitch>(coefficients, e, source, place, copy);
    } else {
      extend_box<pitch>(coefficients, e, source, place, copy);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const auto value = [&](const unsigned(&k)[dimensions], const float(&t)[dimensions]) {
      unsigned address = k[1] * (4 * pitch) + (k[0] * 4 + base);
      if constexpr (dimensions == 3) address += k[2] * plane;
      return sum_box<degree, pitch>(t, address, plane);
    };
    if (rejects && !place.within) {
      evaluate_tile<degree, dimensions, floats, true>(e, source, place, value);
    } else {
      evaluate_tile<degree, dimensions, floats, false>(e, source, place, value);
    }
    __syncthreads();  // before the next tile's box arrives
  });
}

template <int dimensions>
using BoxKernel = void (*)(const float*, Evaluation, TileSource<dimensions>);

template <int degree, int dimensions, int pitch>
BoxKernel<dimensions> kernel_of(bool floats) {
  return floats ? &box_kernel<degree, dimensions, pitch, true>
                : &box_kernel<degree, dimensions, pitch, false>;
}

template <int dimensions, int pitch>
BoxKernel<dimensions> kernel_of_degree(int degree, bool floats) {
  switch (degree) {
    case 3:
      return kernel_of<3, dimensions, pitch>(floats);
    case 4:
      return kernel_of<4, dimensions, pitch>(floats);
    default:
      return kernel_of<5, dimensions, pitch>(floats);
  }
}

template <int dimensions>
struct Box {
  BoxKernel<dimensions> kernel;
  int pitch;
};

// All pitches that a box of the dimensions may have.
std::array<Box<2>, 2> boxes_of(int degree, bool floats, Box<2>) {
  return {{{kernel_of_degree<2, flat_pitch>(degree, floats), flat_pitch},
           {kernel_of_degree<2, steep_pitch>(degree, floats), steep_pitch}}};
}
std::array<Box<3>, 1> boxes_of(int degree, bool floats, Box<3>) {
  return {{{kernel_of_degree<3, volume_pitch>(degree, floats), volume_pitch}}};
}

std::size_t most_for_box(const Place& place) { return std::min(wanted_shared, most_shared(place)); }

template <int dimensions>
bool evaluate(const Place& place, const backend::Queue& queue, const float* coefficients,
              const Evaluation& e, int degree) {
  const auto source = tile_source<dimensions>(e, degree);
  if (!source) return false;
  const auto boxes = boxes_of(degree, e.output.type == PixelType::f32, Box<dimensions>{});
  const bool steep = std::abs(e.points.m[4]) > 0.7 * std::abs(e.points.m[0]);
  const Box<dimensions>& box =
      steep || source->extent[0] > boxes.front().pitch ? boxes.back() : boxes.front();
  std::size_t bytes = sizeof(float) * static_cast<std::size_t>(box.pitch);
  for (int i = 1; i < dimensions; ++i) bytes *= static_cast<std::size_t>(source->extent[i]);
  if (source->extent[0] > box.pitch || bytes > most_for_box(place)) return false;
  launch_with_shared(place, queue, grid_of_tiles<dimensions>(e.output), dim3(tile_threads), bytes,
                     box.kernel, coefficients, e, *source);
  return true;
}

template <int dimensions>
void load_boxes(const Place& place, int degree) {
  for (const bool floats : {false, true}) {
    for (const auto& box : boxes_of(degree, floats, Box<dimensions>{})) {
      load(box.kernel, place);
      allow_shared(box.kernel, most_for_box(place), place);
    }
  }
}

}  // namespace

bool evaluate_from_boxes(const Place& place, const backend::Queue& queue, const float* coefficients,
                         const Evaluation& e, int dimensions, int degree) {
  if (degree < 3 || dimensions < 2) return false;
  if (dimensions == 3 && degree == 3 && evaluate_volume(place, queue, coefficients, e)) return true;
  return dimensions == 2 ? evaluate<2>(place, queue, coefficients, e, degree)
                         : evaluate<3>(place, queue, coefficients, e, degree);
}

void load_box_kernels(const Place& place, int dimensions, int degree) {
  if (degree < 3 || dimensions < 2) return;
  if (dimensions == 2) {
    load_boxes<2>(place, degree);
  } else {
    load_boxes<3>(place, degree);
    if (degree == 3) load_volume_kernels(place);
  }
}

}  // namespace warpalign::cuda
