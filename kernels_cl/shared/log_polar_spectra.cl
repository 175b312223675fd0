// Log-polar spectra (registration paper, equations 11 to 13) of many images, from their half
// spectra: each column (radius) is divided by its mean over the angles, minus 1. Points beyond the
// Nyquist frequency are 0 and not part of the mean.
//
// Options: COLUMNS and ROWS, the size of the work-group; ROWS is a power of two. POWERS, if
// magnitude.cl has already computed the powers of the magnitudes: a power is needed at four or more
// points, and on CPUs computing it again costs more than storing it.
//
// variant: gpu -DCOLUMNS=8 -DROWS=32
// variant: gpu -DCOLUMNS=8 -DROWS=32 -DPOWERS
#include "formulas/bilinear.h"
#include "formulas/log_polar.h"
#include "formulas/magnitude.h"
#include "shared/kernel_language.h"

// The power of the magnitude at row `row` of a half spectrum whose rows are shifted so that row
// height / 2 is v = 0; `at` counts pixels in these rows.
WA_INLINE float wa_power_at(WA_GLOBAL const float* spectrum, int at, int columns, int height,
                            float half_exponent) {
#if defined(POWERS)
  return spectrum[at];
#else
  const int moved = at / columns;
  const int row = moved - height / 2;
  WA_GLOBAL const float* p =
      spectrum + 2 * ((row < 0 ? row + height : row) * columns + (at - moved * columns));
  return wa_magnitude_power(p[0], p[1], half_exponent);
#endif
}

// The power of the magnitude at frequency (u, v), interpolated.
WA_INLINE float wa_power_between(WA_GLOBAL const float* spectrum, int columns, int height, float u,
                                 float v, float half_exponent) {
  int above, below, right;
  float x, y;
  wa_half_plane_cell(u, v, columns, height, &above, &below, &right, &x, &y);
  return wa_bilinear(wa_power_at(spectrum, above, columns, height, half_exponent),
                     wa_power_at(spectrum, above + right, columns, height, half_exponent),
                     wa_power_at(spectrum, below, columns, height, half_exponent),
                     wa_power_at(spectrum, below + right, columns, height, half_exponent), x, y);
}

// A work-group processes COLUMNS radii of one image; the ROWS work-items of a column share its
// angles. (u_end, v_end) are the Nyquist frequencies.
WA_KERNEL(COLUMNS, ROWS)
log_polar_spectra(WA_GLOBAL const float* spectra, int columns, int height, float half_exponent,
                  WA_GLOBAL const float* radii, int radius_count, WA_GLOBAL const float* directions,
                  int angle_count, float u_end, float v_end, WA_GLOBAL float* output) {
  WA_BEGIN();
  WA_LOCAL float sums[ROWS][COLUMNS];
  WA_LOCAL float counts[ROWS][COLUMNS];
  const int groups = (radius_count + COLUMNS - 1) / COLUMNS;  // per image
  const int number = WA_GROUP_X / groups;
  const int column = WA_ITEM_X;
  const int row = WA_ITEM_Y;
  const int i = (WA_GROUP_X - number * groups) * COLUMNS + column;
#if defined(POWERS)
  WA_GLOBAL const float* spectrum = spectra + (WA_UINT64)number * columns * height;
#else
  WA_GLOBAL const float* spectrum = spectra + 2 * (WA_UINT64)number * columns * height;
#endif
  WA_GLOBAL float* image = output + (WA_UINT64)number * radius_count * angle_count;
  float sum = 0.0f;
  float count = 0.0f;
  if (i < radius_count) {
    for (int j = row; j < angle_count; j += ROWS) {
      const float u = radii[i] * directions[2 * j];
      const float v = radii[i] * directions[2 * j + 1];
      float value = 0.0f;
      if (u <= u_end && WA_FABS(v) <= v_end) {
        value = wa_power_between(spectrum, columns, height, u, v, half_exponent);
      }
      image[j * radius_count + i] = value;
      sum += value;
      count += value != 0.0f ? 1.0f : 0.0f;
    }
  }
  sums[row][column] = sum;
  counts[row][column] = count;
  WA_BARRIER();
  for (int half_rows = ROWS / 2; half_rows > 0; half_rows /= 2) {
    if (row < half_rows) {
      sums[row][column] += sums[row + half_rows][column];
      counts[row][column] += counts[row + half_rows][column];
    }
    WA_BARRIER();
  }
  if (i >= radius_count || !(sums[0][column] > 0.0f)) return;
  const float one_over_mean = counts[0][column] / sums[0][column];
  for (int j = row; j < angle_count; j += ROWS) {
    const float value = image[j * radius_count + i];
    if (value != 0.0f) image[j * radius_count + i] = WA_FMA(value, one_over_mean, -1.0f);
  }
}
