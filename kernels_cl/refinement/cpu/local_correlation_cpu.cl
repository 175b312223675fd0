// The normalised correlation of two volumes within windows, and its derivatives, for CPUs: like
// shared/local_correlation.cl, with a work-item for each tile, and sixteen neighbouring voxels of a
// row at a time. An image has one line, and its rows are the planes.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/local_correlation.h"
#include "lib/simd.h"
#include "shared/noise_sample.h"

#define REACH WA_WINDOW_REACH
// A tile: vectors along x, and lines.
#define VECTORS 4
#define COLUMNS (16 * VECTORS)
#define LINES 8
#define TALL (LINES + 2 * REACH)
// The planes whose sums are kept.
#define KEPT 4

typedef struct {
  int left, top, begin, end;  // the tile, and its planes
  int vectors, rows;          // its extents within the volume
  int reach;                  // how far windows reach along the lines
} Tile;

WA_INLINE Tile tile_of(size_t number, int width, int lines, int planes, int share) {
  const int across = (width + COLUMNS - 1) / COLUMNS;
  const int tiles = across * ((lines + LINES - 1) / LINES);
  const int in_plane = (int)number % tiles;
  Tile tile;
  tile.left = in_plane % across * COLUMNS;
  tile.top = in_plane / across * LINES;
  tile.begin = (int)number / tiles * share;
  tile.end = min(tile.begin + share, planes);
  tile.vectors = min(VECTORS, (width - tile.left + 15) / 16);
  tile.rows = min(LINES, lines - tile.top);
  tile.reach = lines > 1 ? REACH : 0;
  return tile;
}

// 1 / the voxels of the windows about sixteen voxels.
WA_INLINE float16 per_voxel(int x, int y, int k, int width, int lines, int planes) {
  const int16 at = NUMBERS + x;
  const int16 along = min(at, REACH) + min(width - 1 - at, REACH) + 1;
  const int across = wa_window_extent(y, lines) * wa_window_extent(k, planes);
  return 1.0f / convert_float16(across * along);
}

WA_INLINE float16 sum_of(const float16* five) {
  return wa_sum_of_five(five[0], five[1], five[2], five[3], five[4]);
}

WA_INLINE float16 product_of(const float16* a, const float16* b) {
  return fma(a[0], b[0], fma(a[1], b[1], fma(a[2], b[2], fma(a[3], b[3], a[4] * b[4]))));
}

// The five neighbours along a row of each of the sixteen voxels from x on, 0 outside of the volume.
WA_INLINE void load_five(global const float* row, int x, int width, float16* five) {
  if (x >= REACH && x + 16 + REACH <= width) {
#pragma unroll
    for (int i = 0; i < 5; ++i) five[i] = vload16(0, row + (x - REACH + i));
    return;
  }
  float taken[16 + 2 * REACH];
#pragma unroll 1
  for (int i = 0; i < 16 + 2 * REACH; ++i) {
    const int at = x - REACH + i;
    taken[i] = at >= 0 && at < width ? row[at] : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < 5; ++i) five[i] = vload16(0, taken + i);
}

// The sums along x of the lines of a plane with their surroundings, and those over the lines of the
// last planes, of one quantity.
typedef struct {
  float16 along[TALL * VECTORS];
  float16 kept[KEPT][LINES * VECTORS];
} Sums;

WA_INLINE void forget(Sums* sums, int count, const Tile* tile) {
#pragma unroll 1
  for (int i = 0; i < count * KEPT; ++i) {
#pragma unroll 1
    for (int j = 0; j < tile->rows * VECTORS; ++j) sums[i / KEPT].kept[i % KEPT][j] = 0.0f;
  }
}

// Adds plane k to the sums of vector `at` of the tile, and returns those over the windows of the
// plane two planes ago.
WA_INLINE float16 sum_of_windows(Sums* sums, int k, int at, int reach) {
  const float16* here = sums->along + at;
  float16 next = here[0];
  if (reach > 0) {
    next = wa_sum_of_five(next, here[VECTORS], here[2 * VECTORS], here[3 * VECTORS],
                          here[4 * VECTORS]);
  }
  const float16 sum =
      wa_sum_of_five(sums->kept[k & 3][at], sums->kept[(k + 1) & 3][at],
                     sums->kept[(k + 2) & 3][at], sums->kept[(k + 3) & 3][at], next);
  sums->kept[k & 3][at] = next;
  return sum;
}

