// A spline at the points to which a matrix, a displacement field and another matrix lead the pixels
// of the output: the field is sampled in the kernel that evaluates the spline, so that no
// coordinates pass through memory.
//
// Output pixel p is read at H (A p + u(F A p)), where u is interpolated linearly between the
// samples of the field, F leads from points to their indices, A is affine, and H is affine or a
// homography. The products H A and F A are arguments (formulas/warp_rows.h). Coordinates are sums
// of two floats (formulas/affine.h), so that they are as exact far from the origin as near it; the
// displacement and its linear map are single precision.
//
// A group of work-items evaluates a tile of the output. In volumes of degree 3, it first copies the
// box of coefficients that its points need to local memory, if they fit: 64 neighbours of each
// voxel would otherwise be read through the cache, and a warp that the field spreads over many rows
// loads a cache line for each of them.
//
// Options: DIMENSIONS, 2 or 3; DEGREE, 1 or 3; GROUP, the size of the work-group.
//
// variant: gpu -DDIMENSIONS=2 -DDEGREE=1 -DGROUP=256
// variant: gpu -DDIMENSIONS=2 -DDEGREE=3 -DGROUP=256
// variant: gpu -DDIMENSIONS=3 -DDEGREE=1 -DGROUP=256
// variant: gpu -DDIMENSIONS=3 -DDEGREE=3 -DGROUP=256
#include "formulas/affine.h"
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "formulas/pixel_types.h"
#include "formulas/spline_location.h"
#include "formulas/warp_rows.h"
#include "formulas/warp_tiles.h"
#include "shared/kernel_language.h"

#define TAPS (DEGREE + 1)
#define TAPS_Z (DIMENSIONS > 2 ? TAPS : 1)
#define TILE_X WA_WARP_TILE_X(DIMENSIONS)
#define TILE_Y WA_WARP_TILE_Y(DIMENSIONS)
#define TILE_Z WA_WARP_TILE_Z(DIMENSIONS)
#define STEPS (WA_WARP_TILE_PIXELS(DIMENSIONS) / GROUP)  // pixels of a work-item

// The numbers of OutsideField.
#define WA_FIELD_EDGE 0
#define WA_FIELD_NAN 2

// What the arguments of the kernel describe, except the memory of the output.
typedef struct {
  WA_GLOBAL const float* coefficients;
  int samples[3];
  int stored[3];
  int points_rule, extension, margin;
  float cval;
  WA_GLOBAL const unsigned char* field;
  int is_double, is_on_grid, is_projective, outside;
  int field_samples[3];
} WaWarp;

// The neighbours of a point: the first one along each axis, and the fraction after the sample below
// the point.
typedef struct {
  int first[3];
  float t[3];
} WaNeighbourhood;

// A row of a matrix at a pixel. The axis along which a work-item proceeds is added last, so that
// the compiler computes the other terms once.
WA_INLINE float wa_row_at(const WaTwoFloatRow* row, const float* pixel, float* low) {
  float high = row->high[3];
  *low = row->low[3];
  wa_add_product(row->high[0], row->low[0], pixel[0], &high, low);
  wa_add_product(row->high[1], row->low[1], pixel[1], &high, low);
  if (DIMENSIONS > 2) wa_add_product(row->high[2], row->low[2], pixel[2], &high, low);
  return high;
}

WA_INLINE float wa_component(const WaWarp* warp, WA_UINT64 at) {
  return warp->is_double ? (float)((WA_GLOBAL const double*)warp->field)[at]
                         : ((WA_GLOBAL const float*)warp->field)[at];
}

// The samples of a field on both sides of an index along an axis, and the fraction between them.
// Returns whether the index lies between the edges, or less than 2^-25 beyond (see wa_snap()).
WA_INLINE bool wa_field_samples(float high, float low, int n, int* before, int* after,
                                float* fraction) {
  wa_snap(&high, &low);
  *before = high < 0.0f ? -1 : n;
  *fraction = 0.0f;
  if (!wa_is_far(high)) *fraction = wa_split(high, low, before);
  const bool is_inside = wa_lies_on(*before, *fraction, n);
  if (!is_inside) {
    *before = *before < 0 ? 0 : n - 1;
    *fraction = 0.0f;
  }
  *after = *before < n - 1 ? *before + 1 : *before;
  return is_inside;
}

