// Evaluation of cubic splines in space from a copy of the source in shared memory, under an affine
// transform.
//
// 64 neighbours a point: shared memory is what bounds it. A warp evaluates 16 x 1 x 2 pixels, and
// rows and planes of the copy lie so that its lanes meet in a bank as seldom as may be.
#include "fixed_point.cuh"
#include "interpolate_box.hpp"
#include "interpolate_shared.cuh"
#include "interpolate_tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::cuda {
namespace {

constexpr int side = 16;  // of a tile, along x and y
constexpr int greatest_depth = 16;
constexpr int threads = 256;
constexpr int warps = threads / warp_lanes;
constexpr int pitch = 32;           // of the copy's rows: a row begins where the one before did
constexpr int plane_offset = 16;    // planes begin half the banks apart
constexpr int longest_extent = 48;  // along y and z; more would not fit
constexpr std::size_t most_bytes = 110 * 1024;  // so that two blocks fit

/// What the tiles of a transform have in common.
struct VolumeSource {
  double least[3] = {};        // the least coordinates, from the tile's first point
  int extent[3] = {};          // coefficients that a tile needs
  int depth = 0;               // of a tile
  int plane = 0;               // floats from plane to plane of the copy
  bool words = false;          // whether rows of coefficients are aligned for copies of four
  long long along[3][3] = {};  // steps of x, y and z, from pixel to pixel along each axis, in 2^-32

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(float) * static_cast<std::size_t>(plane) * static_cast<std::size_t>(extent[2]);
  }
};

std::optional<VolumeSource> source_of_depth(const Evaluation& e, int depth) {
  constexpr int neighbours = 4;
  const int sides[3] = {side, side, depth};
  VolumeSource source;
  for (int axis = 0; axis < 3; ++axis) {
    double span = 0;
    for (int i = 0; i < 3; ++i) {
      const double step = e.points.m[4 * axis + i];
      const double reach = step * (sides[i] - 1);
      span += std::abs(reach);
      source.least[axis] += std::min(reach, 0.0);
      source.along[axis][i] = to_fixed(step);
    }
    source.extent[axis] = static_cast<int>(std::ceil(span)) + neighbours + 2;
  }
  source.extent[0] = (source.extent[0] + 3 + 3) / 4 * 4;  // whose corner is a multiple of 4
  source.depth = depth;
  source.plane = (pitch * source.extent[1] - plane_offset + 31) / 32 * 32 + plane_offset;
  source.words = e.spline.stored[0] % 4 == 0;
  if (source.extent[0] > pitch || std::max(source.extent[1], source.extent[2]) > longest_extent ||
      source.bytes() > most_bytes) {
    return std::nullopt;
  }
  return source;
}

// Of the deepest tile that fits.
std::optional<VolumeSource> volume_source(const Evaluation& e) {
  if (e.points.kind != PointKind::affine || e.spline.rules.points == PointRule::period_minus_one ||
      !all_near(e, 3)) {
    return std::nullopt;
  }
  for (int depth = greatest_depth; depth >= 8; depth -= 4) {
    if (const auto source = source_of_depth(e, depth)) return source;
  }
  return std::nullopt;
}

/// Where a tile lies.
struct VolumePlace {
  int first[3];      // its first pixel
  double origin[3];  // that pixel's point
  int corner[3];     // of the copy, in coefficient indices; along x a multiple of 4
  bool within;       // all of the copy is there
  bool apart;        // nothing of it
  bool whole;        // all of the tile's pixels are there

  __device__ __forceinline__ VolumePlace(const Evaluation& e, const VolumeSource& source, int y,
                                         int z) {
    first[0] = static_cast<int>(blockIdx.x) * side;
    first[1] = y;
    first[2] = z;
    within = true;
    apart = false;
    whole = first[0] + side <= e.output.width && y + side <= e.output.height &&
            z + source.depth <= e.output.depth;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      origin[i] = product_with_row<3>(e.points.m + 4 * i, first[0], y, z);
      const int at = __double2int_rd(origin[i] + source.least[i]) + e.spline.rules.margin - 2;
      corner[i] = i == 0 ? at & ~3 : at;
      const int end = corner[i] + source.extent[i];
      within = within && corner[i] >= 0 && end <= e.spline.stored[i];
      apart = apart || end <= 0 || corner[i] >= e.spline.stored[i];
    }
  }
};