// The same for `count` quantities.
WA_INLINE void sum_windows(Sums* sums, int count, int k, int at, int reach, float16* windows) {
  for (int q = 0; q < count; ++q) windows[q] = sum_of_windows(&sums[q], k, at, reach);
}

// Visits the lines of a plane of a tile with its surroundings: `line` from 0 on, y in the volume.
#define EACH_LINE(tile)                         \
  for (int line = 0, y = tile.top - tile.reach; \
       line < tile.rows + 2 * tile.reach; ++line, ++y)
// Whether the volume has no such line.
#define NO_LINE(y, lines, k, planes) ((y) < 0 || (y) >= (lines) || (k) < 0 || (k) >= (planes))
// Visits the vectors of a plane of a tile.
#define EACH_VECTOR(tile)                                                \
  _Pragma("unroll 1") for (int line = 0; line < tile.rows; ++line)       \
      _Pragma("unroll 1") for (int v = 0; v < tile.vectors; ++v)

// The mean and 1 / sqrt(variance + floor) of the windows.
SIMD_KERNEL correlation_statistics(global const float* reference, int width, int lines, int planes,
                                   int share, float lowest, global float* statistics) {
  const Tile tile = tile_of(get_global_id(0), width, lines, planes, share);
  const size_t plane = (size_t)width * (size_t)lines;
  global float* precisions = statistics + plane * (size_t)planes;
  Sums sums[2];
  forget(sums, 2, &tile);
#pragma unroll 1
  for (int k = tile.begin - REACH; k < tile.end + REACH; ++k) {
#pragma unroll 1
    EACH_LINE(tile) {
      const bool none = NO_LINE(y, lines, k, planes);
      global const float* row = reference + ((size_t)k * plane + (size_t)y * (size_t)width);
#pragma unroll 1
      for (int v = 0; v < tile.vectors; ++v) {
        float16 sum = 0.0f;
        float16 square = 0.0f;
        if (!none) {
          float16 f[5];
          load_five(row, tile.left + 16 * v, width, f);
          sum = sum_of(f);
          square = product_of(f, f);
        }
        sums[0].along[line * VECTORS + v] = sum;
        sums[1].along[line * VECTORS + v] = square;
      }
    }
    const int centre = k - REACH;
    EACH_VECTOR(tile) {
      const int x = tile.left + 16 * v;
      const int y = tile.top + line;
      float16 windows[2];
      sum_windows(sums, 2, k, line * VECTORS + v, tile.reach, windows);
      if (centre < tile.begin) continue;
      const size_t to = (size_t)centre * plane + (size_t)y * (size_t)width + (size_t)x;
      const float16 per = per_voxel(x, y, centre, width, lines, planes);
      const float16 mean = per * windows[0];
      store_some(mean, width - x, statistics + to);
      store_some(wa_window_precision(mean, per * windows[1], lowest), width - x, precisions + to);
    }
  }
}

// Half the difference of the neighbours at the distance `stride`, or the whole difference to the
// only one. `count`: of the voxels.
WA_INLINE float16 slope_across(global const float* voxels, size_t stride, int k, int length,
                               int count) {
  const float16 after = load_some(k + 1 < length ? voxels + stride : voxels, count);
  const float16 before = load_some(k > 0 ? voxels - stride : voxels, count);
  return (k > 0 && k + 1 < length ? 0.5f : 1.0f) * (after - before);
}

WA_INLINE float16 slope_along(global const float* voxels, int x, int width) {
  if (x > 0 && x + 17 <= width) return 0.5f * (vload16(0, voxels + 1) - vload16(0, voxels - 1));
  float16 slope = 0.0f;
#pragma unroll 1
  for (int i = 0; i < 16 && x + i < width; ++i) {
    const int before = x + i > 0;
    const int after = x + i + 1 < width;
    ((float*)&slope)[i] =
        (before && after ? 0.5f : 1.0f) * (voxels[i + after] - voxels[i - before]);
  }
  return slope;
}