// The displacement at an output pixel. Returns false if it is NaN.
WA_INLINE bool wa_displacement(const WaWarp* warp, const WaWarpRows* rows, const int* at,
                               const float* pixel, float* u) {
  const int* n = warp->field_samples;
  if (warp->is_on_grid) {
    const WA_UINT64 line =
        (DIMENSIONS > 2 ? (WA_UINT64)at[2] * (WA_UINT64)n[1] : 0) + (WA_UINT64)at[1];
    const WA_UINT64 first = (line * (WA_UINT64)n[0] + (WA_UINT64)at[0]) * DIMENSIONS;
    WA_UNROLL
    for (int c = 0; c < DIMENSIONS; ++c) u[c] = wa_component(warp, first + (WA_UINT64)c);
    return true;
  }
  int side[3][2] = {{0, 0}, {0, 0}, {0, 0}};
  float fraction[3];
  bool is_inside = true;
  WA_UNROLL
  for (int a = 0; a < DIMENSIONS; ++a) {
    float low;
    const float high = wa_row_at(&rows->to_index[a], pixel, &low);
    is_inside =
        wa_field_samples(high, low, n[a], &side[a][0], &side[a][1], &fraction[a]) && is_inside;
  }
  WA_UNROLL
  for (int c = 0; c < DIMENSIONS; ++c) u[c] = 0.0f;
  if (!is_inside && warp->outside != WA_FIELD_EDGE) return warp->outside != WA_FIELD_NAN;
#pragma unroll 1
  for (int k = 0; k < (DIMENSIONS > 2 ? 4 : 2); ++k) {
    const bool is_next = (k & 1) != 0;
    float weight = is_next ? fraction[1] : 1.0f - fraction[1];
    WA_UINT64 line = (WA_UINT64)(is_next ? side[1][1] : side[1][0]);
    if (DIMENSIONS > 2) {
      weight *= k > 1 ? fraction[2] : 1.0f - fraction[2];
      line += (WA_UINT64)(k > 1 ? side[2][1] : side[2][0]) * (WA_UINT64)n[1];
    }
    const WA_UINT64 before = (line * (WA_UINT64)n[0] + (WA_UINT64)side[0][0]) * DIMENSIONS;
    const WA_UINT64 after = (line * (WA_UINT64)n[0] + (WA_UINT64)side[0][1]) * DIMENSIONS;
    WA_UNROLL
    for (int c = 0; c < DIMENSIONS; ++c) {
      const float from = wa_component(warp, before + (WA_UINT64)c);
      const float to = wa_component(warp, after + (WA_UINT64)c);
      u[c] = WA_FMA(weight, WA_FMA(fraction[0], to - from, from), u[c]);
    }
  }
  return true;
}

// A homogeneous coordinate of the point at which a pixel is read.
WA_INLINE float wa_displaced(const WaWarpRows* rows, int axis, const float* pixel, const float* u,
                             float* low) {
  float error;
  const float high = wa_row_at(&rows->to_input[axis], pixel, low);
  float displacement = rows->linear[axis][0] * u[0];
  WA_UNROLL
  for (int c = 1; c < DIMENSIONS; ++c) {
    displacement = WA_FMA(rows->linear[axis][c], u[c], displacement);
  }
  const float sum = wa_two_sum(high, displacement, &error);
  *low += error;
  return sum;
}

// Finds the neighbours of the point at which an output pixel is read. Returns false if the value is
// cval.
WA_INLINE bool wa_find_neighbours(const WaWarp* warp, const WaWarpRows* rows, int x, int y, int z,
                                  WaNeighbourhood* found) {
  const int at[3] = {x, y, z};
  const float pixel[3] = {(float)x, (float)y, (float)z};
  float u[3];
  bool has_value = wa_displacement(warp, rows, at, pixel, u);
  float divisor = 1.0f;
  float divisor_low = 0.0f;
  if (warp->is_projective) divisor = wa_displaced(rows, 3, pixel, u, &divisor_low);
  WA_UNROLL
  for (int a = 0; a < DIMENSIONS; ++a) {
    float low;
    float high = wa_displaced(rows, a, pixel, u, &low);
    if (warp->is_projective) high = wa_divide(high, low, divisor, divisor_low, &low);
    int whole = 0;
    found->t[a] = 0.0f;
    has_value =
        wa_locate_near(warp->points_rule, high, low, warp->samples[a], &whole, &found->t[a]) &&
        has_value;
    found->first[a] = whole + warp->margin - DEGREE / 2;
  }
  return has_value;
}

