// Evaluation of splines in three dimensions under an affine transform from a copy of the source in
// shared memory.
//
// A cubic spline has 64 neighbours per point, so shared memory is the bottleneck. A warp evaluates
// 16 x 1 x 2 pixels, and the layout of the copy's rows and planes minimizes the bank conflicts of
// its lanes.
#include "device/dependent_launch.cuh"
#include "spline/interpolate_shared.cuh"
#include "spline/interpolate_tiled.hpp"
#include "spline/tile_source.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <optional>

namespace warpalign::cuda {
namespace {

constexpr int side = 16;  // of a tile along x and y
constexpr int max_depth = 16;
constexpr int threads = 256;
constexpr int warps = threads / warp_lanes;
// The pitches of rows. With the usual pitch every row begins in the same bank as the row before;
// the other pitch is for wider copies.
constexpr int usual_pitch = 32;
constexpr int wide_pitch = 48;
constexpr int plane_offset = 16;               // consecutive planes begin half the banks apart
constexpr int max_yz_extent = 48;              // along y and z; a longer one would not fit
constexpr std::size_t max_bytes = 110 * 1024;  // two blocks per multiprocessor

/// The data that all tiles of a transform share.
struct VolumeSource : TileSource<3> {
  int depth = 0;  // of a tile
  int pitch = 0;  // floats from row to row of the copy
  int plane = 0;  // floats from plane to plane

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(float) * static_cast<std::size_t>(plane) * static_cast<std::size_t>(extent[2]);
  }
};

// The source for the deepest tile whose copy fits into `maximum` bytes.
std::optional<VolumeSource> volume_source(const Evaluation& e, int degree, std::size_t maximum) {
  for (const int pitch : {usual_pitch, wide_pitch}) {
    for (int depth = max_depth; depth >= 8; depth -= 4) {
      const auto tile = tile_source<3>(e, degree, {side, side, depth});
      if (!tile) return std::nullopt;
      VolumeSource source{*tile};
      source.depth = depth;
      source.pitch = pitch;
      source.plane = (pitch * source.extent[1] - plane_offset + 31) / 32 * 32 + plane_offset;
      if (source.extent[0] <= pitch && source.extent[1] <= max_yz_extent &&
          source.extent[2] <= max_yz_extent && source.bytes() <= maximum) {
        return source;
      }
    }
  }
  return std::nullopt;
}

/// The location of a tile.
struct VolumeLocation : TileLocation<3> {
  bool whole;  // all of the tile's pixels lie in the output
};

template <int degree>
__device__ __forceinline__ VolumeLocation location_of(const Evaluation& e,
                                                      const VolumeSource& source, int y, int z) {
  const int x = static_cast<int>(blockIdx.x) * side;
  return {TileLocation<3>::of<degree>(e, source, x, y, z), x + side <= e.output.width &&
                                                               y + side <= e.output.height &&
                                                               z + source.depth <= e.output.depth};
}

// Copies coefficients that all lie within the array; a thread copies four coefficients of a row in
// every plane.
template <int pitch>
__device__ __forceinline__ void copy_inside(const float* __restrict__ coefficients,
                                            const Evaluation& e, const VolumeSource& source,
                                            const VolumeLocation& location, float* copy) {
  constexpr int lanes = pitch == usual_pitch ? 8 : 16;
  const int x = static_cast<int>(threadIdx.x) % lanes * 4;
  if (x >= source.extent[0]) return;
  const long long width = e.spline.stored[0];
  const long long slice = width * e.spline.stored[1];
  const float* corner = coefficients + location.corner[2] * slice + location.corner[1] * width +
                        location.corner[0] + x;
  for (int y = static_cast<int>(threadIdx.x) / lanes; y < source.extent[1]; y += threads / lanes) {
    const float* from = corner + y * width;
    float* to = copy + y * pitch + x;
#pragma unroll 4
    for (int z = 0; z < source.extent[2]; ++z, from += slice, to += source.plane) {
      __pipeline_memcpy_async(to, from, 4 * sizeof(float));
    }
  }
}

// Makes any copy, coefficient by coefficient, extended by the boundary rule.
template <int pitch>
__device__ __forceinline__ void copy_extended(const float* __restrict__ coefficients,
                                              const Evaluation& e, const VolumeSource& source,
                                              const VolumeLocation& location, float* copy) {
  __shared__ int locations[3][max_yz_extent];
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < 3 * max_yz_extent; k += threads) {
    const int axis = k / max_yz_extent, i = k % max_yz_extent;
    locations[axis][i] =
        wa_extend(e.spline.rules.extension, location.corner[axis] + i, e.spline.stored[axis]);
  }
  __syncthreads();
  for (int column = thread % warp_lanes; column < source.extent[0]; column += warp_lanes) {
    const int x = locations[0][column];
    for (int row_z = 0; row_z < source.extent[2]; ++row_z) {
      const int z = locations[2][row_z];
      for (int row_y = thread / warp_lanes; row_y < source.extent[1]; row_y += warps) {
        const int y = locations[1][row_y];
        float* to = copy + row_z * source.plane + row_y * pitch + column;
        if (x >= 0 && y >= 0 && z >= 0) {
          const long long row = static_cast<long long>(z) * e.spline.stored[1] + y;
          __pipeline_memcpy_async(to, coefficients + row * e.spline.stored[0] + x, sizeof(float));
        } else {
          *to = e.spline.rules.cval;
        }
      }
    }
  }
}