// Stores the products of the gradient with its component along x, or the other ones, times the sum
// of 1 / (n (variance + floor)) over the windows about a voxel.
SIMD_KERNEL correlation_curvatures(global const float* reference, global const float* statistics,
                                   int width, int lines, int planes, int share, int of_x,
                                   global float* curvatures) {
  const Tile tile = tile_of(get_global_id(0), width, lines, planes, share);
  const size_t plane = (size_t)width * (size_t)lines;
  const size_t voxels = plane * (size_t)planes;
  global const float* precisions = statistics + voxels;
  Sums sums;
  forget(&sums, 1, &tile);
#pragma unroll 1
  for (int k = tile.begin - REACH; k < tile.end + REACH; ++k) {
#pragma unroll 1
    EACH_LINE(tile) {
      const bool none = NO_LINE(y, lines, k, planes);
      global const float* row = precisions + ((size_t)k * plane + (size_t)y * (size_t)width);
#pragma unroll 1
      for (int v = 0; v < tile.vectors; ++v) {
        const int x = tile.left + 16 * v;
        float16 weights[5];
        for (int i = 0; i < 5; ++i) weights[i] = 0.0f;
        if (!none) {
          load_five(row, x, width, weights);
          for (int i = 0; i < 5; ++i) {
            // Outside, the precision is 0, and there are no windows.
            const float16 weight = weights[i] * weights[i] *
                                   per_voxel(x - REACH + i, y, k, width, lines, planes);
            weights[i] = only(weight, weights[i] != 0.0f);
          }
        }
        sums.along[line * VECTORS + v] = sum_of(weights);
      }
    }
    const int centre = k - REACH;
    EACH_VECTOR(tile) {
      const int x = tile.left + 16 * v;
      const int y = tile.top + line;
      const float16 weight = sum_of_windows(&sums, k, line * VECTORS + v, tile.reach);
      if (centre < tile.begin) continue;
      const int count = width - x;
      const size_t here = (size_t)centre * plane + (size_t)y * (size_t)width + (size_t)x;
      global const float* f = reference + here;
      global float* to = curvatures + here;
      const float16 gx = slope_along(f, x, width);
      const float16 gz = slope_across(f, plane, centre, planes, count);
      if (lines == 1) {
        store_some(of_x ? weight * gx * gx : weight * gz * gz, count, to);
        if (of_x) store_some(weight * gx * gz, count, to + voxels);
        continue;
      }
      const float16 gy = slope_across(f, (size_t)width, y, lines, count);
      store_some(weight * (of_x ? gx * gx : gy * gy), count, to);
      store_some(weight * (of_x ? gx * gy : gy * gz), count, to + voxels);
      store_some(weight * (of_x ? gx * gz : gz * gz), count, to + 2 * voxels);
    }
  }
}

