// The normalised correlation of two volumes within windows, and its derivatives, for GPUs
// (formulas/local_correlation.h).
//
// A work-group computes a tile of `COLUMNS` by LINES windows in some planes, one after the other:
// it loads a plane with its surroundings to local memory, sums along x and then along the lines,
// and keeps the sums of the last planes. So what lies between two stages never passes through
// memory. An image (PLANAR) has one line, and its rows are the planes.
//
// Options: COLUMNS and ROWS, the size of the work-group; LINES, a multiple of ROWS; PLANAR, for
// images, with ROWS and LINES 1.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8 -DLINES=16
// variant: gpu -DCOLUMNS=128 -DROWS=1 -DLINES=1 -DPLANAR
#include "formulas/local_correlation.h"
#include "shared/group_sum.h"
#include "shared/kernel_language.h"
#include "shared/noise_sample.h"

#define REACH WA_WINDOW_REACH
// How far windows reach along the lines.
#undef REACH_OF_LINES
#ifdef PLANAR
#define REACH_OF_LINES 0
#else
#define REACH_OF_LINES REACH
#endif
#define ITEMS (COLUMNS * ROWS)
#define PER_ITEM (LINES / ROWS)
// A tile with its surroundings, and how many of its voxels a work-item loads.
#define WIDE (COLUMNS + 2 * REACH)
#define TALL (LINES + 2 * REACH_OF_LINES)
#define SURROUNDED (WIDE * TALL)
#define LOADS ((SURROUNDED + ITEMS - 1) / ITEMS)
// The sums along x of such a tile.
#define SUMMED (COLUMNS * TALL)

// The work-group's tile, its planes from `begin` to `end`, and the work-item's column.
#define WA_TILE()                                                  \
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;                \
  const int across = (width + COLUMNS - 1) / COLUMNS;              \
  const int tiles = across * ((lines + LINES - 1) / LINES);        \
  const int tile = WA_GROUP_X % tiles;                             \
  const int left = tile % across * COLUMNS;                        \
  const int top = tile / across * LINES;                           \
  const int begin = WA_GROUP_X / tiles * share;                    \
  const int end = begin + share < planes ? begin + share : planes; \
  const int x = left + WA_ITEM_X;                                  \
  const WA_UINT64 plane = (WA_UINT64)width * lines;                \
  const WA_UINT64 voxels = plane * planes;                         \
  int places[LOADS];                                               \
  wa_find_places(item, left, top, width, lines, places)

// The places within their plane of the voxels that a work-item loads, or -1 outside of the volume.
WA_INLINE void wa_find_places(int item, int left, int top, int width, int lines, int* places) {
  WA_UNROLL
  for (int j = 0; j < LOADS; ++j) {
    const int at = item + j * ITEMS;
    const int line = at / WIDE;
    const int x = left - REACH + (at - line * WIDE);
    const int y = top - REACH_OF_LINES + line;
    const int inside = at < SURROUNDED && x >= 0 && x < width && y >= 0 && y < lines;
    places[j] = inside ? y * width + x : -1;
  }
}

// Loads a work-item's voxels of plane k, 0 outside of the volume.
WA_INLINE void wa_load_plane(WA_GLOBAL const float* volume, const int* places, WA_UINT64 plane,
                             int k, int planes, float* values) {
  const int exists = k >= 0 && k < planes;
  WA_UNROLL
  for (int j = 0; j < LOADS; ++j) {
    values[j] = exists && places[j] >= 0 ? volume[k * plane + places[j]] : 0.0f;
  }
}

WA_INLINE void wa_put_tile(const float* values, int item, WA_IN_LOCAL float* tile) {
  WA_UNROLL
  for (int j = 0; j < LOADS; ++j) {
    if (item + j * ITEMS < SURROUNDED) tile[item + j * ITEMS] = values[j];
  }
}

WA_INLINE void wa_put_products(const float* a, const float* b, int item, WA_IN_LOCAL float* tile) {
  WA_UNROLL
  for (int j = 0; j < LOADS; ++j) {
    if (item + j * ITEMS < SURROUNDED) tile[item + j * ITEMS] = a[j] * b[j];
  }
}

// 1 / the number of voxels of an axis in the window about k.
WA_INLINE float wa_per_extent(int k, int voxels) {
  return 1.0f / (float)wa_window_extent(k, voxels);
}