WA_INLINE void wa_weights(float t, float* weights) {
#if DEGREE == 1
  wa_bspline_weights_1(t, weights);
#else
  wa_bspline_weights_3(t, weights);
#endif
}

// w[k] without indexing by a variable, which would put the weights in memory.
WA_INLINE float wa_weight(const float* w, int k) {
  float weight = w[0];
  WA_UNROLL
  for (int i = 1; i < TAPS; ++i) weight = k == i ? w[i] : weight;
  return weight;
}

// Defines the sum over neighbours in memory of one kind, from the first one on, whose rows and
// planes are `pitch` and `plane` apart. Compilers would otherwise load all planes of several voxels
// at once, and run out of registers.
#define WA_SUM_OF_NEIGHBOURS(name, space, index)                                             \
  WA_INLINE float name(space const float* first, index pitch, index plane, const float* t) { \
    float wx[TAPS], wy[TAPS], wz[TAPS];                                                      \
    wa_weights(t[0], wx);                                                                    \
    wa_weights(t[1], wy);                                                                    \
    if (DIMENSIONS > 2) wa_weights(t[2], wz);                                                \
    float sum = 0.0f;                                                                        \
    _Pragma("unroll 1") for (int k = 0; k < TAPS_Z; ++k) {                                   \
      float of_plane = 0.0f;                                                                 \
      WA_UNROLL                                                                              \
      for (int j = 0; j < TAPS; ++j) {                                                       \
        space const float* row = first + (index)j * pitch;                                   \
        float of_row = wx[0] * row[0];                                                       \
        WA_UNROLL                                                                            \
        for (int i = 1; i < TAPS; ++i) of_row = WA_FMA(wx[i], row[i], of_row);               \
        of_plane = WA_FMA(wy[j], of_row, of_plane);                                          \
      }                                                                                      \
      sum = DIMENSIONS > 2 ? WA_FMA(wa_weight(wz, k), of_plane, sum) : of_plane;             \
      first += plane;                                                                        \
    }                                                                                        \
    return sum;                                                                              \
  }

WA_SUM_OF_NEIGHBOURS(wa_sum_in_memory, WA_GLOBAL, WA_UINT64)

WA_INLINE bool wa_is_inside(const WaWarp* warp, const WaNeighbourhood* at) {
  bool is_inside = true;
  WA_UNROLL
  for (int a = 0; a < DIMENSIONS; ++a) {
    is_inside = is_inside && at->first[a] >= 0 && at->first[a] + DEGREE < warp->stored[a];
  }
  return is_inside;
}

// The sum if some of the neighbours lie beyond the coefficients; the boundary rule finds each. This
// is rare, so that the loops are not unrolled.
WA_INLINE float wa_sum_at_border(const WaWarp* warp, WA_GLOBAL const float* coefficients,
                                 const WaNeighbourhood* at) {
  float wx[TAPS], wy[TAPS], wz[TAPS];
  wa_weights(at->t[0], wx);
  wa_weights(at->t[1], wy);
  if (DIMENSIONS > 2) wa_weights(at->t[2], wz);
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < TAPS_Z; ++k) {
    const int slice =
        DIMENSIONS > 2 ? wa_extend(warp->extension, at->first[2] + k, warp->stored[2]) : 0;
    float of_plane = 0.0f;
#pragma unroll 1
    for (int j = 0; j < TAPS; ++j) {
      const int line = wa_extend(warp->extension, at->first[1] + j, warp->stored[1]);
      const bool is_row = slice >= 0 && line >= 0;
      const WA_UINT64 number =
          is_row ? (WA_UINT64)slice * (WA_UINT64)warp->stored[1] + (WA_UINT64)line : 0;
      WA_GLOBAL const float* row = coefficients + number * (WA_UINT64)warp->stored[0];
      float of_row = 0.0f;
#pragma unroll 1
      for (int i = 0; i < TAPS; ++i) {
        const int column = wa_extend(warp->extension, at->first[0] + i, warp->stored[0]);
        const float value = is_row && column >= 0 ? row[column] : warp->cval;
        of_row = WA_FMA(wa_weight(wx, i), value, of_row);
      }
      of_plane = WA_FMA(wa_weight(wy, j), of_row, of_plane);
    }
    sum = DIMENSIONS > 2 ? WA_FMA(wa_weight(wz, k), of_plane, sum) : of_plane;
  }
  return sum;
}

