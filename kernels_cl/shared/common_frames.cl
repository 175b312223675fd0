// The common area of two images, in zero-padded frames, and the moments of its texture: first
// common_moments for the means, then common_frames.
//
// Options: ROWS, the rows of a work-group, a power of two; COLUMNS, the columns of a work-group and
// of a tile; TILE_ROWS and MOMENT_ROWS, the rows of a tile of either kernel.
//
// variant: gpu -DROWS=8 -DCOLUMNS=32 -DTILE_ROWS=16 -DMOMENT_ROWS=64
#include "formulas/common_frames.h"
#include "shared/kernel_language.h"

#define GROUP (ROWS * COLUMNS)
#define SIDE (2 * WA_COMMON_RADIUS + 1)
#define REACHED_COLUMNS (COLUMNS + 2 * WA_COMMON_RADIUS)
#define REACHED_ROWS (TILE_ROWS + 2 * WA_COMMON_RADIUS)

// Sums each line of GROUP numbers, in the same order every time; line i's sum becomes line[i][0].
#define SUM_UP_LINES(lines, count, item)                                        \
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {                    \
    WA_BARRIER();                                                               \
    if (item < reached) {                                                       \
      for (int i = 0; i < (count); ++i) lines[i][item] += lines[i][item + reached]; \
    }                                                                           \
  }                                                                             \
  WA_BARRIER();

// Writes sum i of tile t to moments[i tiles + t]. An image's pitch is the number of columns of the
// whole image, and its first pixel is the first one of the common area; width and height are those
// of the area. A work-group processes a tile of MOMENT_ROWS rows.
WA_KERNEL(COLUMNS, ROWS)
common_moments(WA_GLOBAL const float* reference, WA_GLOBAL const float* reference_second,
               WA_GLOBAL const float* moving, WA_GLOBAL const float* moving_second,
               WA_GLOBAL const float* reference_weight, WA_GLOBAL const float* moving_weight,
               int reference_pitch, int reference_first, int weight_pitch, int weight_first,
               int moving_pitch, int width, int height, int columns_of_tiles, int tiles,
               WA_GLOBAL float* moments) {
  WA_BEGIN();
  WA_LOCAL float lines[WA_COMMON_MOMENTS][GROUP];
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  const int x = WA_GROUP_X * COLUMNS + WA_ITEM_X;
  float sums[WA_COMMON_MOMENTS];
  for (int i = 0; i < WA_COMMON_MOMENTS; ++i) sums[i] = 0.0f;
  for (int row = WA_ITEM_Y; row < MOMENT_ROWS; row += ROWS) {
    const int y = WA_GROUP_Y * MOMENT_ROWS + row;
    if (x >= width || y >= height) break;
    const WA_UINT64 of_weight = (WA_UINT64)weight_first + (WA_UINT64)y * weight_pitch + x;
    const WA_UINT64 of_moving = (WA_UINT64)y * moving_pitch + x;
    if (!(reference_weight[of_weight] > WA_COMMON_MIN_WEIGHT &&
          moving_weight[of_moving] > WA_COMMON_MIN_WEIGHT)) {
      continue;
    }
    const WA_UINT64 of_reference = (WA_UINT64)reference_first + (WA_UINT64)y * reference_pitch + x;
    sums[0] += 1.0f;
    sums[1] += reference[of_reference];
    sums[2] += reference_second[of_reference];
    sums[3] += moving[of_moving];
    sums[4] += moving_second[of_moving];
  }
  for (int i = 0; i < WA_COMMON_MOMENTS; ++i) lines[i][item] = sums[i];
  SUM_UP_LINES(lines, WA_COMMON_MOMENTS, item)
  if (item < WA_COMMON_MOMENTS) {
    moments[item * tiles + WA_GROUP_Y * columns_of_tiles + WA_GROUP_X] = lines[item][0];
  }
}

// The images at a pixel, or their means.
typedef struct {
  float reference, reference_second, moving, moving_second;
} CommonValues;

