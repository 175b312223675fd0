// Dominant orientations and descriptors of keypoints, for CPUs: like descriptors.cl, but sixteen
// samples at once, each of which is then added to the bins around it.
//
// variant: cpu
#define WA_REAL float16
#include "lib/simd.h"
#include "shared/gradient_samples.h"

// The cells along a side of the histogram, plus one at both ends, so that every sample lies between
// existing cells.
#define ALL_CELLS (CELLS + 2)

// Gradients at the pixels nearest to the keypoint plus (u, v).
WA_INLINE WaGradient gradients_about(global const float* image, int width, int height,
                                     WaKeypoint place, float16 u, float16 v) {
  const int16 x = convert_int16(wa_nearest_pixel(place.x, u));
  const int16 y = convert_int16(wa_nearest_pixel(place.y, v));
  const int16 inside = (x >= 1) & (y >= 1) & (x <= width - 2) & (y <= height - 2);
  float16 dx = 0.0f;
  float16 dy = 0.0f;
  if (!are_all(~inside)) {
    const int16 at = select((int16)(width + 1), y * width + x, inside);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      global const float* pixel = image + ((const int*)&at)[i];
      ((float*)&dx)[i] = pixel[1] - pixel[-1];
      ((float*)&dy)[i] = pixel[width] - pixel[-width];
    }
    dx = only(dx, inside);
    dy = only(dy, inside);
  }
  return wa_gradient(convert_float16(x) - place.x, convert_float16(y) - place.y, dx, dy);
}

// Each work-item computes the orientations of a keypoint.
SIMD_KERNEL directions(
    global const float* octave, global const int* planes, int apart,
    global const WaKeypoint* places, int first, global float* radians) {
  local float bins[BINS];
  local float smoother[BINS];
  const int number = first + (int)get_group_id(0);
  const WaKeypoint place = places[number];
  global const int* plane = planes + place.plane * WA_PLANE_WORDS;
  global const float* image = octave + place.image * apart + plane[0];
  const float step = wa_step_for_directions(place);
  for (int i = 0; i < BINS; ++i) bins[i] = 0.0f;
#pragma unroll 1
  for (int i = 0; i < SAMPLES; i += 16) {
    const int16 sample = i + NUMBERS;
    const int16 row = sample / SIDE;
    const WaGradient gradient = gradients_about(
        image, plane[1], plane[2], place, step * wa_sample(convert_float16(sample - row * SIDE)),
        step * wa_sample(convert_float16(row)));
    const float16 lengths = wa_length_for_directions(gradient, place);
    const int16 number_of_bin = convert_int16(wa_bin_of(gradient));
    const int16 bin_of = select(number_of_bin, (int16)(0), number_of_bin == BINS);
#pragma unroll
    for (int k = 0; k < 16; ++k) bins[((const int*)&bin_of)[k]] += ((const float*)&lengths)[k];
  }
  for (int i = 0; i < BINS; ++i) smoother[i] = wa_smoothed_bin(bins, i);
  for (int i = 0; i < BINS; ++i) bins[i] = wa_smoothed_bin(smoother, i);
  wa_find_directions(bins, radians + MAX_DIRECTIONS * number);
}

// Each work-item computes the descriptor of a keypoint.
SIMD_KERNEL descriptors(
    global const float* octave, global const int* planes, int apart,
    global const WaKeypoint* places, int first, global float* rows) {
  // Two neighbouring cells of a row form a vector.
  float histogram[ALL_CELLS * ALL_CELLS * DIRECTIONS];
  const float16 direction_of_bin = convert_float16(NUMBERS % DIRECTIONS);
  const float16 cell_of_bin = convert_float16(NUMBERS / DIRECTIONS);
  const int number = first + (int)get_group_id(0);
  const WaKeypoint place = places[number];
  global const int* plane = planes + place.plane * WA_PLANE_WORDS;
  global const float* image = octave + place.image * apart + plane[0];
  const WaCells cells = wa_cells(place);
  for (int i = 0; i < ALL_CELLS * ALL_CELLS * DIRECTIONS; ++i) histogram[i] = 0.0f;
#pragma unroll 1
  for (int i = 0; i < SAMPLES; i += 16) {
    const int16 number_of_sample = i + NUMBERS;
    const int16 line = number_of_sample / SIDE;
    const float16 along =
        cells.step * wa_sample(convert_float16(number_of_sample - line * SIDE));
    const float16 down = cells.step * wa_sample(convert_float16(line));
    const WaSample sample = wa_sample_of(
        gradients_about(image, plane[1], plane[2], place,
                        cells.cosine * along - cells.sine * down,
                        cells.sine * along + cells.cosine * down),
        cells);
    // A sample beyond the outermost cells adds nothing to the cells within.
    const int16 left = clamp(convert_int16(floor(sample.column)), -1, CELLS - 1);
    const int16 top = clamp(convert_int16(floor(sample.row)), -1, CELLS - 1);
    const float16 across = sample.column - convert_float16(left);
    const float16 below = sample.row - convert_float16(top);
    const float16 upper = wa_bin_weight(below) * sample.length;
    const float16 lower = wa_bin_weight(below - 1.0f) * sample.length;
    const int16 at = ((top + 1) * ALL_CELLS + left + 1) * DIRECTIONS;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) {
      const float16 share =
          wa_bin_weight((float16)(((const float*)&across)[k]) - cell_of_bin) *
          wa_orientation_weight((float16)(((const float*)&sample.direction)[k]) -
                                direction_of_bin);
      float* bins = histogram + ((const int*)&at)[k];
      float* bins_below = bins + ALL_CELLS * DIRECTIONS;
      const float16 sums = fma((float16)(((const float*)&upper)[k]), share, vload16(0, bins));
      const float16 sums_below =
          fma((float16)(((const float*)&lower)[k]), share, vload16(0, bins_below));
      vstore16(sums, 0, bins);
      vstore16(sums_below, 0, bins_below);
    }
  }
  float16 values[DIMENSIONS / 16];
  float16 squares = 0.0f;
#pragma unroll
  for (int i = 0; i < DIMENSIONS / 16; ++i) {
    const int cell = (i / 2 + 1) * ALL_CELLS + i % 2 * 2 + 1;
    values[i] = vload16(0, histogram + cell * DIRECTIONS);
    squares = fma(values[i], values[i], squares);
  }
  const float16 most = wa_most_of_bin(sum_of_lanes(squares));
  float16 sums = 0.0f;
#pragma unroll
  for (int i = 0; i < DIMENSIONS / 16; ++i) {
    values[i] = min(values[i], most);
    sums += values[i];
  }
  const float sum = sum_of_lanes(sums);
  global float* to = rows + (size_t)number * DIMENSIONS;
#pragma unroll
  for (int i = 0; i < DIMENSIONS / 16; ++i) vstore16(wa_of_bin(values[i], sum), i, to);
}