WA_INLINE float wa_value_at(const WaWarp* warp, WA_GLOBAL const float* coefficients,
                            const WaNeighbourhood* at) {
  if (!wa_is_inside(warp, at)) return wa_sum_at_border(warp, coefficients, at);
  const WA_UINT64 pitch = (WA_UINT64)warp->stored[0];
  const WA_UINT64 plane = pitch * (WA_UINT64)warp->stored[1];
  const WA_UINT64 first = (WA_UINT64)at->first[1] * pitch + (WA_UINT64)at->first[0] +
                          (DIMENSIONS > 2 ? (WA_UINT64)at->first[2] * plane : 0);
  return wa_sum_in_memory(coefficients + first, pitch, plane, at->t);
}

// Stores a pixel. For integer types the value is rounded, halves away from zero, and saturated; NaN
// becomes 0.
WA_INLINE void wa_store_pixel(WA_GLOBAL unsigned char* output, int type, WA_UINT64 at,
                              float value) {
  switch (type) {
    case WA_PIXEL_U8:
      output[at] = (unsigned char)WA_FMIN(WA_FMAX(WA_ROUND(value), 0.0f), 255.0f);
      break;
    case WA_PIXEL_U16:
      ((WA_GLOBAL unsigned short*)output)[at] =
          (unsigned short)WA_FMIN(WA_FMAX(WA_ROUND(value), 0.0f), 65535.0f);
      break;
    case WA_PIXEL_F16:
      WA_STORE_HALF(value, output, at);
      break;
    default:
      ((WA_GLOBAL float*)output)[at] = value;
      break;
  }
}

// Pixel k of a work-item. Returns whether it lies in the output.
WA_INLINE bool wa_pixel_of_item(int k, int left, int top, int front, const int* size, int* pixel) {
#if DIMENSIONS > 2
  const int lines = GROUP / (2 * TILE_X);  // of each of two planes, which a group takes at once
  pixel[0] = left + WA_ITEM_X % TILE_X;
  pixel[1] = top + WA_ITEM_X / (2 * TILE_X) + k % (TILE_Y / lines) * lines;
  pixel[2] = front + WA_ITEM_X / TILE_X % 2 + k / (TILE_Y / lines) * 2;
#else
  pixel[0] = left + WA_ITEM_X % TILE_X;
  pixel[1] = top + WA_ITEM_X / TILE_X + k * (GROUP / TILE_X);
  pixel[2] = front;
#endif
  return pixel[0] < size[0] && pixel[1] < size[1] && pixel[2] < size[2];
}

WA_INLINE WA_UINT64 wa_index_in(const int* size, const int* pixel) {
  return ((WA_UINT64)pixel[2] * (WA_UINT64)size[1] + (WA_UINT64)pixel[1]) * (WA_UINT64)size[0] +
         (WA_UINT64)pixel[0];
}

#if DIMENSIONS > 2 && DEGREE == 3
#define WA_COPIES_BOX
#endif

// Evaluates the pixels of a work-item from the coefficients in memory.
WA_INLINE void wa_evaluate_in_memory(const WaWarp* warp, const WaWarpRows* rows, int left, int top,
                                     int front, const int* size, int arrays, WA_UINT64 stored,
                                     WA_UINT64 pixels, int type, WA_GLOBAL unsigned char* output) {
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) {
    int pixel[3];
    if (!wa_pixel_of_item(k, left, top, front, size, pixel)) continue;
    WaNeighbourhood at;
    const bool has_value = wa_find_neighbours(warp, rows, pixel[0], pixel[1], pixel[2], &at);
    for (int array = 0; array < arrays; ++array) {
      WA_GLOBAL const float* of_array = warp->coefficients + (WA_UINT64)array * stored;
      const float value = has_value ? wa_value_at(warp, of_array, &at) : warp->cval;
      wa_store_pixel(output, type, (WA_UINT64)array * pixels + wa_index_in(size, pixel), value);
    }
  }
}

#ifdef WA_COPIES_BOX

WA_SUM_OF_NEIGHBOURS(wa_sum_in_copy, WA_IN_LOCAL, int)

#define WA_NOWHERE (-2147483647)
#define MAX_EXTENT 128

