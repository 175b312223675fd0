// Affine transforms by tiles of the output: coordinates without double precision a pixel.
//
// Relative to the box of coefficients that a tile needs, points are in fixed point: their integer
// part is a word of its own, and a point near a knot has the neighbours that go with its fraction.
#pragma once

#include "device/launch.hpp"
#include "spline/fixed_point.cuh"
#include "spline/interpolate_kernel.cuh"
#include "spline/tile_source.hpp"

namespace warpalign::cuda {

inline constexpr int tile_warps = tile_threads / warp_lanes;

/// Where a tile's points lie.
template <int dimensions>
struct TileLocation {
  int first[3];               // the tile's first pixel
  double origin[dimensions];  // its point
  int corner[dimensions];     // of the box of coefficients; along x a multiple of 4
  bool within;                // all of the box is there
  bool apart;                 // nothing of it
  bool torn;                  // `wrap`: points lie on either side of where a period ends

  template <int degree>
  static __device__ __forceinline__ TileLocation of(const Evaluation& e,
                                                    const TileSource<dimensions>& source, int x,
                                                    int y, int z) {
    TileLocation location;
    location.first[0] = x;
    location.first[1] = y;
    location.first[2] = z;
    location.within = true;
    location.apart = false;
    location.torn = false;
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
      location.within = location.within && location.corner[i] >= 0 && end <= e.spline.stored[i];
      location.apart = location.apart || end <= 0 || location.corner[i] >= e.spline.stored[i];
    }
    return location;
  }

  // How much of a coordinate is whole periods, 0 where the tile is torn; its points lie from
  // `least` on, less than `extent` long, rounding included.
  __device__ __forceinline__ int whole_periods(int minimum, int extent, int period) {
    const int begin = minimum - 1;
    const int rest = period > 0 ? wa_extend_periodic(begin, period) : 0;
    if (rest + extent < period) return begin - rest;
    torn = true;
    return 0;
  }

  /// The first pixel's coordinate from the box's corner, in fixed point; of even degrees half a
  /// pixel on, so that the integer part is that of the middle neighbour.
  template <int degree>
  __device__ __forceinline__ long long start(const Evaluation& e, int axis) const {
    constexpr long long half = degree % 2 == 0 ? 1LL << 31 : 0;
    return fixed_of(origin[axis] - static_cast<double>(corner[axis] - e.spline.rules.margin)) +
           half;
  }
};

/// The neighbour that a coordinate's weights count from, and what they are functions of.
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
  AxisLocation location;
  return find_location(e.spline.rules, e.spline.samples[axis], exactly(), true, location);
}

// The same of all coordinates of a pixel, `x`, `y`, `z` from the tile's first, counted from the
// box's corner.
template <int degree, int dimensions>
__device__ __forceinline__ bool has_value_here(const Evaluation& e,
                                               const TileLocation<dimensions>& site, int x, int y,
                                               int z, const Located<degree>* at) {
  bool has = true;
#pragma unroll
  for (int i = 0; i < dimensions; ++i) {
    const auto exactly = [&] {
      return product_with_row<dimensions>(e.points.m + 4 * i, site.first[0] + x, site.first[1] + y,
                                          site.first[2] + z);
    };
    const int whole = at[i].whole + site.corner[i] - e.spline.rules.margin;
    has = has && has_value(e, i, whole, at[i].t, exactly);
  }
  return has;
}

/// A thread's pixels in a plane's tile: those of one column.
struct TileThread {
  int column, first;
  static constexpr int step = tile_threads / PlaneTile::width;

  __device__ __forceinline__ TileThread()
      : column(static_cast<int>(threadIdx.x) % PlaneTile::width),
        first(static_cast<int>(threadIdx.x) / PlaneTile::width) {}
};

// The pixels of a tile that are a thread's: visit(row in the tile, index).
template <class Tile = PlaneTile, class Visit>
__device__ __forceinline__ void for_tile_pixels(const Evaluation& e, const TileLocation<2>& site,
                                                Visit visit) {
  const TileThread thread;
  const int x = site.first[0] + thread.column;
  if (x >= e.output.width) return;
  constexpr int maximum = Tile::height;
  const int count = min(e.output.height - site.first[1], maximum);
  const long long stride = static_cast<long long>(TileThread::step) * e.output.width;
  long long index = static_cast<long long>(site.first[1] + thread.first) * e.output.width + x;
#pragma unroll 2
  for (int j = thread.first; j < count; j += TileThread::step, index += stride) visit(j, index);
}

// Evaluates a plane's tile: value(at) of both coordinates, counted from the box's corner. `check`:
// points outside have cval.
template <int degree, bool floats, bool check, class Tile = PlaneTile, class Value>
__device__ __forceinline__ void evaluate_tile(const Evaluation& e, const TileSource<2>& source,
                                              const TileLocation<2>& site, Value value) {
  const TileThread thread;
  long long point[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    point[i] = site.start<degree>(e, i) + thread.column * source.along[i][0] +
               thread.first * source.along[i][1];
  }
  for_tile_pixels<Tile>(e, site, [&](int j, long long index) {
    const Located<degree> at[2] = {Located<degree>(point[0]), Located<degree>(point[1])};
    float result = value(at);
    if constexpr (check) {
      if (!has_value_here(e, site, thread.column, j, 0, at)) result = e.spline.rules.cval;
    }
    store_pixel<floats>(e.output, index, result);
#pragma unroll
    for (int i = 0; i < 2; ++i) point[i] += TileThread::step * source.along[i][1];
  });
}

// Evaluates one pixel of an affine transform by itself, whatever its tile.
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

// Gives all pixels of a plane's tile cval.
template <class Tile = PlaneTile>
__device__ __forceinline__ void blank_tile(const Evaluation& e, const TileLocation<2>& site) {
  for_tile_pixels<Tile>(e, site,
                        [&](int, long long index) { store(e.output, index, e.spline.rules.cval); });
}

// Calls visit(place) for a block's tiles of a plane.
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