/// A pixel and its point.
struct VolumeWalk {
  int at[3];           // the pixel, relative to the tile's first
  long long point[3];  // relative to the corner of the copy, in fixed point
};

// The interpolated value. `address` is that of the first neighbour of a point at the corner of the
// copy; planes are `plane` bytes apart.
template <int degree, int pitch>
__device__ __forceinline__ float sum_of_neighbours(const Located<degree> (&at)[3], unsigned address,
                                                   unsigned plane) {
  address += at[2].whole * plane + at[1].whole * (4 * pitch) + at[0].whole * 4;
  float w[3][degree + 1];
#pragma unroll
  for (int i = 0; i < 3; ++i) weights<degree>(at[i].t, w[i]);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k <= degree; ++k, address += plane) {
    sum = fmaf(w[2][k],
               sum_tile_plane<degree, pitch>(w[0], w[1], address,
                                             std::make_integer_sequence<int, degree + 1>{}),
               sum);
  }
  return sum;
}

// Calls visit(walk, index) for the pixels of a thread that lie in the output. `whole`: all pixels
// of the tile do.
template <int degree, bool whole, class Visit>
__device__ __forceinline__ void for_pixels(const Evaluation& e, const VolumeSource& source,
                                           const VolumeLocation& location, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  VolumeWalk walk;
  walk.at[0] = lane % side;
  long long start[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    start[i] = location.start<degree>(e, i) + lane % side * source.along[i][0] +
               lane / side * source.along[i][2];
  }
  const long long slice = static_cast<long long>(e.output.width) * e.output.height;
  for (int y = static_cast<int>(threadIdx.x) / warp_lanes; y < side; y += warps) {
    walk.at[1] = y;
    walk.at[2] = lane / side;
#pragma unroll
    for (int i = 0; i < 3; ++i) walk.point[i] = start[i] + y * source.along[i][1];
    long long index = (location.first[2] + walk.at[2]) * slice +
                      static_cast<long long>(location.first[1] + y) * e.output.width +
                      location.first[0] + walk.at[0];
    const bool in_plane =
        location.first[0] + walk.at[0] < e.output.width && location.first[1] + y < e.output.height;
#pragma unroll 1
    for (; walk.at[2] < source.depth; walk.at[2] += 2, index += 2 * slice) {
      if (whole || (in_plane && location.first[2] + walk.at[2] < e.output.depth)) {
        visit(walk, index);
      }
#pragma unroll
      for (int i = 0; i < 3; ++i) walk.point[i] += 2 * source.along[i][2];
    }
  }
}

template <int degree, int pitch, bool floats>
__device__ __forceinline__ void evaluate_volume_tile(const float* __restrict__ coefficients,
                                                     const Evaluation& e,
                                                     const VolumeSource& source,
                                                     const VolumeLocation& location, float* copy) {
  const bool rejects = e.spline.rules.points == PointRule::reject_outside;
  if (rejects && location.outside) {
    for_pixels<degree, false>(e, source, location, [&](const VolumeWalk&, long long index) {
      store_pixel<floats>(e.output, index, e.spline.rules.cval);
    });
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
  const unsigned plane = 4U * static_cast<unsigned>(source.plane);
  const unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(copy)) - degree / 2 * (plane + 4 * pitch + 4);
  const auto visitor = [&](bool careful) {
    return [&, careful](const VolumeWalk& walk, long long index) {
      const Located<degree> at[3] = {Located<degree>(walk.point[0]), Located<degree>(walk.point[1]),
                                     Located<degree>(walk.point[2])};
      const bool has = !careful || has_value_here(e, static_cast<const TileLocation<3>&>(location),
                                                  walk.at[0], walk.at[1], walk.at[2], at);
      store_pixel<floats>(
          e.output, index,
          has ? sum_of_neighbours<degree, pitch>(at, base, plane) : e.spline.rules.cval);
    };
  };
  const bool careful = rejects && !location.inside;
  if (location.whole && !careful) {
    for_pixels<degree, true>(e, source, location, visitor(false));
  } else {
    for_pixels<degree, false>(e, source, location, visitor(careful));
  }
  __syncthreads();  // before the next tile's copy overwrites this one
}

