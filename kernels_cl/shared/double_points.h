// What the kernels of splines in double precision share: the points of an output, and the value of
// a spline at a point.
//
// Points are transformed output pixels, or explicit coordinates: all x, then all y, then all z. An
// unused axis has one sample in input and output. A kernel needs GROUP, the size of its work-group,
// and CHUNK, the number of pixels per work-item. Neighbouring work-items store neighbouring pixels.
#ifndef WARPALIGN_SHARED_DOUBLE_POINTS_H
#define WARPALIGN_SHARED_DOUBLE_POINTS_H

#include "formulas/double_spline.h"
#include "formulas/double_tiles.h"
#include "shared/kernel_language.h"

#define WA_MATRIX                                                                         \
  double m0, double m1, double m2, double m3, double m4, double m5, double m6, double m7, \
      double m8, double m9, double m10, double m11, double m12, double m13, double m14, double m15

// Sets point[3] to the transformed output pixel (x, y, z). The products are added in the order of
// SciPy, from the slowest axis to the fastest.
#define WA_TRANSFORMED_POINT                                                                     \
  point[0] = WA_PLUS(WA_PLUS(WA_PLUS(m3, WA_TIMES(z, m2)), WA_TIMES(y, m1)), WA_TIMES(x, m0));   \
  point[1] = WA_PLUS(WA_PLUS(WA_PLUS(m7, WA_TIMES(z, m6)), WA_TIMES(y, m5)), WA_TIMES(x, m4));   \
  point[2] = WA_PLUS(WA_PLUS(WA_PLUS(m11, WA_TIMES(z, m10)), WA_TIMES(y, m9)), WA_TIMES(x, m8)); \
  if (is_projective) {                                                                           \
    const double w =                                                                             \
        WA_PLUS(WA_PLUS(WA_PLUS(m15, WA_TIMES(z, m14)), WA_TIMES(y, m13)), WA_TIMES(x, m12));    \
    point[0] /= w;                                                                               \
    point[1] /= w;                                                                               \
    point[2] /= w;                                                                               \
  }

// Declares point[3], the point of the output pixel (column, line, slice), whose index is i.
#define WA_DECLARE_POINT                                                  \
  double point[3];                                                        \
  if (has_points) {                                                       \
    point[0] = given[i];                                                  \
    point[1] = dimensions > 1 ? given[points + i] : 0.0;                  \
    point[2] = dimensions > 2 ? given[2 * points + i] : 0.0;              \
  } else {                                                                \
    const double x = (double)column, y = (double)line, z = (double)slice; \
    WA_TRANSFORMED_POINT                                                  \
  }

// Runs `statement` for each pixel of the work-item: `i` is its index in an array of the output, and
// `point` its point in the input.
#if GROUP == 1
// The pixels follow one another. `shortcut` runs first; it may process several pixels at once.
#define WA_FOR_EACH_POINT(shortcut, statement)            \
  WA_UINT64 i = (WA_UINT64)WA_GROUP_X * (WA_UINT64)CHUNK; \
  const WA_UINT64 row = i / (WA_UINT64)out_width;         \
  int column = (int)(i - row * (WA_UINT64)out_width);     \
  int line = (int)(row % (WA_UINT64)out_height);          \
  int slice = (int)(row / (WA_UINT64)out_height);         \
  for (int k = 0; k < CHUNK && i < points; ++k) {         \
    shortcut WA_DECLARE_POINT statement;                  \
    i += 1;                                               \
    column += 1;                                          \
    if (column == out_width) {                            \
      column = 0;                                         \
      line += 1;                                          \
      if (line == out_height) {                           \
        line = 0;                                         \
        slice += 1;                                       \
      }                                                   \
    }                                                     \
  }
