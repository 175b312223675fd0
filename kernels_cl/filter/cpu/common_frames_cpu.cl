// The common area of two images, in zero-padded frames, and the moments of its texture, for CPUs:
// like shared/common_frames.cl, with sixteen pixels of a row at a time. A work-item processes a
// band of WA_COMMON_BAND rows.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/common_frames.h"
#include "lib/launch.h"
#include "lib/simd.h"

// The position of the common area in an image: the pixels of a row, the index of the area's first
// pixel, and the number of pixels from it on.
typedef struct {
  int pitch, first, size;
} Source;

typedef struct {
  global const float* reference;
  global const float* reference_second;
  global const float* moving;
  global const float* moving_second;
  global const float* reference_weight;
  global const float* moving_weight;
  Source of_reference, of_weight, of_moving;
  int width, height, channels;
} Part;

// Sixteen pixels of a row of the images.
typedef struct {
  float16 reference, reference_second, moving, moving_second;
} Values;

typedef struct {
  float reference, reference_second, moving, moving_second;
} Means;

// Sixteen pixels from (x, y) on, or all that are left of the image. Loads may run into the next row
// instead of ending with the area.
WA_INLINE float16 pixels_of(global const float* image, Source source, int x, int y) {
  const int at = y * source.pitch + x;
  return load_some(image + source.first + at, min(16, source.size - at));
}

// Which of sixteen pixels from (x, y) on lie in the common area.
WA_INLINE int16 counted(const Part* part, int x, int y) {
  const float16 reference = pixels_of(part->reference_weight, part->of_weight, x, y);
  const float16 moving = pixels_of(part->moving_weight, part->of_moving, x, y);
  return (reference > WA_COMMON_MIN_WEIGHT) & (moving > WA_COMMON_MIN_WEIGHT) &
         (NUMBERS + x < part->width);
}

// The values in the common area minus the means; 0 elsewhere.
WA_INLINE Values values_at(const Part* part, const Means* mean, int x, int y, int16* are_counted) {
  const int16 wanted = counted(part, x, y);
  Values v;
  v.reference =
      only(pixels_of(part->reference, part->of_reference, x, y) - mean->reference, wanted);
  v.moving = only(pixels_of(part->moving, part->of_moving, x, y) - mean->moving, wanted);
  v.reference_second = 0.0f;
  v.moving_second = 0.0f;
  if (part->channels > 1) {
    v.reference_second =
        only(pixels_of(part->reference_second, part->of_reference, x, y) - mean->reference_second,
             wanted);
    v.moving_second =
        only(pixels_of(part->moving_second, part->of_moving, x, y) - mean->moving_second, wanted);
  }
  *are_counted = wanted;
  return v;
}

WA_INLINE void add(const Values* v, Values* sums) {
  sums->reference += v->reference;
  sums->reference_second += v->reference_second;
  sums->moving += v->moving;
  sums->moving_second += v->moving_second;
}

// Writes sum i of band b to moments[i tiles + b]: see shared/common_frames.cl.
SIMD_KERNEL common_moments(
    global const float* reference, global const float* reference_second, global const float* moving,
    global const float* moving_second, global const float* reference_weight,
    global const float* moving_weight, int reference_pitch, int reference_first, int reference_size,
    int weight_pitch, int weight_first, int weight_size, int moving_pitch, int moving_size,
    int width, int height, int channels, int tiles, global float* moments) {
  const Part part = {reference, reference_second, moving, moving_second, reference_weight,
                     moving_weight, {reference_pitch, reference_first, reference_size},
                     {weight_pitch, weight_first, weight_size}, {moving_pitch, 0, moving_size},
                     width, height, channels};
  const Means none = {0.0f, 0.0f, 0.0f, 0.0f};
  const int band = (int)get_global_id(0);
  int16 pixels = 0;
  Values sums = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int y = band * WA_COMMON_BAND; y < min((band + 1) * WA_COMMON_BAND, height); ++y) {
    Values of_row = {0.0f, 0.0f, 0.0f, 0.0f};  // summed separately, for less rounding
#pragma unroll 1
    for (int x = 0; x < width; x += 16) {
      int16 wanted;
      const Values v = values_at(&part, &none, x, y, &wanted);
      pixels -= wanted;
      add(&v, &of_row);
    }
    add(&of_row, &sums);
  }
  moments[band] = sum_of_lanes(convert_float16(pixels));
  moments[tiles + band] = sum_of_lanes(sums.reference);
  moments[2 * tiles + band] = sum_of_lanes(sums.reference_second);
  moments[3 * tiles + band] = sum_of_lanes(sums.moving);
  moments[4 * tiles + band] = sum_of_lanes(sums.moving_second);
}

WA_INLINE float total(global const float* sums, int count) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < count; ++i) sum += sums[i];
  return sum;
}

// The squares of both images, each with zeros on both sides, summed down columns.
typedef struct {
  local float* reference;
  local float* moving;
} Columns;