// Sums `count` surrounded tiles along x.
WA_INLINE void wa_sum_across(WA_IN_LOCAL const float* tiles, int count, int item,
                             WA_IN_LOCAL float* sums) {
  WA_UNROLL
  for (int j = 0; j < (SUMMED + ITEMS - 1) / ITEMS; ++j) {
    const int at = item + j * ITEMS;
    if (at >= SUMMED) break;
    WA_IN_LOCAL const float* p = tiles + (at + at / COLUMNS * (WIDE - COLUMNS));
    WA_UNROLL
    for (int q = 0; q < count; ++q) {
      WA_IN_LOCAL const float* v = p + q * SURROUNDED;
      sums[q * SUMMED + at] = wa_sum_of_five(v[0], v[1], v[2], v[3], v[4]);
    }
  }
}

WA_INLINE float wa_sum_of_lines(WA_IN_LOCAL const float* sums) {
#ifdef PLANAR
  return sums[0];
#else
  return wa_sum_of_five(sums[0], sums[COLUMNS], sums[2 * COLUMNS], sums[3 * COLUMNS],
                        sums[4 * COLUMNS]);
#endif
}

// Adds the sum of a plane to those of the last four, and forgets the oldest one.
WA_INLINE float wa_sum_of_planes(float* last, float next) {
  const float sum = wa_sum_of_five(last[0], last[1], last[2], last[3], next);
  last[0] = last[1];
  last[1] = last[2];
  last[2] = last[3];
  last[3] = next;
  return sum;
}

// The sums over the windows of the plane two planes ago, of `count` quantities, for line number
// `line` of the tile. `last`: four numbers for each quantity.
WA_INLINE void wa_sum_windows(WA_IN_LOCAL const float* sums, int count, int line, float* last,
                              float* windows) {
  WA_UNROLL
  for (int q = 0; q < count; ++q) {
    windows[q] = wa_sum_of_planes(
        last + 4 * q, wa_sum_of_lines(sums + (q * SUMMED + line * COLUMNS + WA_ITEM_X)));
  }
}

// Visits the planes of the windows' sums: the plane k is loaded, and the windows of the plane
// `centre` are complete.
#define WA_EACH_PLANE(k, centre) \
  for (int k = begin - REACH, centre = k - REACH; k < end + REACH; ++k, ++centre)
// Visits a work-item's windows of a plane.
#define WA_EACH_WINDOW(j) \
  WA_UNROLL               \
  for (int j = 0; j < PER_ITEM; ++j)
// Where a window is: its line within the tile, y and its voxel within the volume, if it exists.
#define WA_WINDOW(j, centre)                                      \
  const int line = WA_ITEM_Y + (j) * ROWS;                        \
  const int y = top + line;                                       \
  const int exists = (centre) >= begin && x < width && y < lines; \
  const WA_UINT64 here = (centre) * plane + (WA_UINT64)y * width + x

// The mean and 1 / sqrt(variance + floor) of the windows.
WA_KERNEL(COLUMNS, ROWS)
correlation_statistics(WA_GLOBAL const float* reference, int width, int lines, int planes,
                       int share, float lowest, WA_GLOBAL float* statistics) {
  WA_BEGIN();
  WA_LOCAL float tile_values[2 * SURROUNDED];
  WA_LOCAL float sums[2 * SUMMED];
  WA_TILE();
  const float per_x = wa_per_extent(x, width);
  float last[8 * PER_ITEM] = {0.0f};
  WA_EACH_PLANE(k, centre) {
    float f[LOADS];
    wa_load_plane(reference, places, plane, k, planes, f);
    wa_put_tile(f, item, tile_values);
    wa_put_products(f, f, item, tile_values + SURROUNDED);
    WA_BARRIER();
    wa_sum_across(tile_values, 2, item, sums);
    WA_BARRIER();
    const float per_plane = per_x * wa_per_extent(centre, planes);
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      float windows[2];
      wa_sum_windows(sums, 2, line, last + 8 * j, windows);
      if (exists) {
        const float per = per_plane * wa_per_extent(y, lines);
        const float mean = per * windows[0];
        statistics[here] = mean;
        statistics[voxels + here] = wa_window_precision(mean, per * windows[1], lowest);
      }
    }
  }
}

// The neighbours of a voxel along an axis, or itself where there is none.
typedef struct {
  float before, after;
} WaNeighbours;

WA_INLINE WaNeighbours wa_neighbours(WA_GLOBAL const float* volume, WA_UINT64 voxel,
                                     WA_UINT64 stride, int k, int voxels) {
  const WaNeighbours neighbours = {volume[k > 0 ? voxel - stride : voxel],
                                   volume[k < voxels - 1 ? voxel + stride : voxel]};
  return neighbours;
}