#else
// The pixels of a group are a tile of WA_TILE_LINES lines, or of one in lower images, so that the
// points of rotated images are near one another, too. Groups count tiles, x fastest. `shortcut`
// runs first; it may continue with the next pixel.
#define WA_FOR_EACH_POINT(shortcut, statement)                                                \
  const int tile_lines = out_height < WA_TILE_LINES ? 1 : WA_TILE_LINES;                       \
  const int tile_columns = tile_lines == 1 ? GROUP * CHUNK : GROUP * CHUNK / WA_TILE_LINES;    \
  const int across = (out_width + tile_columns - 1) / tile_columns;                            \
  const int down = (out_height + tile_lines - 1) / tile_lines;                                 \
  const int tile_row = WA_GROUP_X / across;                                                    \
  const int slice = tile_row / down;                                                           \
  const int first_column = (WA_GROUP_X - tile_row * across) * tile_columns;                    \
  const int first_line = (tile_row - slice * down) * tile_lines;                               \
  for (int k = WA_ITEM_X; k < GROUP * CHUNK; k += GROUP) {                                     \
    const int in_line =                                                                        \
        tile_lines == 1 ? k % (GROUP * CHUNK) : k % (GROUP * CHUNK / WA_TILE_LINES);           \
    const int of_tile = tile_lines == 1 ? 0 : k / (GROUP * CHUNK / WA_TILE_LINES);             \
    const int column = first_column + in_line;                                                 \
    const int line = first_line + of_tile;                                                     \
    if (column >= out_width || line >= out_height) continue;                                   \
    const WA_UINT64 i =                                                                        \
        ((WA_UINT64)slice * (WA_UINT64)out_height + (WA_UINT64)line) * (WA_UINT64)out_width +  \
        (WA_UINT64)column;                                                                     \
    shortcut WA_DECLARE_POINT statement;                                                       \
  }
#endif

// The neighbours of a point along an axis: their weights and indices; -1 beyond the edges.
typedef struct {
  double weight[6];
  int at[6];
} Neighbours;

// Returns false if the point has the value beyond the edges.
WA_INLINE bool wa_neighbours(int degree, int boundary, int extension, double x, int n,
                             double margin, Neighbours* found) {
  const double located = wa_located(boundary, WA_PLUS(x, margin), n);
  if (!wa_is_located(boundary, located)) return false;
  const double centre = (degree & 1) != 0 ? 0.0 : 0.5;
  const int whole = wa_whole(WA_PLUS(located, centre));
  // wa_whole() clamps these, and all their neighbours are equal. 0 * NaN and 0 * infinity are NaN.
  const bool is_far = whole <= -WA_MAX_LENGTH || whole >= WA_MAX_LENGTH;
  const double t = is_far ? 0.0 * located : (located - (double)whole) + centre;
  wa_double_weights(degree, t, found->weight);
  WA_UNROLL
  for (int j = 0; j <= degree; ++j) {
    found->at[j] = wa_extend(extension, whole - degree / 2 + j, n);
  }
  return true;
}

WA_INLINE double wa_spline_value(WA_GLOBAL const double* coefficients, int degree, int boundary,
                                 int extension, int dimensions, int width, int height, int depth,
                                 double margin, const double* point, double outside) {
  Neighbours across, down, along;
  bool is_inside = wa_neighbours(degree, boundary, extension, point[0], width, margin, &across);
  if (dimensions > 1) {
    is_inside =
        wa_neighbours(degree, boundary, extension, point[1], height, margin, &down) && is_inside;
  }
  if (dimensions > 2) {
    is_inside =
        wa_neighbours(degree, boundary, extension, point[2], depth, margin, &along) && is_inside;
  }
  if (!is_inside) return outside;
  double sum = 0.0;
  WA_UNROLL
  for (int c = 0; c <= (dimensions > 2 ? degree : 0); ++c) {
    const int slice = dimensions > 2 ? along.at[c] : 0;
    const double by_slice = dimensions > 2 ? along.weight[c] : 1.0;
    WA_UNROLL
    for (int b = 0; b <= (dimensions > 1 ? degree : 0); ++b) {
      const int line = dimensions > 1 ? down.at[b] : 0;
      const double by_line = dimensions > 1 ? down.weight[b] : 1.0;
      const bool is_line = slice >= 0 && line >= 0;
      const WA_UINT64 start =
          is_line ? ((WA_UINT64)slice * (WA_UINT64)height + (WA_UINT64)line) * (WA_UINT64)width : 0;
      WA_UNROLL
      for (int a = 0; a <= degree; ++a) {
        const double coefficient =
            is_line && across.at[a] >= 0 ? coefficients[start + (WA_UINT64)across.at[a]] : outside;
        sum += coefficient * by_slice * by_line * across.weight[a];
      }
    }
  }
  return sum;
}

#endif
