// The illumination model: local gain and offset between two registered images, from moments of
// cells.
//
// Options: CELL, the side of a cell in pixels; MASKED, if the images have weights; PROJECTIVE, if
// the matrix is a homography's.
//
// variant: gpu -DCELL=8
// variant: gpu -DCELL=8 -DMASKED
// variant: gpu -DCELL=8 -DPROJECTIVE
#include "lib/sample_location.h"

// Computes the moments of a cell: sums of 1, r, m, r r and r m, about the given means. Moment i of
// cell c is stored at i * cells + c.
kernel void illumination_moments(global const float* reference, int reference_width,
                                 int reference_height, int reference_margin,
                                 global const float* coefficients, int width, int height,
                                 int margin, float4 x_row, float4 x_rest, float4 y_row,
                                 float4 y_rest, float2 means,
#ifdef PROJECTIVE
                                 float4 w_row, float4 w_rest,
#endif
#ifdef MASKED
                                 global const float* reference_weight,
                                 global const float* moving_weight,
#endif
                                 global float* moments, int across, int down) {
  const int cx = (int)get_global_id(0);
  const int cy = (int)get_global_id(1);
  if (cx >= across || cy >= down) return;
#ifdef PROJECTIVE
  const Matrix matrix = {x_row, x_rest, y_row, y_rest, w_row, w_rest};
#else
  const Matrix matrix = {x_row, x_rest, y_row, y_rest};
#endif
  float sums[WA_ILLUMINATION_MOMENTS] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  const int left = max(cx * CELL, reference_margin);
  const int top = max(cy * CELL, reference_margin);
  const int right = min((cx + 1) * CELL, reference_width - reference_margin);
  const int bottom = min((cy + 1) * CELL, reference_height - reference_margin);
  for (int py = top; py < bottom; ++py) {
    for (int px = left; px < right; ++px) {
      SampleLocation location;
      if (!sample_location(&matrix, px, py, width, height, margin, &location)) continue;
#ifdef MASKED
      if (reference_weight[py * reference_width + px] < WA_MIN_WEIGHT) continue;
      if (!location_counts(moving_weight, width, &location)) continue;
#endif
      const float r = reference[py * reference_width + px] - means.x;
      const float m = spline_value(coefficients, width, &location) - means.y;
      wa_add_illumination_pixel(r, m, 1.0f, sums);
    }
  }
  const int cells = across * down;
  for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) moments[i * cells + cy * across + cx] = sums[i];
}

// weights: b(0) ... b(reach) of a Gaussian over cells. prior: gain and strength.
kernel void illumination_fit(global const float* moments, int across, int down,
                             global const float* weights, int reach, float2 prior, float2 means,
                             global float2* field) {
  const int cx = (int)get_global_id(0);
  const int cy = (int)get_global_id(1);
  if (cx >= across || cy >= down) return;
  const int cells = across * down;
  float sums[WA_ILLUMINATION_SUMS];
  for (int i = 0; i < WA_ILLUMINATION_SUMS; ++i) sums[i] = 0.0f;
  for (int y = max(cy - reach, 0); y <= min(cy + reach, down - 1); ++y) {
    float row[WA_ILLUMINATION_ROW_SUMS];
    for (int i = 0; i < WA_ILLUMINATION_ROW_SUMS; ++i) row[i] = 0.0f;
    for (int x = max(cx - reach, 0); x <= min(cx + reach, across - 1); ++x) {
      float of_cell[WA_ILLUMINATION_MOMENTS];
      for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
        of_cell[i] = moments[i * cells + y * across + x];
      }
      wa_add_illumination_cell(of_cell, weights[abs(x - cx)], (float)(x - cx), row);
    }
    wa_add_illumination_row(row, weights[abs(y - cy)], (float)(y - cy), sums);
  }
  float gain, offset;
  wa_local_illumination(sums, prior.x, prior.y, means.x, means.y, &gain, &offset);
  field[cy * across + cx] = (float2)(gain, offset);
}