// Half the difference of the neighbours, or the whole difference to the only one.
WA_INLINE float wa_slope_between(WaNeighbours neighbours, int k, int voxels) {
  const float difference = neighbours.after - neighbours.before;
  return k > 0 && k < voxels - 1 ? 0.5f * difference : difference;
}

WA_INLINE float wa_slope_at(WA_GLOBAL const float* volume, WA_UINT64 voxel, WA_UINT64 stride, int k,
                            int voxels) {
  return wa_slope_between(wa_neighbours(volume, voxel, stride, k, voxels), k, voxels);
}

// Stores the products of the gradient with its component along x, or the other ones, times the sum
// of 1 / (n (variance + floor)) over the windows about a voxel.
WA_KERNEL(COLUMNS, ROWS)
correlation_curvatures(WA_GLOBAL const float* reference, WA_GLOBAL const float* statistics,
                       int width, int lines, int planes, int share, int of_x,
                       WA_GLOBAL float* curvatures) {
  WA_BEGIN();
  WA_LOCAL float weights[SURROUNDED];
  WA_LOCAL float sums[SUMMED];
  WA_TILE();
  float last[4 * PER_ITEM] = {0.0f};
  WA_EACH_PLANE(k, centre) {
    float precisions[LOADS];
    wa_load_plane(statistics + voxels, places, plane, k, planes, precisions);
    WA_UNROLL
    for (int j = 0; j < LOADS; ++j) {
      const float per = wa_per_extent(places[j] % width, width) *
                        wa_per_extent(places[j] / width, lines) * wa_per_extent(k, planes);
      // Outside of the volume, there are no windows.
      precisions[j] = precisions[j] > 0.0f ? precisions[j] * precisions[j] * per : 0.0f;
    }
    wa_put_tile(precisions, item, weights);
    WA_BARRIER();
    wa_sum_across(weights, 1, item, sums);
    WA_BARRIER();
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      float weight;
      wa_sum_windows(sums, 1, line, last + 4 * j, &weight);
      if (exists) {
        WA_GLOBAL float* to = curvatures + here;
        const float gx = wa_slope_at(reference, here, 1, x, width);
        const float gz = wa_slope_at(reference, here, plane, centre, planes);
#ifdef PLANAR
        to[0] = of_x ? weight * gx * gx : weight * gz * gz;
        if (of_x) to[voxels] = weight * gx * gz;
#else
        const float gy = wa_slope_at(reference, here, width, y, lines);
        to[0] = weight * (of_x ? gx * gx : gy * gy);
        to[voxels] = weight * (of_x ? gx * gy : gy * gz);
        to[2 * voxels] = weight * (of_x ? gx * gz : gz * gz);
#endif
      }
    }
  }
}

// The factors a, b and c of each window, in three volumes, and for each work-group the sum of the
// correlations (or their squares) and the number of the windows that count. The second half of the
// samples tells which ones do. What the next plane needs is loaded while one is summed.
WA_KERNEL(COLUMNS, ROWS)
correlation_factors(WA_GLOBAL const float* reference, WA_GLOBAL const float* statistics,
                    WA_GLOBAL const float* samples, int width, int lines, int planes, int share,
                    float lowest, int any_sign, WA_GLOBAL float* factors,
                    WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float tile_values[3 * SURROUNDED];
  WA_LOCAL float sums[3 * SUMMED];
  WA_TILE();
  const float per_x = wa_per_extent(x, width);
  float last[12 * PER_ITEM] = {0.0f};
  float correlation = 0.0f;
  float counted = 0.0f;
  float w[LOADS], f[LOADS];
  wa_load_plane(samples, places, plane, begin - REACH, planes, w);
  wa_load_plane(reference, places, plane, begin - REACH, planes, f);
  WA_EACH_PLANE(k, centre) {
    wa_put_tile(w, item, tile_values);
    wa_put_products(w, w, item, tile_values + SURROUNDED);
    wa_put_products(w, f, item, tile_values + 2 * SURROUNDED);
    if (k + 1 < end + REACH) {
      wa_load_plane(samples, places, plane, k + 1, planes, w);
      wa_load_plane(reference, places, plane, k + 1, planes, f);
    }
    WaReferenceWindow of[PER_ITEM];
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      of[j].mean = exists ? statistics[here] : 0.0f;
      of[j].precision = exists ? statistics[voxels + here] : 0.0f;
      of[j].counts = exists ? samples[voxels + here] : 0.0f;
    }
    WA_BARRIER();
    wa_sum_across(tile_values, 3, item, sums);
    WA_BARRIER();
    const float per_plane = per_x * wa_per_extent(centre, planes);
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      float windows[3];
      wa_sum_windows(sums, 3, line, last + 12 * j, windows);
      if (exists) {
        float abc[3];
        correlation += wa_window_factors(&of[j], windows, per_plane * wa_per_extent(y, lines),
                                         lowest, any_sign, abc);
        counted += of[j].counts;
        factors[here] = abc[0];
        factors[voxels + here] = abc[1];
        factors[2 * voxels + here] = abc[2];
      }
    }
  }
  WA_BARRIER();
  WA_ADD_UP(tile_values, item, ITEMS, correlation)
  WA_ADD_UP(tile_values, item, ITEMS, counted)
  if (item == 0) {
    partials[2 * WA_GROUP_X] = correlation;
    partials[2 * WA_GROUP_X + 1] = counted;
  }
}