// Calls visit(location) for every tile of a block.
template <int degree, class Visit>
__device__ __forceinline__ void for_volume_tiles(const Evaluation& e, const VolumeSource& source,
                                                 Visit visit) {
#pragma unroll 1
  for (int z = static_cast<int>(blockIdx.z) * source.depth; z < e.output.depth;
       z += static_cast<int>(gridDim.z) * source.depth) {
#pragma unroll 1
    for (int y = static_cast<int>(blockIdx.y) * side; y < e.output.height;
         y += static_cast<int>(gridDim.y) * side) {
      visit(location_of<degree>(e, source, y, z));
    }
  }
}

// At degree 1, the copies of three blocks fit.
template <int degree>
inline constexpr int volume_blocks = degree == 1 ? 3 : 2;

template <int degree, int pitch, bool floats>
__global__ void __launch_bounds__(threads, volume_blocks<degree>)
    volume_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
                  const __grid_constant__ VolumeSource source) {
  wait_for_previous_kernel();
  extern __shared__ float4 shared_words[];
  float* copy = reinterpret_cast<float*>(shared_words);
  for_volume_tiles<degree>(e, source, [&](const VolumeLocation& location) {
    evaluate_volume_tile<degree, pitch, floats>(coefficients, e, source, location, copy);
  });
}

// Evaluates, voxel by voxel, the tiles that `wrap` splits (see TileLocation::split).
template <int degree>
__global__ void __launch_bounds__(threads)
    split_tile_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
                      const __grid_constant__ VolumeSource source) {
  for_volume_tiles<degree>(e, source, [&](const VolumeLocation& location) {
    if (!location.split) return;
    for_pixels<degree, false>(e, source, location, [&](const VolumeWalk& walk, long long index) {
      evaluate_alone<degree, 3>(coefficients, e, location.first[0] + walk.at[0],
                                location.first[1] + walk.at[1], location.first[2] + walk.at[2],
                                index);
    });
  });
}

using VolumeKernel = void (*)(const float*, Evaluation, VolumeSource);

VolumeKernel kernel_of(int degree, int pitch, bool floats) {
  return with_tiled_degree(degree, [&](auto constant) -> VolumeKernel {
    constexpr int n = constant.value;
    if (pitch == usual_pitch) {
      return floats ? &volume_kernel<n, usual_pitch, true> : &volume_kernel<n, usual_pitch, false>;
    }
    return floats ? &volume_kernel<n, wide_pitch, true> : &volume_kernel<n, wide_pitch, false>;
  });
}

VolumeKernel split_tile_kernel_of(int degree) {
  return with_tiled_degree(
      degree, [](auto constant) -> VolumeKernel { return &split_tile_kernel<constant.value>; });
}

std::size_t max_for_copy(const CallSite& site) { return std::min(max_bytes, max_shared(site)); }

}  // namespace

bool evaluate_volume(const CallSite& site, const backend::Queue& queue, const float* coefficients,
                     const Evaluation& e, int degree) {
  const auto source = volume_source(e, degree, max_for_copy(site));
  if (!source) return false;
  dim3 grid = tile_grid(e.output.width, e.output.height, side, side);
  grid.z = static_cast<unsigned>(
      std::min<std::int64_t>(divide_up(e.output.depth, source->depth), 65535));
  launch_dependent_with_shared(site, queue, grid, dim3(threads), source->bytes(),
                           kernel_of(degree, source->pitch, e.output.type == PixelType::f32),
                           coefficients, e, *source);
  if (e.spline.rules.points == PointRule::period_minus_one) {
    launch(site, queue, grid, dim3(threads), split_tile_kernel_of(degree), coefficients, e,
           *source);
  }
  return true;
}

void load_volume_kernels(const CallSite& site, int degree) {
  load(split_tile_kernel_of(degree), site);
  for (const int pitch : {usual_pitch, wide_pitch}) {
    for (const bool floats : {false, true}) {
      const VolumeKernel kernel = kernel_of(degree, pitch, floats);
      load(kernel, site);
      allow_shared(kernel, max_for_copy(site), site);
    }
  }
}

}  // namespace warpalign::cuda