// A copy that lies within the coefficients: a thread copies four of a row, in every plane.
__device__ __forceinline__ void copy_rows(const float* __restrict__ coefficients,
                                          const Evaluation& e, const VolumeSource& source,
                                          const VolumePlace& place, float* box) {
  constexpr int lanes = pitch / 4;
  const int x = static_cast<int>(threadIdx.x) % lanes * 4;
  if (x >= source.extent[0]) return;
  const long long width = e.spline.stored[0];
  const long long slice = width * e.spline.stored[1];
  const float* corner =
      coefficients + place.corner[2] * slice + place.corner[1] * width + place.corner[0] + x;
  for (int y = static_cast<int>(threadIdx.x) / lanes; y < source.extent[1]; y += threads / lanes) {
    const float* from = corner + y * width;
    float* to = box + y * pitch + x;
#pragma unroll 4
    for (int z = 0; z < source.extent[2]; ++z, from += slice, to += source.plane) {
      __pipeline_memcpy_async(to, from, 4 * sizeof(float));
    }
  }
}

// Any copy, coefficient by coefficient, extended by the boundary's rule.
__device__ __forceinline__ void extend_rows(const float* __restrict__ coefficients,
                                            const Evaluation& e, const VolumeSource& source,
                                            const VolumePlace& place, float* box) {
  __shared__ int places[3][longest_extent];
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < 3 * longest_extent; k += threads) {
    const int axis = k / longest_extent, i = k % longest_extent;
    places[axis][i] =
        wa_extend(e.spline.rules.extension, place.corner[axis] + i, e.spline.stored[axis]);
  }
  __syncthreads();
  const int lane = thread % warp_lanes;
  if (lane >= source.extent[0]) return;
  const int x = places[0][lane];
  for (int row_z = 0; row_z < source.extent[2]; ++row_z) {
    const int z = places[2][row_z];
    for (int row_y = thread / warp_lanes; row_y < source.extent[1]; row_y += warps) {
      const int y = places[1][row_y];
      float* to = box + row_z * source.plane + row_y * pitch + lane;
      if (x >= 0 && y >= 0 && z >= 0) {
        const long long row = static_cast<long long>(z) * e.spline.stored[1] + y;
        __pipeline_memcpy_async(to, coefficients + row * e.spline.stored[0] + x, sizeof(float));
      } else {
        *to = e.spline.rules.cval;
      }
    }
  }
}

/// A pixel and its point.
struct VolumeWalk {
  int at[3];           // the pixel, from the tile's first
  long long point[3];  // from the copy's corner, in fixed point
};

// `address`: of the first neighbour of a point at the copy's corner; planes lie `plane` bytes
// apart.
__device__ __forceinline__ float sum_of_neighbours(const VolumeWalk& walk, unsigned address,
                                                   unsigned plane) {
  const FixedParts parts[3] = {FixedParts(walk.point[0]), FixedParts(walk.point[1]),
                               FixedParts(walk.point[2])};
  address += parts[2].whole * plane + parts[1].whole * (4 * pitch) + parts[0].whole * 4;
  constexpr auto along = std::make_integer_sequence<int, 4>{};
  float w[3][4];
#pragma unroll
  for (int i = 0; i < 3; ++i) wa_bspline_weights_3(parts[i].fraction(), w[i]);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k, address += plane) {
    sum = fmaf(w[2][k], sum_box_plane<3, pitch>(w[0], w[1], address, along), sum);
  }
  return sum;
}

__device__ __forceinline__ bool has_value_here(const Evaluation& e, const VolumePlace& place,
                                               const VolumeWalk& walk) {
  bool has = true;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const auto exactly = [&] {
      return product_with_row<3>(e.points.m + 4 * i, place.first[0] + walk.at[0],
                                 place.first[1] + walk.at[1], place.first[2] + walk.at[2]);
    };
    const FixedParts at(walk.point[i]);
    has = has && has_value(e, i, at.whole + place.corner[i] - e.spline.rules.margin, at.fraction(),
                           exactly);
  }
  return has;
}

