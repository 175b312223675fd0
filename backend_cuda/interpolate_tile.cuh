// Affine transforms by tiles of the output: coordinates without double precision a pixel.
//
// Relative to the box of coefficients that a tile needs, a point is at most 2^8 away. The matrix is
// split into multiples of 2^-16, with which sums of products are exact in float, and a rest that is
// added to the fraction.
#pragma once

#include "interpolate_kernel.cuh"
#include "interpolate_tile.hpp"
#include "launch.hpp"

namespace warpalign::cuda {

inline constexpr int tile_warps = tile_threads / warp_lanes;

/// A thread's place in a tile: its pixels are those of one column along the last axis.
template <int dimensions>
struct TileThread {
  int at[dimensions - 1];
  int first;
  static constexpr int step = dimensions == 2 ? tile_threads / TileShape<2>::width : 1;

  __device__ __forceinline__ TileThread() {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (dimensions == 2) {
      at[0] = thread % TileShape<2>::width;
      first = thread / TileShape<2>::width;
    } else {
      at[0] = thread % TileShape<3>::width;
      at[1] = thread / TileShape<3>::width;
      first = 0;
    }
  }
};
static_assert(TileShape<3>::width * TileShape<3>::height == tile_threads);

/// Adding this leaves the nearest integer in the low bits of a float.
inline constexpr float magic = 12582912.0f;  // 1.5 * 2^23
inline constexpr unsigned magic_bits = 0x4b400000U;

/// A coordinate of a thread's pixels: of the first, and the step.
template <int degree, int dimensions>
struct Coordinate {
  static constexpr float shift = degree % 2 == 0 ? 0.0f : 0.5f;  // floor() is rint(x - 1/2)
  float high, low, step_high, step_low;

  __device__ __forceinline__ Coordinate(const TileSource<dimensions>& source, int axis,
                                        double origin, const TileThread<dimensions>& thread) {
    const float* row_high = source.high + dimensions * axis;
    const float* row_low = source.low + dimensions * axis;
    high = rintf(static_cast<float>(origin) * fixed_point) * (1.0f / fixed_point);
    low = static_cast<float>(origin - static_cast<double>(high));
#pragma unroll
    for (int i = 0; i < dimensions - 1; ++i) {
      high = fmaf(static_cast<float>(thread.at[i]), row_high[i], high);
      low = fmaf(static_cast<float>(thread.at[i]), row_low[i], low);
    }
    high -= shift;
    low += shift;
    step_high = row_high[dimensions - 1];
    step_low = row_low[dimensions - 1];
  }
  /// The integer part, above magic_bits, and the fraction in the weights' range.
  __device__ __forceinline__ unsigned place(float j, float& t) const {
    const float at = fmaf(j, step_high, high);
    const float whole = at + magic;
    t = fmaf(j, step_low, (at - (whole - magic)) + low);
    return __float_as_uint(whole);
  }
};

/// Where a tile's points lie.
template <int dimensions>
struct TilePlace {
  int first[3];               // the tile's first pixel
  double origin[dimensions];  // its point
  int corner[dimensions];     // of the box of coefficients; along x a multiple of 4
  bool within;                // all of the box is there
  bool apart;                 // nothing of it