// The factors a, b and c of each window, in three volumes, and for each tile and its planes the sum
// of the correlations (or their squares) and the number of the windows that count. The second half
// of the samples tells which ones do.
SIMD_KERNEL correlation_factors(global const float* reference, global const float* statistics,
                                global const float* samples, int width, int lines, int planes,
                                int share, float lowest, int any_sign, global float* factors,
                                global float* partials) {
  const Tile tile = tile_of(get_global_id(0), width, lines, planes, share);
  const size_t plane = (size_t)width * (size_t)lines;
  const size_t voxels = plane * (size_t)planes;
  Sums sums[3];
  forget(sums, 3, &tile);
  float16 correlation = 0.0f;
  float16 counted = 0.0f;
#pragma unroll 1
  for (int k = tile.begin - REACH; k < tile.end + REACH; ++k) {
#pragma unroll 1
    EACH_LINE(tile) {
      const bool none = NO_LINE(y, lines, k, planes);
      const size_t row = (size_t)k * plane + (size_t)y * (size_t)width;
#pragma unroll 1
      for (int v = 0; v < tile.vectors; ++v) {
        float16 sum = 0.0f;
        float16 square = 0.0f;
        float16 product = 0.0f;
        if (!none) {
          float16 w[5], f[5];
          load_five(samples + row, tile.left + 16 * v, width, w);
          load_five(reference + row, tile.left + 16 * v, width, f);
          sum = sum_of(w);
          square = product_of(w, w);
          product = product_of(w, f);
        }
        sums[0].along[line * VECTORS + v] = sum;
        sums[1].along[line * VECTORS + v] = square;
        sums[2].along[line * VECTORS + v] = product;
      }
    }
    const int centre = k - REACH;
    EACH_VECTOR(tile) {
      const int x = tile.left + 16 * v;
      const int y = tile.top + line;
      float16 windows[3];
      sum_windows(sums, 3, k, line * VECTORS + v, tile.reach, windows);
      if (centre < tile.begin) continue;
      const int count = width - x;
      const size_t here = (size_t)centre * plane + (size_t)y * (size_t)width + (size_t)x;
      WaReferenceWindow window;
      window.mean = load_some(statistics + here, count);
      window.precision = load_some(statistics + voxels + here, count);
      window.counts = load_some(samples + voxels + here, count);
      float16 abc[3];
      const float16 measure =
          wa_window_factors(&window, windows, per_voxel(x, y, centre, width, lines, planes),
                            lowest, any_sign, abc);
      correlation += only(measure, window.counts != 0.0f);
      counted += window.counts;
      for (int q = 0; q < 3; ++q) store_some(abc[q], count, factors + (q * voxels + here));
    }
  }
  partials[2 * get_global_id(0)] = sum_of_lanes(correlation);
  partials[2 * get_global_id(0) + 1] = sum_of_lanes(counted);
}

// The derivative of the sum of the correlations, times the gradient of W.
SIMD_KERNEL correlation_forces(global const float* reference, global const float* warped,
                               global const float* factors, int width, int lines, int planes,
                               int share, global float* forces) {
  const Tile tile = tile_of(get_global_id(0), width, lines, planes, share);
  const size_t plane = (size_t)width * (size_t)lines;
  const size_t voxels = plane * (size_t)planes;
  Sums sums[3];
  forget(sums, 3, &tile);
#pragma unroll 1
  for (int k = tile.begin - REACH; k < tile.end + REACH; ++k) {
#pragma unroll 1
    EACH_LINE(tile) {
      const bool none = NO_LINE(y, lines, k, planes);
      const size_t row = (size_t)k * plane + (size_t)y * (size_t)width;
      for (int q = 0; q < 3; ++q) {
#pragma unroll 1
        for (int v = 0; v < tile.vectors; ++v) {
          float16 sum = 0.0f;
          if (!none) {
            float16 five[5];
            load_five(factors + (q * voxels + row), tile.left + 16 * v, width, five);
            sum = sum_of(five);
          }
          sums[q].along[line * VECTORS + v] = sum;
        }
      }
    }
    const int centre = k - REACH;
    EACH_VECTOR(tile) {
      const int x = tile.left + 16 * v;
      const int y = tile.top + line;
      float16 windows[3];
      sum_windows(sums, 3, k, line * VECTORS + v, tile.reach, windows);
      if (centre < tile.begin) continue;
      const int count = width - x;
      const size_t here = (size_t)centre * plane + (size_t)y * (size_t)width + (size_t)x;
      global const float* w = warped + here;
      global float* to = forces + here;
      const float16 derivative =
          fma(load_some(reference + here, count), windows[0],
              fma(-load_some(w, count), windows[1], windows[2]));
      store_some(derivative * slope_along(w, x, width), count, to);
      global float* last_force = to + (lines > 1 ? 2 : 1) * voxels;
      if (lines > 1) {
        store_some(derivative * slope_across(w, (size_t)width, y, lines, count), count,
                   to + voxels);
      }
      store_some(derivative * slope_across(w, plane, centre, planes, count), count, last_force);
    }
  }
}

// Samples of an image, of which a work-item takes `share`.
SIMD_KERNEL correlation_noise(global const float* image, int width, int height, int depth,
                              int every, int count, int share, global float* samples) {
#pragma unroll 1
  for (int j = 0; j < share; ++j) {
    const int s = (int)get_global_id(0) * share + j;
    if (s >= count) break;
    wa_store_noise_sample(image, width, height, depth, every, count, s, samples);
  }
}