typedef struct {
  WA_GLOBAL const float* reference;
  WA_GLOBAL const float* reference_second;
  WA_GLOBAL const float* moving;
  WA_GLOBAL const float* moving_second;
  WA_GLOBAL const float* reference_weight;
  WA_GLOBAL const float* moving_weight;
  int reference_pitch, reference_first, weight_pitch, weight_first, moving_pitch;
  int width, height, channels;
} CommonPart;

// The values minus the means at a common pixel; 0 elsewhere.
WA_INLINE CommonValues wa_common_values(const CommonPart* part, const CommonValues* mean, int x,
                                        int y) {
  CommonValues v = {0.0f, 0.0f, 0.0f, 0.0f};
  if (x < 0 || y < 0 || x >= part->width || y >= part->height) return v;
  const WA_UINT64 of_weight = (WA_UINT64)part->weight_first + (WA_UINT64)y * part->weight_pitch + x;
  const WA_UINT64 of_moving = (WA_UINT64)y * part->moving_pitch + x;
  if (!(part->reference_weight[of_weight] > WA_COMMON_MIN_WEIGHT &&
        part->moving_weight[of_moving] > WA_COMMON_MIN_WEIGHT)) {
    return v;
  }
  const WA_UINT64 of_reference =
      (WA_UINT64)part->reference_first + (WA_UINT64)y * part->reference_pitch + x;
  v.reference = part->reference[of_reference] - mean->reference;
  v.moving = part->moving[of_moving] - mean->moving;
  if (part->channels > 1) {
    v.reference_second = part->reference_second[of_reference] - mean->reference_second;
    v.moving_second = part->moving_second[of_moving] - mean->moving_second;
  }
  return v;
}

typedef struct {
  WA_GLOBAL float* reference;
  WA_GLOBAL float* moving;
  int width, height, channels;
  WaChannelRotation turn;
} CommonFrames;

WA_INLINE void wa_store_common(const CommonFrames* frames, int x, int y, const CommonValues* v) {
  if (x >= frames->width || y >= frames->height) return;
  const WA_UINT64 i = (WA_UINT64)y * frames->width + x;
  frames->moving[i] = v->moving;
  if (frames->channels < 2) {
    frames->reference[i] = v->reference;
    return;
  }
  const WA_UINT64 second = i + (WA_UINT64)frames->width * frames->height;
  frames->moving[second] = v->moving_second;
  frames->reference[i] = wa_rotated_first(frames->turn, v->reference, v->reference_second);
  frames->reference[second] = wa_rotated_second(frames->turn, v->reference, v->reference_second);
}