  template <int degree>
  static __device__ __forceinline__ TilePlace of(const Evaluation& e,
                                                 const TileSource<dimensions>& source, int x, int y,
                                                 int z) {
    TilePlace place;
    place.first[0] = x;
    place.first[1] = y;
    place.first[2] = z;
    place.within = true;
    place.apart = false;
#pragma unroll
    for (int i = 0; i < dimensions; ++i) {
      place.origin[i] = product_with_row<dimensions>(e.points.m + 4 * i, x, y, z);
      const int least = __double2int_rd(place.origin[i] + source.least[i]);
      const int corner = least + e.spline.rules.margin - degree / 2 - 1;
      place.corner[i] = i == 0 ? corner & ~3 : corner;
      const int end = place.corner[i] + source.extent[i];
      place.within = place.within && place.corner[i] >= 0 && end <= e.spline.stored[i];
      place.apart = place.apart || end <= 0 || place.corner[i] >= e.spline.stored[i];
    }
    return place;
  }
};

// `constant`: whether a coordinate whole + t, counted as the samples are, has a value. The rule
// itself is asked only where rounding might matter.
template <class Exactly>
__device__ __forceinline__ bool has_value(const Evaluation& e, int axis, int whole, float t,
                                          Exactly exactly) {
  constexpr float doubtful = 1e-3f;
  const float below = static_cast<float>(whole) + t;
  const float above = static_cast<float>(whole - (e.spline.samples[axis] - 1)) + t;
  if (below < -doubtful || above > doubtful) return false;
  if (below > doubtful && above < -doubtful) return true;
  PlaceOnAxis place;
  return find_place(e.spline.rules, e.spline.samples[axis], exactly(), true, place);
}

// The pixels of a tile that are a thread's: visit(number along the last axis, index).
template <int dimensions, class Visit>
__device__ __forceinline__ void for_tile_pixels(const Evaluation& e,
                                                const TilePlace<dimensions>& place, Visit visit) {
  const TileThread<dimensions> thread;
  const int x = place.first[0] + thread.at[0];
  long long row = place.first[1] + thread.first;
  long long stride = static_cast<long long>(TileThread<dimensions>::step) * e.output.width;
  int count = e.output.height - place.first[1];
  bool inside = x < e.output.width;
  if constexpr (dimensions == 3) {
    const int y = place.first[1] + thread.at[1];
    inside = inside && y < e.output.height;
    row = static_cast<long long>(place.first[2]) * e.output.height + y;
    stride = static_cast<long long>(e.output.width) * e.output.height;
    count = e.output.depth - place.first[2];
  }
  if (!inside) return;
  constexpr int most = TileShape<dimensions>::last;
  count = min(count, most);
  long long index = row * e.output.width + x;
#pragma unroll 2
  for (int j = thread.first; j < count; j += TileThread<dimensions>::step, index += stride) {
    visit(j, index);
  }
}

// Evaluates a tile: value(k, t) at integer parts k, counted from the box's corner and above
// `magic_bits + degree / 2`, and fractions t. `check`: points outside have cval.
template <int degree, int dimensions, bool floats, bool check, class Value>
__device__ __forceinline__ void evaluate_tile(const Evaluation& e,
                                              const TileSource<dimensions>& source,
                                              const TilePlace<dimensions>& place, Value value) {
  using Along = Coordinate<degree, dimensions>;
  const TileThread<dimensions> thread;
  const int margin = e.spline.rules.margin;
  const auto along = [&](int axis) {
    return Along(source, axis, place.origin[axis] - (place.corner[axis] - margin), thread);
  };
  const Along coordinate[3] = {along(0), along(1), along(dimensions - 1)};
  for_tile_pixels(e, place, [&](int j, long long index) {
    unsigned k[dimensions];
    float t[dimensions];
#pragma unroll
    for (int i = 0; i < dimensions; ++i) {
      k[i] = coordinate[i].place(static_cast<float>(j), t[i]);
    }
    float result = value(k, t);
    if constexpr (check) {
#pragma unroll
      for (int i = 0; i < dimensions; ++i) {
        const int whole = static_cast<int>(k[i] - magic_bits) + place.corner[i] - margin;
        const auto exactly = [&] {
          const int y = place.first[1] + (dimensions == 2 ? j : thread.at[dimensions - 2]);
          return product_with_row<dimensions>(e.points.m + 4 * i, place.first[0] + thread.at[0], y,
                                              place.first[2] + j);
        };
        if (!has_value(e, i, whole, t[i], exactly)) result = e.spline.rules.cval;
      }
    }
    if constexpr (floats) {
      static_cast<float*>(e.output.pixels)[index] = result;
    } else {
      store(e.output, index, result);
    }
  });
}

// Gives all pixels of a tile cval.
template <int dimensions>
__device__ __forceinline__ void blank_tile(const Evaluation& e,
                                           const TilePlace<dimensions>& place) {
  for_tile_pixels(e, place,
                  [&](int, long long index) { store(e.output, index, e.spline.rules.cval); });
}

// Calls visit(place) for the tiles of a block.
template <int degree, int dimensions, class Visit>
__device__ __forceinline__ void for_tiles(const Evaluation& e, const TileSource<dimensions>& source,
                                          Visit visit) {
  using Shape = TileShape<dimensions>;
  const int x = static_cast<int>(blockIdx.x) * Shape::width;
  const int top = static_cast<int>(blockIdx.y) * Shape::height;
  const int down = static_cast<int>(gridDim.y) * Shape::height;
  constexpr int thick = Shape::last;
  const int front = dimensions == 3 ? static_cast<int>(blockIdx.z) * thick : 0;
  const int deep = static_cast<int>(gridDim.z) * thick;
#pragma unroll 1
  for (int z = front; z < e.output.depth; z += deep) {
#pragma unroll 1
    for (int y = top; y < e.output.height; y += down) {
      visit(TilePlace<dimensions>::template of<degree>(e, source, x, y, z));
    }
  }
}

/// The grid of tiles over an output.
template <int dimensions>
[[nodiscard]] dim3 grid_of_tiles(const OutputImage& output) {
  using Shape = TileShape<dimensions>;
  dim3 grid = tile_grid(output.width, output.height, Shape::width, Shape::height);
  if (dimensions == 3) {
    grid.z =
        static_cast<unsigned>(std::min<std::int64_t>(divide_up(output.depth, Shape::depth), 65535));
  }
  return grid;
}

}  // namespace warpalign::cuda