// Adds the squares of row y, or subtracts them if the sign is -1.
WA_INLINE void add_row(const Part* part, const Means* mean, int y, float sign,
                       const Columns* columns) {
#pragma unroll 1
  for (int x = 0; x < part->width; x += 16) {
    int16 wanted;
    const Values v = values_at(part, mean, x, y, &wanted);
    const float16 r = fma(v.reference, v.reference, v.reference_second * v.reference_second);
    const float16 m = fma(v.moving, v.moving, v.moving_second * v.moving_second);
    vstore16(fma((float16)(sign), r, vload16(0, columns->reference + x)), 0,
             columns->reference + x);
    vstore16(fma((float16)(sign), m, vload16(0, columns->moving + x)), 0, columns->moving + x);
  }
}

WA_INLINE float16 along(local const float* column) {
  float16 sum = 0.0f;
#pragma unroll
  for (int k = -WA_COMMON_RADIUS; k <= WA_COMMON_RADIUS; ++k) sum += vload16(0, column + k);
  return sum;
}

typedef struct {
  global float* reference;
  global float* moving;
  int width, height;
} Frames;

WA_INLINE void store_row(const Part* part, const Means* mean, int y, WaChannelRotation turn,
                         const Frames* frames) {
  const size_t plane = (size_t)frames->width * (size_t)frames->height;
#pragma unroll 1
  for (int x = 0; x < frames->width; x += 16) {
    int16 wanted;
    Values v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (x < part->width && y < part->height) v = values_at(part, mean, x, y, &wanted);
    const int count = frames->width - x;
    const size_t to = (size_t)y * (size_t)frames->width + (size_t)x;
    store_some(v.moving, count, frames->moving + to);
    if (part->channels < 2) {
      store_some(v.reference, count, frames->reference + to);
    } else {
      store_some(v.moving_second, count, frames->moving + plane + to);
      store_some(wa_rotated_first(turn, v.reference, v.reference_second), count,
                 frames->reference + to);
      store_some(wa_rotated_second(turn, v.reference, v.reference_second), count,
                 frames->reference + plane + to);
    }
  }
}

// Writes sum i of band g to sums[(first + i) groups + g]: see shared/common_frames.cl. `squares`
// has room for two rows of `reach` numbers.
SIMD_KERNEL common_frames(
    global const float* reference, global const float* reference_second, global const float* moving,
    global const float* moving_second, global const float* reference_weight,
    global const float* moving_weight, int reference_pitch, int reference_first, int reference_size,
    int weight_pitch, int weight_first, int weight_size, int moving_pitch, int moving_size,
    int width, int height, int channels, float cosine, float sine, global const float* moments,
    int tiles, int frame_width, int frame_height, int first_slice, global float* reference_frames,
    global float* moving_frames, int groups, int first, local float* squares, int reach,
    global float* sums) {
  const Part part = {reference, reference_second, moving, moving_second, reference_weight,
                     moving_weight, {reference_pitch, reference_first, reference_size},
                     {weight_pitch, weight_first, weight_size}, {moving_pitch, 0, moving_size},
                     width, height, channels};
  const size_t slices = (size_t)first_slice * (size_t)frame_width * (size_t)frame_height;
  const Frames frames = {reference_frames + slices, moving_frames + slices, frame_width,
                         frame_height};
  const WaChannelRotation turn = {cosine, sine};
  const float pixels = total(moments, tiles);
  const float inverse = pixels > 0.0f ? 1.0f / pixels : 0.0f;
  const Means mean = {
      total(moments + tiles, tiles) * inverse, total(moments + 2 * tiles, tiles) * inverse,
      total(moments + 3 * tiles, tiles) * inverse, total(moments + 4 * tiles, tiles) * inverse};
  const Columns columns = {squares + 16, squares + reach + 16};
  const int band = (int)get_global_id(0);
  const int begin = band * WA_COMMON_BAND;
  const int end = min(begin + WA_COMMON_BAND, frame_height);
#pragma unroll 1
  for (int i = 0; i < 2 * reach; i += 16) vstore16((float16)(0.0f), 0, squares + i);
  if (begin < height) {
#pragma unroll 1
    for (int y = max(begin - WA_COMMON_RADIUS, 0); y < min(begin + WA_COMMON_RADIUS, height); ++y) {
      add_row(&part, &mean, y, 1.0f, &columns);
    }
  }
  float16 of_reference = 0.0f, of_moving = 0.0f, of_both = 0.0f;
#pragma unroll 1
  for (int y = begin; y < end; ++y) {
    store_row(&part, &mean, y, turn, &frames);
    if (y >= height) continue;
    if (y + WA_COMMON_RADIUS < height) {
      add_row(&part, &mean, y + WA_COMMON_RADIUS, 1.0f, &columns);
    }
    if (y > begin && y > WA_COMMON_RADIUS) {
      add_row(&part, &mean, y - WA_COMMON_RADIUS - 1, -1.0f, &columns);
    }
#pragma unroll 1
    for (int x = 0; x < width; x += 16) {
      const int16 inside = NUMBERS + x < width;
      const float16 r = only(along(columns.reference + x), inside);
      const float16 m = only(along(columns.moving + x), inside);
      of_reference += r;
      of_moving += m;
      of_both = fma(r, m, of_both);
    }
  }
  sums += (size_t)first * (size_t)groups + (size_t)band;
  sums[0] = band == 0 ? pixels : 0.0f;
  sums[groups] = sum_of_lanes(of_reference);
  sums[2 * groups] = sum_of_lanes(of_moving);
  sums[3 * groups] = sum_of_lanes(of_both);
}
