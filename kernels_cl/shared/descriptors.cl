// Dominant orientations and descriptors of keypoints (Lowe 2004): histograms of gradient
// directions, from a grid of samples around the keypoint.
//
// One work-group for each keypoint. Each bin of a histogram belongs to one work-item, which goes
// over the samples in order, so that the sums are the same in every execution.
//
// Option: GROUP, the size of the work-group, a power of two.
//
// variant: gpu -DGROUP=128
#include "shared/gradient_samples.h"
#include "shared/group_sum.h"

WA_INLINE WaGradient wa_gradient_about(WA_GLOBAL const float* image, int width, int height,
                                       WaKeypoint place, float u, float v) {
  const int x = (int)wa_nearest_pixel(place.x, u);
  const int y = (int)wa_nearest_pixel(place.y, v);
  float dx = 0.0f;
  float dy = 0.0f;
  if (x >= 1 && y >= 1 && x <= width - 2 && y <= height - 2) {
    WA_GLOBAL const float* at = image + y * width + x;
    dx = at[1] - at[-1];
    dy = at[width] - at[-width];
  }
  return wa_gradient((float)x - place.x, (float)y - place.y, dx, dy);
}

// For each keypoint, from number `first` on, the orientations of the two highest peaks, the highest
// first.
WA_KERNEL(GROUP, 1)
directions(WA_GLOBAL const float* octave, WA_GLOBAL const int* planes, int apart,
           WA_GLOBAL const WaKeypoint* places, int first, WA_GLOBAL float* radians) {
  WA_BEGIN();
  WA_LOCAL float bins[BINS];
  WA_LOCAL float smoother[BINS];
  WA_LOCAL float lengths[SAMPLES];
  WA_LOCAL int bin_of[SAMPLES];
  const int item = WA_ITEM_X;
  const int number = first + WA_GROUP_X;
  const WaKeypoint place = places[number];
  WA_GLOBAL const int* plane = planes + place.plane * WA_PLANE_WORDS;
  WA_GLOBAL const float* image = octave + place.image * apart + plane[0];
  const float step = wa_step_for_directions(place);
  for (int i = item; i < SAMPLES; i += GROUP) {
    const WaGradient gradient =
        wa_gradient_about(image, plane[1], plane[2], place, step * wa_sample((float)(i % SIDE)),
                          step * wa_sample((float)(i / SIDE)));
    lengths[i] = wa_length_for_directions(gradient, place);
    bin_of[i] = (int)wa_bin_of(gradient) % BINS;
  }
  WA_BARRIER();
  for (int bin = item; bin < BINS; bin += GROUP) {
    float sum = 0.0f;
    for (int i = 0; i < SAMPLES; ++i) sum += bin_of[i] == bin ? lengths[i] : 0.0f;
    bins[bin] = sum;
  }
  WA_BARRIER();
  for (int i = item; i < BINS; i += GROUP) smoother[i] = wa_smoothed_bin(bins, i);
  WA_BARRIER();
  for (int i = item; i < BINS; i += GROUP) bins[i] = wa_smoothed_bin(smoother, i);
  WA_BARRIER();
  if (item == 0) wa_find_directions(bins, radians + MAX_DIRECTIONS * number);
}

// The descriptor of each keypoint, from number `first` on.
WA_KERNEL(GROUP, 1)
descriptors(WA_GLOBAL const float* octave, WA_GLOBAL const int* planes, int apart,
            WA_GLOBAL const WaKeypoint* places, int first, WA_GLOBAL float* rows) {
  WA_BEGIN();
  WA_LOCAL float histogram[DIMENSIONS];
  WA_LOCAL float columns_of[SAMPLES], rows_of[SAMPLES], directions_of[SAMPLES], lengths[SAMPLES];
  WA_LOCAL float sums[GROUP];
  const int item = WA_ITEM_X;
  const int number = first + WA_GROUP_X;
  const WaKeypoint place = places[number];
  WA_GLOBAL const int* plane = planes + place.plane * WA_PLANE_WORDS;
  WA_GLOBAL const float* image = octave + place.image * apart + plane[0];
  const WaCells cells = wa_cells(place);
  for (int i = item; i < SAMPLES; i += GROUP) {
    const float along = cells.step * wa_sample((float)(i % SIDE));
    const float down = cells.step * wa_sample((float)(i / SIDE));
    const WaSample sample = wa_sample_of(
        wa_gradient_about(image, plane[1], plane[2], place,
                          cells.cosine * along - cells.sine * down,
                          cells.sine * along + cells.cosine * down),
        cells);
    columns_of[i] = sample.column;
    rows_of[i] = sample.row;
    directions_of[i] = sample.direction;
    lengths[i] = sample.length;
  }
  WA_BARRIER();
  for (int i = item; i < DIMENSIONS; i += GROUP) {
    const int d = i % DIRECTIONS;
    const int x = i / DIRECTIONS % CELLS;
    const int y = i / DIRECTIONS / CELLS;
    // Samples of the rows and columns within a cell's side of the bin's middle, and one more at
    // both ends, because the nearest pixel may be up to half a pixel away.
    const int per_cell = SIDE / (CELLS + 1);
    const int from_x = x * per_cell - per_cell / 2 + 1;
    const int from_y = y * per_cell - per_cell / 2 + 1;
    float sum = 0.0f;
    for (int row = from_y; row < from_y + 2 * per_cell + 2; ++row) {
      for (int column = from_x; column < from_x + 2 * per_cell + 2; ++column) {
        if (row < 0 || column < 0 || row >= SIDE || column >= SIDE) continue;
        const int k = row * SIDE + column;
        sum = WA_FMA(wa_bin_weight(columns_of[k] - (float)x) * wa_bin_weight(rows_of[k] - (float)y) *
                         wa_orientation_weight(directions_of[k] - (float)d),
                     lengths[k], sum);
      }
    }
    histogram[i] = sum;
  }
  float squares = 0.0f;
  for (int i = item; i < DIMENSIONS; i += GROUP) {
    squares = WA_FMA(histogram[i], histogram[i], squares);
  }
  WA_ADD_UP(sums, item, GROUP, squares)
  const float most = wa_most_of_bin(squares);
  float sum = 0.0f;
  for (int i = item; i < DIMENSIONS; i += GROUP) {
    histogram[i] = histogram[i] < most ? histogram[i] : most;
    sum += histogram[i];
  }
  WA_ADD_UP(sums, item, GROUP, sum)
  for (int i = item; i < DIMENSIONS; i += GROUP) {
    rows[(WA_UINT64)number * DIMENSIONS + i] = wa_of_bin(histogram[i], sum);
  }
}