// The derivative of the sum of the correlations, times the gradient of W.
WA_KERNEL(COLUMNS, ROWS)
correlation_forces(WA_GLOBAL const float* reference, WA_GLOBAL const float* warped,
                   WA_GLOBAL const float* factors, int width, int lines, int planes, int share,
                   WA_GLOBAL float* forces) {
  WA_BEGIN();
  WA_LOCAL float tile_values[3 * SURROUNDED];
  WA_LOCAL float sums[3 * SUMMED];
  WA_TILE();
  float last[12 * PER_ITEM] = {0.0f};
  float abc[3][LOADS];
  WA_UNROLL
  for (int q = 0; q < 3; ++q) {
    wa_load_plane(factors + q * voxels, places, plane, begin - REACH, planes, abc[q]);
  }
  WA_EACH_PLANE(k, centre) {
    WA_UNROLL
    for (int q = 0; q < 3; ++q) wa_put_tile(abc[q], item, tile_values + q * SURROUNDED);
    if (k + 1 < end + REACH) {
      WA_UNROLL
      for (int q = 0; q < 3; ++q) {
        wa_load_plane(factors + q * voxels, places, plane, k + 1, planes, abc[q]);
      }
    }
    float f[PER_ITEM], w[PER_ITEM];
    WaNeighbours nx[PER_ITEM], nz[PER_ITEM];
#ifndef PLANAR
    WaNeighbours ny[PER_ITEM];
#endif
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      // Where there is no window, some voxel.
      const WA_UINT64 at = exists ? here : 0;
      f[j] = reference[at];
      w[j] = warped[at];
      nx[j] = wa_neighbours(warped, at, 1, exists ? x : 0, width);
#ifndef PLANAR
      ny[j] = wa_neighbours(warped, at, width, exists ? y : 0, lines);
#endif
      nz[j] = wa_neighbours(warped, at, plane, exists ? centre : 0, planes);
    }
    WA_BARRIER();
    wa_sum_across(tile_values, 3, item, sums);
    WA_BARRIER();
    WA_EACH_WINDOW(j) {
      WA_WINDOW(j, centre);
      float windows[3];
      wa_sum_windows(sums, 3, line, last + 12 * j, windows);
      if (exists) {
        const float derivative = WA_FMA(f[j], windows[0], WA_FMA(-w[j], windows[1], windows[2]));
        WA_GLOBAL float* to = forces + here;
        to[0] = derivative * wa_slope_between(nx[j], x, width);
#ifdef PLANAR
        to[voxels] = derivative * wa_slope_between(nz[j], centre, planes);
#else
        to[voxels] = derivative * wa_slope_between(ny[j], y, lines);
        to[2 * voxels] = derivative * wa_slope_between(nz[j], centre, planes);
#endif
      }
    }
  }
}

// Samples of an image, of which a work-group takes `share`.
WA_KERNEL(COLUMNS, ROWS)
correlation_noise(WA_GLOBAL const float* image, int width, int height, int depth, int every,
                  int count, int share, WA_GLOBAL float* samples) {
  WA_BEGIN();
  for (int j = WA_ITEM_Y * COLUMNS + WA_ITEM_X; j < share; j += ITEMS) {
    const int s = WA_GROUP_X * share + j;
    if (s >= count) break;
    wa_store_noise_sample(image, width, height, depth, every, count, s, samples);
  }
}