// Replaces `most`, of six numbers of each work-item, by their largest values in the group.
WA_INLINE void wa_group_maxima(int* most, WA_IN_LOCAL int* words) {
  WA_IN_LOCAL int* columns = words + 6 * GROUP;
  WA_IN_LOCAL int* results = columns + 6 * 33;
  WA_UNROLL
  for (int q = 0; q < 6; ++q) words[q * GROUP + WA_ITEM_X] = most[q];
  WA_BARRIER();
  for (int n = WA_ITEM_X; n < 6 * 32; n += GROUP) {
    const int q = n / 32;
    const int lane = n % 32;
    int largest = words[q * GROUP + lane];
    WA_UNROLL
    for (int i = 32; i < GROUP; i += 32) {
      const int next = words[q * GROUP + lane + i];
      largest = next > largest ? next : largest;
    }
    columns[q * 33 + lane] = largest;
  }
  WA_BARRIER();
  if (WA_ITEM_X < 6) {
    int largest = columns[WA_ITEM_X * 33];
    WA_UNROLL
    for (int i = 1; i < 32; ++i) {
      const int next = columns[WA_ITEM_X * 33 + i];
      largest = next > largest ? next : largest;
    }
    results[WA_ITEM_X] = largest;
  }
  WA_BARRIER();
  WA_UNROLL
  for (int q = 0; q < 6; ++q) most[q] = results[q];
  WA_BARRIER();
}

// Copies the box of coefficients from `low` on that the points of a group need. Rows of the copy
// have `extent[0]` elements, and planes `plane`.
WA_INLINE void wa_copy_box(const WaWarp* warp, WA_GLOBAL const float* coefficients, const int* low,
                           const int* extent, int plane, WA_IN_LOCAL float* copy) {
  const int* n = warp->stored;
  bool is_inside = true;
  WA_UNROLL
  for (int a = 0; a < 3; ++a) {
    is_inside = is_inside && low[a] >= 0 && low[a] + extent[a] <= n[a];
  }
  for (int column = WA_ITEM_X % 32; column < extent[0]; column += 32) {
    for (int line = WA_ITEM_X / 32; line < extent[1]; line += GROUP / 32) {
      WA_IN_LOCAL float* to = copy + line * extent[0] + column;
      if (is_inside) {
        const WA_UINT64 between = (WA_UINT64)n[0] * (WA_UINT64)n[1];
        WA_GLOBAL const float* from = coefficients + (WA_UINT64)low[2] * between +
                                      (WA_UINT64)(low[1] + line) * (WA_UINT64)n[0] +
                                      (WA_UINT64)(low[0] + column);
// Several loads are then on their way at once.
#pragma unroll 8
        for (int slice = 0; slice < extent[2]; ++slice) {
          to[slice * plane] = from[(WA_UINT64)slice * between];
        }
      } else {
        const int at_x = wa_extend(warp->extension, low[0] + column, n[0]);
        const int at_y = wa_extend(warp->extension, low[1] + line, n[1]);
        for (int slice = 0; slice < extent[2]; ++slice) {
          const int at_z = wa_extend(warp->extension, low[2] + slice, n[2]);
          to[slice * plane] =
              at_x >= 0 && at_y >= 0 && at_z >= 0
                  ? coefficients[((WA_UINT64)at_z * (WA_UINT64)n[1] + (WA_UINT64)at_y) *
                                     (WA_UINT64)n[0] +
                                 (WA_UINT64)at_x]
                  : warp->cval;
        }
      }
    }
  }
}
#endif

