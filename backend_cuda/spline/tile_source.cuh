// Affine transforms by tiles of the output: coordinates without double precision per pixel.
//
// Points are in fixed point, relative to the copy of the coefficients that a tile needs. The
// integer part is a separate word, so that a point near a knot always has the neighbours that
// belong to its fraction.
#pragma once

#include "device/launch.hpp"
#include "spline/fixed_point.cuh"
#include "spline/interpolate_kernel.cuh"
#include "spline/tile_source.hpp"

namespace warpalign::cuda {

inline constexpr int tile_warps = tile_threads / warp_lanes;

/// The location of a tile's points.
template <int dimensions>
struct TileLocation {
  int first[3];               // the tile's first pixel
  double origin[dimensions];  // its point
  int corner[dimensions];     // of the coefficients that it needs; a multiple of 4 along x
  bool inside;                // all coefficients that it needs exist
  bool outside;               // none of them exists
  bool split;                 // `wrap`: the end of a period splits the tile

  template <int degree>
  static __device__ __forceinline__ TileLocation of(const Evaluation& e,
                                                    const TileSource<dimensions>& source, int x,
                                                    int y, int z) {
    TileLocation location;
    location.first[0] = x;
    location.first[1] = y;
    location.first[2] = z;
    location.inside = true;
    location.outside = false;
    location.split = false;
#pragma unroll
    for (int i = 0; i < dimensions; ++i) {
      location.origin[i] = product_with_row<dimensions>(e.points.m + 4 * i, x, y, z);
      int minimum = __double2int_rd(location.origin[i] + source.minimum[i]);
      if (e.spline.rules.points == PointRule::period_minus_one) {
        const int behind =
            location.whole_periods(minimum, source.extent[i], e.spline.samples[i] - 1);
        location.origin[i] -= behind;
        minimum -= behind;
      }
      const int corner = minimum + e.spline.rules.margin - degree / 2 - 1;
      location.corner[i] = i == 0 ? corner & ~3 : corner;
      const int end = location.corner[i] + source.extent[i];
      location.inside = location.inside && location.corner[i] >= 0 && end <= e.spline.stored[i];
      location.outside = location.outside || end <= 0 || location.corner[i] >= e.spline.stored[i];
    }
    return location;
  }

  // The whole periods in a coordinate, or 0 if the tile is split. The tile's coordinates begin at
  // `minimum` and span less than `extent`, rounding included.
  __device__ __forceinline__ int whole_periods(int minimum, int extent, int period) {
    const int begin = minimum - 1;
    const int rest = period > 0 ? wa_extend_periodic(begin, period) : 0;
    if (rest + extent < period) return begin - rest;
    split = true;
    return 0;
  }

  /// The first pixel's coordinate relative to the corner of the copy, in fixed point. For even
  /// degrees half a pixel is added, so that the integer part is that of the middle neighbour.
  template <int degree>
  __device__ __forceinline__ long long start(const Evaluation& e, int axis) const {
    constexpr long long half = degree % 2 == 0 ? 1LL << 31 : 0;
    return fixed_of(origin[axis] - static_cast<double>(corner[axis] - e.spline.rules.margin)) +
           half;
  }
};

/// The neighbour from which a coordinate's weights count, and the argument of the weight functions.
template <int degree>
struct Located {
  int whole;
  float t;

  __device__ __forceinline__ explicit Located(long long coordinate) {
    const FixedParts parts(coordinate);
    whole = parts.whole;
    t = degree % 2 == 0 ? parts.fraction() - 0.5f : parts.fraction();
  }
};

// Boundary mode `constant`: whether the coordinate whole + t, in sample positions, has a value.
// Evaluates the rule itself only if rounding might matter.
template <class Exactly>
__device__ __forceinline__ bool has_value(const Evaluation& e, int axis, int whole, float t,
                                          Exactly exactly) {
  constexpr float tolerance = 1e-3f;
  const float below = static_cast<float>(whole) + t;
  const float above = static_cast<float>(whole - (e.spline.samples[axis] - 1)) + t;
  if (below < -tolerance || above > tolerance) return false;
  if (below > tolerance && above < -tolerance) return true;
  AxisLocation location;
  return find_location(e.spline.rules, e.spline.samples[axis], exactly(), true, location);
}

// The same for all coordinates of a pixel. `x`, `y` and `z` are relative to the tile's first pixel,
// `at` to the corner of the copy.
template <int degree, int dimensions>
__device__ __forceinline__ bool has_value_here(const Evaluation& e,
                                               const TileLocation<dimensions>& location, int x,
                                               int y, int z, const Located<degree>* at) {
  bool has = true;
#pragma unroll
  for (int i = 0; i < dimensions; ++i) {
    const auto exactly = [&] {
      return product_with_row<dimensions>(e.points.m + 4 * i, location.first[0] + x,
                                          location.first[1] + y, location.first[2] + z);
    };
    const int whole = at[i].whole + location.corner[i] - e.spline.rules.margin;
    has = has && has_value(e, i, whole, at[i].t, exactly);
  }
  return has;
}

/// A thread's pixels in a tile of a plane, which lie in one column.
struct TileThread {
  int column, first;
  static constexpr int step = tile_threads / PlaneTile::width;