// Calls visit(walk, index) for a thread's pixels that are in the output: `whole`, all of them.
template <bool whole, class Visit>
__device__ __forceinline__ void for_pixels(const Evaluation& e, const VolumeSource& source,
                                           const VolumePlace& place, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  VolumeWalk walk;
  walk.at[0] = lane % side;
  long long start[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const double from =
        place.origin[i] - static_cast<double>(place.corner[i] - e.spline.rules.margin);
    start[i] = fixed_of(from) + lane % side * source.along[i][0] + lane / side * source.along[i][2];
  }
  const long long slice = static_cast<long long>(e.output.width) * e.output.height;
  for (int y = static_cast<int>(threadIdx.x) / warp_lanes; y < side; y += warps) {
    walk.at[1] = y;
    walk.at[2] = lane / side;
#pragma unroll
    for (int i = 0; i < 3; ++i) walk.point[i] = start[i] + y * source.along[i][1];
    long long index = (place.first[2] + walk.at[2]) * slice +
                      static_cast<long long>(place.first[1] + y) * e.output.width + place.first[0] +
                      walk.at[0];
    const bool in_plane =
        place.first[0] + walk.at[0] < e.output.width && place.first[1] + y < e.output.height;
#pragma unroll 1
    for (; walk.at[2] < source.depth; walk.at[2] += 2, index += 2 * slice) {
      if (whole || (in_plane && place.first[2] + walk.at[2] < e.output.depth)) {
        visit(walk, index);
      }
#pragma unroll
      for (int i = 0; i < 3; ++i) walk.point[i] += 2 * source.along[i][2];
    }
  }
}

template <bool floats>
__device__ __forceinline__ void resample_volume_tile(const float* __restrict__ coefficients,
                                                     const Evaluation& e,
                                                     const VolumeSource& source,
                                                     const VolumePlace& place, float* box) {
  const bool rejects = e.spline.rules.points == PointRule::reject_outside;
  if (rejects && place.apart) {
    for_pixels<false>(e, source, place, [&](const VolumeWalk&, long long index) {
      store_pixel<floats>(e.output, index, e.spline.rules.cval);
    });
    return;
  }
  if (place.within && source.words) {
    copy_rows(coefficients, e, source, place, box);
  } else {
    extend_rows(coefficients, e, source, place, box);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const unsigned plane = 4U * static_cast<unsigned>(source.plane);
  const unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(box)) - (plane + 4 * pitch + 4);
  const bool careful = rejects && !place.within;
  if (place.whole && !careful) {
    for_pixels<true>(e, source, place, [&](const VolumeWalk& walk, long long index) {
      store_pixel<floats>(e.output, index, sum_of_neighbours(walk, base, plane));
    });
  } else {
    for_pixels<false>(e, source, place, [&](const VolumeWalk& walk, long long index) {
      const bool has = !careful || has_value_here(e, place, walk);
      store_pixel<floats>(e.output, index,
                          has ? sum_of_neighbours(walk, base, plane) : e.spline.rules.cval);
    });
  }
  __syncthreads();  // before the next tile's copy arrives
}

template <bool floats>
__global__ void __launch_bounds__(threads, 2)
    volume_kernel(const float* __restrict__ coefficients, const __grid_constant__ Evaluation e,
                  const __grid_constant__ VolumeSource source) {
  extern __shared__ float4 shared_words[];
  float* box = reinterpret_cast<float*>(shared_words);
#pragma unroll 1
  for (int z = static_cast<int>(blockIdx.z) * source.depth; z < e.output.depth;
       z += static_cast<int>(gridDim.z) * source.depth) {
#pragma unroll 1
    for (int y = static_cast<int>(blockIdx.y) * side; y < e.output.height;
         y += static_cast<int>(gridDim.y) * side) {
      resample_volume_tile<floats>(coefficients, e, source, VolumePlace(e, source, y, z), box);
    }
  }
}

using VolumeKernel = void (*)(const float*, Evaluation, VolumeSource);

VolumeKernel kernel_of(bool floats) {
  return floats ? &volume_kernel<true> : &volume_kernel<false>;
}

}  // namespace

bool evaluate_volume(const Place& place, const backend::Queue& queue, const float* coefficients,
                     const Evaluation& e) {
  const auto source = volume_source(e);
  if (!source || source->bytes() > most_shared(place)) return false;
  dim3 grid = tile_grid(e.output.width, e.output.height, side, side);
  grid.z = static_cast<unsigned>(
      std::min<std::int64_t>(divide_up(e.output.depth, source->depth), 65535));
  launch_with_shared(place, queue, grid, dim3(threads), source->bytes(),
                     kernel_of(e.output.type == PixelType::f32), coefficients, e, *source);
  return true;
}

void load_volume_kernels(const Place& place) {
  for (const bool floats : {false, true}) {
    load(kernel_of(floats), place);
    allow_shared(kernel_of(floats), std::min(most_bytes, most_shared(place)), place);
  }
}

}  // namespace warpalign::cuda