// A work-group processes a tile of TILE_ROWS rows of the frames, which begin with a slice of their
// images, and computes the total of the moments again. Writes sum i of group g to sums[(first + i)
// groups + g].
WA_KERNEL(COLUMNS, ROWS)
common_frames(WA_GLOBAL const float* reference, WA_GLOBAL const float* reference_second,
              WA_GLOBAL const float* moving, WA_GLOBAL const float* moving_second,
              WA_GLOBAL const float* reference_weight, WA_GLOBAL const float* moving_weight,
              int reference_pitch, int reference_first, int weight_pitch, int weight_first,
              int moving_pitch, int width, int height, int channels, float cosine, float sine,
              WA_GLOBAL const float* moments, int tiles, int frame_width, int frame_height,
              int first_slice, WA_GLOBAL float* reference_frames, WA_GLOBAL float* moving_frames,
              int columns_of_groups, int groups, int first, WA_GLOBAL float* sums) {
  WA_BEGIN();
  WA_LOCAL float lines[WA_COMMON_MOMENTS][GROUP];
  WA_LOCAL float of_reference[REACHED_ROWS][REACHED_COLUMNS];
  WA_LOCAL float of_moving[REACHED_ROWS][REACHED_COLUMNS];
  WA_LOCAL float down_reference[TILE_ROWS][REACHED_COLUMNS];
  WA_LOCAL float down_moving[TILE_ROWS][REACHED_COLUMNS];
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  const int tile_x = WA_GROUP_X * COLUMNS;
  const int tile_y = WA_GROUP_Y * TILE_ROWS;
  const WA_UINT64 at = (WA_UINT64)first * groups + (WA_GROUP_Y * columns_of_groups + WA_GROUP_X);
  const CommonPart part = {reference,       reference_second, moving,       moving_second,
                           reference_weight, moving_weight,   reference_pitch, reference_first,
                           weight_pitch,    weight_first,     moving_pitch, width,
                           height,          channels};
  const WA_UINT64 slices = (WA_UINT64)first_slice * frame_width * frame_height;
  const CommonFrames frames = {reference_frames + slices, moving_frames + slices, frame_width,
                               frame_height,              channels,               {cosine, sine}};

  // A group without a common pixel skips its loops, but does not return: PoCL crashes on barriers
  // after a return.
  const int inside = tile_x < width && tile_y < height;
  if (!inside) {
    const CommonValues nothing = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int row = WA_ITEM_Y; row < TILE_ROWS; row += ROWS) {
      wa_store_common(&frames, tile_x + WA_ITEM_X, tile_y + row, &nothing);
    }
  }
  const int summed_tiles = inside ? tiles : 0;
  const int reached_rows = inside ? REACHED_ROWS : 0;
  const int rows = inside ? TILE_ROWS : 0;

  for (int i = 0; i < WA_COMMON_MOMENTS; ++i) {
    float sum = 0.0f;
    for (int tile = item; tile < summed_tiles; tile += GROUP) sum += moments[i * tiles + tile];
    lines[i][item] = sum;
  }
  SUM_UP_LINES(lines, WA_COMMON_MOMENTS, item)
  const float pixels = lines[0][0];
  const float inverse = pixels > 0.0f ? 1.0f / pixels : 0.0f;
  const CommonValues mean = {lines[1][0] * inverse, lines[2][0] * inverse, lines[3][0] * inverse,
                             lines[4][0] * inverse};

  for (int row = WA_ITEM_Y; row < reached_rows; row += ROWS) {
    for (int column = WA_ITEM_X; column < REACHED_COLUMNS; column += COLUMNS) {
      const int x = tile_x + column - WA_COMMON_RADIUS;
      const int y = tile_y + row - WA_COMMON_RADIUS;
      const CommonValues v = wa_common_values(&part, &mean, x, y);
      of_reference[row][column] =
          WA_FMA(v.reference, v.reference, v.reference_second * v.reference_second);
      of_moving[row][column] = WA_FMA(v.moving, v.moving, v.moving_second * v.moving_second);
      if (x >= tile_x && x < tile_x + COLUMNS && y >= tile_y && y < tile_y + TILE_ROWS) {
        wa_store_common(&frames, x, y, &v);
      }
    }
  }
  WA_BARRIER();
  for (int row = WA_ITEM_Y; row < rows; row += ROWS) {
    for (int column = WA_ITEM_X; column < REACHED_COLUMNS; column += COLUMNS) {
      float r = 0.0f;
      float m = 0.0f;
      for (int k = 0; k < SIDE; ++k) {
        r += of_reference[row + k][column];
        m += of_moving[row + k][column];
      }
      down_reference[row][column] = r;
      down_moving[row][column] = m;
    }
  }
  WA_BARRIER();
  float sum_of_reference = 0.0f;
  float sum_of_moving = 0.0f;
  float sum_of_both = 0.0f;
  for (int row = WA_ITEM_Y; row < rows; row += ROWS) {
    if (tile_x + WA_ITEM_X >= width || tile_y + row >= height) break;
    float r = 0.0f;
    float m = 0.0f;
    for (int k = 0; k < SIDE; ++k) {
      r += down_reference[row][WA_ITEM_X + k];
      m += down_moving[row][WA_ITEM_X + k];
    }
    sum_of_reference += r;
    sum_of_moving += m;
    sum_of_both = WA_FMA(r, m, sum_of_both);
  }
  // The first group writes the total number of pixels.
  lines[0][item] = item == 0 && tile_x == 0 && tile_y == 0 ? pixels : 0.0f;
  lines[1][item] = sum_of_reference;
  lines[2][item] = sum_of_moving;
  lines[3][item] = sum_of_both;
  SUM_UP_LINES(lines, WA_COMMON_SUMS, item)
  if (item < WA_COMMON_SUMS) sums[at + (WA_UINT64)item * groups] = lines[item][0];
}