  __device__ __forceinline__ TileThread()
      : column(static_cast<int>(threadIdx.x) % PlaneTile::width),
        first(static_cast<int>(threadIdx.x) / PlaneTile::width) {}
};

// Calls visit(row in the tile, index) for the pixels of a tile that a thread processes.
template <class Tile = PlaneTile, class Visit>
__device__ __forceinline__ void for_tile_pixels(const Evaluation& e,
                                                const TileLocation<2>& location, Visit visit) {
  const TileThread thread;
  const int x = location.first[0] + thread.column;
  if (x >= e.output.width) return;
  constexpr int maximum = Tile::height;
  const int count = min(e.output.height - location.first[1], maximum);
  const long long stride = static_cast<long long>(TileThread::step) * e.output.width;
  long long index = static_cast<long long>(location.first[1] + thread.first) * e.output.width + x;
#pragma unroll 2
  for (int j = thread.first; j < count; j += TileThread::step, index += stride) visit(j, index);
}

// Evaluates a tile of a plane; value(at) gets both coordinates relative to the corner of the copy.
// `check`: points outside have the value cval.
template <int degree, bool floats, bool check, class Tile = PlaneTile, class Value>
__device__ __forceinline__ void evaluate_tile(const Evaluation& e, const TileSource<2>& source,
                                              const TileLocation<2>& location, Value value) {
  const TileThread thread;
  long long point[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    point[i] = location.start<degree>(e, i) + thread.column * source.along[i][0] +
               thread.first * source.along[i][1];
  }
  for_tile_pixels<Tile>(e, location, [&](int j, long long index) {
    const Located<degree> at[2] = {Located<degree>(point[0]), Located<degree>(point[1])};
    float result = value(at);
    if constexpr (check) {
      if (!has_value_here(e, location, thread.column, j, 0, at)) result = e.spline.rules.cval;
    }
    store_pixel<floats>(e.output, index, result);
#pragma unroll
    for (int i = 0; i < 2; ++i) point[i] += TileThread::step * source.along[i][1];
  });
}

// Evaluates a single pixel of an affine transform, in any tile.
template <int degree, int dimensions>
__device__ __forceinline__ void evaluate_alone(const float* __restrict__ coefficients,
                                               const Evaluation& e, int x, int y, int z,
                                               long long index) {
  double point[dimensions];
#pragma unroll
  for (int i = 0; i < dimensions; ++i) {
    point[i] = product_with_row<dimensions>(e.points.m + 4 * i, x, y, z);
  }
  store(e.output, index,
        evaluate<degree, dimensions, false>(coefficients, e.spline, point, true).value);
}

// Sets all pixels of a plane's tile to cval.
template <class Tile = PlaneTile>
__device__ __forceinline__ void blank_tile(const Evaluation& e, const TileLocation<2>& location) {
  for_tile_pixels<Tile>(e, location,
                        [&](int, long long index) { store(e.output, index, e.spline.rules.cval); });
}

// Calls visit(location) for every tile of a block in a plane.
template <int degree, class Tile = PlaneTile, class Visit>
__device__ __forceinline__ void for_tiles(const Evaluation& e, const TileSource<2>& source,
                                          Visit visit) {
  const int x = static_cast<int>(blockIdx.x) * Tile::width;
  const int down = static_cast<int>(gridDim.y) * Tile::height;
#pragma unroll 1
  for (int y = static_cast<int>(blockIdx.y) * Tile::height; y < e.output.height; y += down) {
    visit(TileLocation<2>::of<degree>(e, source, x, y, 0));
  }
}

/// The grid of tiles over a plane.
template <class Tile = PlaneTile>
[[nodiscard]] dim3 grid_of_tiles(const OutputImage& output) {
  return tile_grid(output.width, output.height, Tile::width, Tile::height);
}

}  // namespace warpalign::cuda
