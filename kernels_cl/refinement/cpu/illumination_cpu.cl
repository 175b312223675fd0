// The illumination model for CPUs: like illumination.cl, with sixteen neighbouring pixels or cells
// at a time, and with the Gaussian of the fit applied along rows of cells first and then down
// columns.
//
// Options: MASKED, if the images have weights; PROJECTIVE, if the matrix is a homography's.
//
// Moments and the sums of rows are stored in planes of `down` rows that are `pitch` apart. The
// moments of a row begin at `reach`, with as many zeros before and after them.
//
// variant: cpu
// variant: cpu -DMASKED
// variant: cpu -DPROJECTIVE
#define WA_REAL float16
#include "lib/complex_simd.h"
#include "lib/sample_location_simd.h"

// The images to compare.
typedef struct {
  Moving moving;
  float2 means;
  global const float* reference;
  global const float* reference_weight;  // with MASKED, as moving_weight
  global const float* moving_weight;
} Comparison;

// Adds the first `count` of sixteen pixels, from pixel `at` of the reference on, which map to these
// locations.
WA_INLINE void add_pixels(const Comparison* pair, const Locations* locations, size_t at, int count,
                          float16* sums) {
  const int16 counts = which_count(&pair->moving, locations, count, pair->reference_weight + at,
                                   pair->moving_weight);
  if (are_all(~counts)) return;
  const float16 r = load_some(pair->reference + at, count) - pair->means.x;
  const float16 m = splines_at(&pair->moving, locations, counts, false).value - pair->means.y;
  wa_add_illumination_pixel(only(r, counts), only(m, counts), only(1.0f, counts), sums);
}

// Each work-item processes a block of cells: `cells` across, no wider than a segment, and
// `cell_rows` down.
SIMD_KERNEL illumination_moments(
    global const float* reference, int reference_width, int reference_height, int reference_margin,
    global const float* coefficients, int width, int height, int margin, float4 x_row,
    float4 x_rest, float4 y_row, float4 y_rest, float2 means,
#ifdef PROJECTIVE
    float4 w_row, float4 w_rest,
#endif
#ifdef MASKED
    global const float* reference_weight, global const float* moving_weight,
#endif
    global float* moments, int across, int down, int cell, int cells, int cell_rows, int reach,
    int pitch) {
  Comparison pair = {moving_of(coefficients, width, height, margin)};
#ifdef PROJECTIVE
  const Matrix matrix = matrix_of(x_row, x_rest, y_row, y_rest, w_row, w_rest);
#else
  const Matrix matrix = matrix_of(x_row, x_rest, y_row, y_rest);
#endif
  pair.means = means;
  pair.reference = reference;
#ifdef MASKED
  pair.reference_weight = reference_weight;
  pair.moving_weight = moving_weight;
#endif
  const int blocks_across = (across + cells - 1) / cells;
  const int first_x = (int)get_global_id(0) % blocks_across * cells;
  const int first_y = (int)get_global_id(0) / blocks_across * cell_rows;
  const int last_x = min(first_x + cells, across);
  const int left = max(first_x * cell, reference_margin);
  const int columns = min(last_x * cell, reference_width - reference_margin) - left;
  int cell_of[SEGMENT];
  for (int i = 0; i < SEGMENT; ++i) cell_of[i] = (left + i) / cell - first_x;
#pragma unroll 1
  for (int cy = first_y; cy < min(first_y + cell_rows, down); ++cy) {
    const int top = max(cy * cell, reference_margin);
    const int rows = min((cy + 1) * cell, reference_height - reference_margin) - top;
    SegmentStart starts[SEGMENT];  // a cell is no higher than a segment is long
    for (int row = 0; row < rows; ++row) starts[row] = segment_start(&matrix, left, top + row);
    float of_cells[WA_ILLUMINATION_MOMENTS][SEGMENT];
    for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
      for (int c = 0; c < cells; ++c) of_cells[i][c] = 0.0f;
    }
#pragma unroll 1
    for (int chunk = 0; chunk * 16 < columns; ++chunk) {
      const int count = columns - chunk * 16;
      float16 sums[WA_ILLUMINATION_MOMENTS];
#pragma unroll
      for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) sums[i] = 0.0f;
#pragma unroll 1
      for (int row = 0; row < rows; ++row) {
        const size_t at =
            (size_t)(top + row) * (size_t)reference_width + (size_t)(left + chunk * 16);
        const Locations locations = locations_of(&matrix, starts[row], chunk);
        add_pixels(&pair, &locations, at, count, sums);
      }
      for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
        for (int lane = 0; lane < min(count, 16); ++lane) {
          of_cells[i][cell_of[chunk * 16 + lane]] += ((const float*)&sums[i])[lane];
        }
      }
    }
    for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
      global float* to = moments + ((size_t)i * (size_t)down + (size_t)cy) * (size_t)pitch + reach;
      for (int c = first_x; c < last_x; ++c) to[c] = of_cells[i][c - first_x];
    }
  }
}

// The offset of sixteen cells of a plane.
WA_INLINE size_t cells_at(int plane, int down, int row, int pitch, int first) {
  return ((size_t)plane * (size_t)down + (size_t)row) * (size_t)pitch + (size_t)first;
}

// Each work-item processes a row of cells. weights: b(0) ... b(reach) of a Gaussian over cells.
SIMD_KERNEL illumination_rows(
    global const float* moments, int across, int down, global const float* weights, int reach,
    int pitch, global float* sums) {
  const int cy = (int)get_global_id(0);
#pragma unroll 1
  for (int cx = 0; cx < across; cx += 16) {
    float16 row[WA_ILLUMINATION_ROW_SUMS];
    for (int i = 0; i < WA_ILLUMINATION_ROW_SUMS; ++i) row[i] = 0.0f;
#pragma unroll 1
    for (int u = -reach; u <= reach; ++u) {
      float16 of_cells[WA_ILLUMINATION_MOMENTS];
      for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
        of_cells[i] = vload16(0, moments + cells_at(i, down, cy, pitch, cx + reach + u));
      }
      wa_add_illumination_cell(of_cells, weights[abs(u)], (float)u, row);
    }
    for (int i = 0; i < WA_ILLUMINATION_ROW_SUMS; ++i) {
      vstore16(row[i], 0, sums + cells_at(i, down, cy, pitch, cx));
    }
  }
}

// Each work-item processes a row of cells. prior: gain and strength.
SIMD_KERNEL illumination_fit(
    global const float* row_sums, int across, int down, global const float* weights, int reach,
    int pitch, float2 prior, float2 means, global float2* field) {
  const int cy = (int)get_global_id(0);
#pragma unroll 1
  for (int cx = 0; cx < across; cx += 16) {
    float16 sums[WA_ILLUMINATION_SUMS];
    for (int i = 0; i < WA_ILLUMINATION_SUMS; ++i) sums[i] = 0.0f;
#pragma unroll 1
    for (int y = max(cy - reach, 0); y <= min(cy + reach, down - 1); ++y) {
      float16 row[WA_ILLUMINATION_ROW_SUMS];
      for (int i = 0; i < WA_ILLUMINATION_ROW_SUMS; ++i) {
        row[i] = vload16(0, row_sums + cells_at(i, down, y, pitch, cx));
      }
      wa_add_illumination_row(row, weights[abs(y - cy)], (float)(y - cy), sums);
    }
    Lanes fitted;
    wa_local_illumination(sums, prior.x, prior.y, means.x, means.y, &fitted.re, &fitted.im);
    store_lanes(fitted, min(across - cx, 16), (global float*)(field + cy * across + cx));
  }
}