WA_SHARING_KERNEL(GROUP, 1, 3)
evaluate_displaced(WA_GLOBAL const float* coefficients, int width, int height, int depth,
                   int margin, int points_rule, int extension, float cval,
                   WA_GLOBAL const unsigned char* field, int is_double, int field_width,
                   int field_height, int field_depth, int is_on_grid, int outside, WaWarpRows rows,
                   int is_projective, int arrays, int output_width, int output_height,
                   int output_depth, int type, WA_GLOBAL unsigned char* output) {
  WA_BEGIN();
  const int in_z = DIMENSIONS > 2 ? 2 * margin : 0;
  const WaWarp warp = {coefficients,
                       {width, height, depth},
                       {width + 2 * margin, height + 2 * margin, depth + in_z},
                       points_rule,
                       extension,
                       margin,
                       cval,
                       field,
                       is_double,
                       is_on_grid,
                       is_projective,
                       outside,
                       {field_width, field_height, field_depth}};
  const WA_UINT64 stored =
      (WA_UINT64)warp.stored[0] * (WA_UINT64)warp.stored[1] * (WA_UINT64)warp.stored[2];
  const WA_UINT64 pixels =
      (WA_UINT64)output_width * (WA_UINT64)output_height * (WA_UINT64)output_depth;
  const int across = (output_width + TILE_X - 1) / TILE_X;
  const int down = (output_height + TILE_Y - 1) / TILE_Y;
  const int left = WA_GROUP_X % across * TILE_X;
  const int top = WA_GROUP_X / across % down * TILE_Y;
  const int front = WA_GROUP_X / across / down * TILE_Z;
  const int size[3] = {output_width, output_height, output_depth};
#ifdef WA_COPIES_BOX
  WA_LOCAL float copy[WA_WARP_COPY];
  WaNeighbourhood at[STEPS];
  int most[6] = {WA_NOWHERE, WA_NOWHERE, WA_NOWHERE, WA_NOWHERE, WA_NOWHERE, WA_NOWHERE};
  int with_value = 0;  // bit k: voxel k of the work-item
  WA_UNROLL
  for (int k = 0; k < STEPS; ++k) {
    int pixel[3];
    at[k].first[0] = at[k].first[1] = at[k].first[2] = 0;
    at[k].t[0] = at[k].t[1] = at[k].t[2] = 0.0f;
    if (wa_pixel_of_item(k, left, top, front, size, pixel) &&
        wa_find_neighbours(&warp, &rows, pixel[0], pixel[1], pixel[2], &at[k])) {
      with_value |= 1 << k;
      WA_UNROLL
      for (int a = 0; a < 3; ++a) {
        most[a] = -at[k].first[a] > most[a] ? -at[k].first[a] : most[a];
        most[3 + a] = at[k].first[a] > most[3 + a] ? at[k].first[a] : most[3 + a];
      }
    }
  }
  wa_group_maxima(most, (WA_IN_LOCAL int*)copy);
  const int low[3] = {-most[0], -most[1], -most[2]};
  int extent[3];
  bool fits = most[0] != WA_NOWHERE;
  WA_UNROLL
  for (int a = 0; a < 3; ++a) {
    const unsigned int distance = (unsigned int)most[3 + a] - (unsigned int)low[a];
    fits = fits && distance < MAX_EXTENT - TAPS;
    extent[a] = (int)distance + TAPS;
  }
  // Planes are half the banks apart, for the two planes of a warp.
  int plane = 0;
  if (fits) {
    plane = extent[1] * extent[0];
    plane += (16 - plane) & 31;
    fits = plane * extent[2] <= WA_WARP_COPY;
  }
  if (!fits) {
    wa_evaluate_in_memory(&warp, &rows, left, top, front, size, arrays, stored, pixels, type,
                          output);
    return;
  }
  for (int array = 0; array < arrays; ++array) {
    if (array > 0) WA_BARRIER();
    wa_copy_box(&warp, coefficients + (WA_UINT64)array * stored, low, extent, plane, copy);
    WA_BARRIER();
    WA_UNROLL
    for (int k = 0; k < STEPS; ++k) {
      int pixel[3];
      if (wa_pixel_of_item(k, left, top, front, size, pixel)) {
        float value = cval;
        if ((with_value >> k & 1) != 0) {
          const int first = (at[k].first[2] - low[2]) * plane +
                            (at[k].first[1] - low[1]) * extent[0] + (at[k].first[0] - low[0]);
          value = wa_sum_in_copy(copy + first, extent[0], plane, at[k].t);
        }
        wa_store_pixel(output, type, (WA_UINT64)array * pixels + wa_index_in(size, pixel), value);
      }
    }
  }
#else
  wa_evaluate_in_memory(&warp, &rows, left, top, front, size, arrays, stored, pixels, type, output);
#endif
}
#undef TAPS
#undef TAPS_Z
#undef STEPS
#undef TILE_X
#undef TILE_Y
#undef TILE_Z
#undef MAX_EXTENT
#undef WA_FIELD_EDGE
#undef WA_FIELD_NAN
#undef WA_SUM_OF_NEIGHBOURS
#undef WA_COPIES_BOX
#undef WA_NOWHERE
