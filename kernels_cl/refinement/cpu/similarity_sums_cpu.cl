// The sums of a Gauss-Newton step of registration by a similarity or a homography, for CPUs: like
// similarity_sums.cl, with sixteen neighbouring pixels at a time.
//
// Options: MASKED, if the images have weights; PROJECTIVE, for a homography. Whether there is an
// illumination model is an argument: a registration needs both, and one program compiles faster
// than two.
//
// variant: cpu
// variant: cpu -DMASKED
// variant: cpu -DPROJECTIVE
#define WA_REAL float16
#include "formulas/illumination.h"
#include "lib/sample_location_simd.h"

#ifdef PROJECTIVE
#define SUMS WA_HOMOGRAPHY_SUMS
#define ADD_PIXEL wa_homography_add
#else
#define SUMS WA_SIMILARITY_SUMS
#define ADD_PIXEL wa_similarity_add
#endif

// The illumination model along a segment: the cells to the left and right of each pixel, and the
// (gain, offset) at each pixel in the rows of cells above and below. Without cells, the gain and
// the offset are constant.
typedef struct {
  float gain, offset;
  global const float2* field;
  int across, down;
  float inverse_side;
  int left[SEGMENT], right[SEGMENT];
  float16 part[CHUNKS];
  int top;  // the row of cells above that is loaded; -1 if none
  float16 gain_above[CHUNKS], offset_above[CHUNKS], gain_below[CHUNKS], offset_below[CHUNKS];
  float16 part_below;
} Illumination;

// Prepares a segment that begins at column `first`.
WA_INLINE void find_columns(Illumination* illumination, int first) {
  if (illumination->across == 0) return;
  for (int i = 0; i < SEGMENT; ++i) {
    ((float*)illumination->part)[i] =
        wa_illumination_cells(first + i, illumination->inverse_side, illumination->across,
                              &illumination->left[i], &illumination->right[i]);
  }
  illumination->top = -1;
}

WA_INLINE void find_cells(const Illumination* illumination, int row, float16* gain,
                          float16* offset) {
  global const float2* cells = illumination->field + row * illumination->across;
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    float16 gains[2], offsets[2];
    for (int i = 0; i < 16; ++i) {
      const float2 before = cells[illumination->left[chunk * 16 + i]];
      const float2 after = cells[illumination->right[chunk * 16 + i]];
      ((float*)gains)[i] = before.x;
      ((float*)gains)[16 + i] = after.x;
      ((float*)offsets)[i] = before.y;
      ((float*)offsets)[16 + i] = after.y;
    }
    gain[chunk] = wa_illumination_between(gains[0], gains[1], illumination->part[chunk]);
    offset[chunk] = wa_illumination_between(offsets[0], offsets[1], illumination->part[chunk]);
  }
}

// Prepares row py of the image.
WA_INLINE void find_row(Illumination* illumination, int py) {
  if (illumination->across == 0) return;
  int top, bottom;
  illumination->part_below =
      wa_illumination_cells(py, illumination->inverse_side, illumination->down, &top, &bottom);
  if (top == illumination->top) return;
  find_cells(illumination, top, illumination->gain_above, illumination->offset_above);
  find_cells(illumination, bottom, illumination->gain_below, illumination->offset_below);
  illumination->top = top;
}

WA_INLINE float16 gain_at(const Illumination* illumination, int chunk) {
  if (illumination->across == 0) return illumination->gain;
  return wa_illumination_between(illumination->gain_above[chunk], illumination->gain_below[chunk],
                                 illumination->part_below);
}

WA_INLINE float16 offset_at(const Illumination* illumination, int chunk) {
  if (illumination->across == 0) return illumination->offset;
  return wa_illumination_between(illumination->offset_above[chunk],
                                 illumination->offset_below[chunk], illumination->part_below);
}
// The images that a step compares, and the geometry between them.
typedef struct {
  Moving moving;
  Matrix matrix;
  float2 centre;
  float inverse_unit;
  global const float* reference;
  int reference_width;
  global const float* reference_weight;  // with MASKED, as moving_weight
  global const float* moving_weight;
} Step;

// The arguments of ADD_PIXEL() for sixteen pixels.
typedef struct {
  float16 value, slope_x, slope_y, dx, dy, reference, gain, offset, counts;
} Pixels;

// Collects the groups of sixteen, among the first `count` pixels from (px, py) on, in which any
// pixel is valid; returns the number of groups.
WA_INLINE int find_pixels(const Step* step, const Illumination* illumination, int px, int py,
                          int count, Pixels* pixels) {
  const SegmentStart start = segment_start(&step->matrix, px, py);
  int found = 0;
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    const int here = count - chunk * 16;
    const size_t at = (size_t)py * (size_t)step->reference_width + (size_t)(px + chunk * 16);
    const Locations locations = locations_of(&step->matrix, start, chunk);
    const int16 counts = which_count(&step->moving, &locations, here, step->reference_weight + at,
                                     step->moving_weight);
    if (are_all(~counts)) continue;
    const Splines splines = splines_at(&step->moving, &locations, counts, true);
    Pixels* to = pixels + found;
    ++found;
    to->value = only(splines.value, counts);
    to->slope_x = only(splines.slope_x, counts);
    to->slope_y = only(splines.slope_y, counts);
    to->dx = ((convert_float16(locations.x0) - step->centre.x) + locations.a) * step->inverse_unit;
    to->dy = ((convert_float16(locations.y0) - step->centre.y) + locations.b) * step->inverse_unit;
    to->reference = only(load_some(step->reference + at, here), counts);
    to->gain = gain_at(illumination, chunk);
    to->offset = only(offset_at(illumination, chunk), counts);
    to->counts = only(1.0f, counts);
  }
  return found;
}

// illumination: gain, offset, 1 / scale and 1 / unit; gain and offset count if field_width is 0.
// The work-items take the tiles, each one segment wide and tile_rows high, in turn. Sum i of
// work-item g is written to partials[first + i * items + g].
SIMD_KERNEL similarity_sums(
    global const float* reference, int reference_width, int first_column, int columns,
    int first_row, int rows, global const float* coefficients, int width, int height, int margin,
    float4 x_row, float4 x_rest, float4 y_row, float4 y_rest, float2 centre, float4 illumination,
#ifdef PROJECTIVE
    float4 w_row, float4 w_rest,
#endif
    int tile_rows,
#ifdef MASKED
    global const float* reference_weight, global const float* moving_weight,
#endif
    global const float2* field, int field_width, int field_height, float inverse_side,
    global float* partials, int first) {
  Step step;
  step.moving = moving_of(coefficients, width, height, margin);
#ifdef PROJECTIVE
  step.matrix = matrix_of(x_row, x_rest, y_row, y_rest, w_row, w_rest);
#else
  step.matrix = matrix_of(x_row, x_rest, y_row, y_rest);
#endif
  step.centre = centre;
  step.inverse_unit = illumination.w;
  step.reference = reference;
  step.reference_width = reference_width;
#ifdef MASKED
  step.reference_weight = reference_weight;
  step.moving_weight = moving_weight;
#endif
  Illumination illuminations;
  illuminations.gain = illumination.x;
  illuminations.offset = illumination.y;
  illuminations.field = field;
  illuminations.across = field_width;
  illuminations.down = field_height;
  illuminations.inverse_side = inverse_side;
  float16 sums[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) sums[i] = 0.0f;
  const int items = (int)get_global_size(0);
  const int across = (columns + SEGMENT - 1) / SEGMENT;
  const int tiles = across * ((rows + tile_rows - 1) / tile_rows);
#pragma unroll 1
  for (int tile = (int)get_global_id(0); tile < tiles; tile += items) {
    const int px = first_column + tile % across * SEGMENT;
    const int top = tile / across * tile_rows;
    const int count = min(SEGMENT, first_column + columns - px);
    find_columns(&illuminations, px);
#pragma unroll 1
    for (int row = top; row < min(top + tile_rows, rows); ++row) {
      find_row(&illuminations, first_row + row);
      Pixels pixels[CHUNKS];
      const int found = find_pixels(&step, &illuminations, px, first_row + row, count, pixels);
#pragma unroll 1
      for (int i = 0; i < found; ++i) {
        const Pixels* p = pixels + i;
        ADD_PIXEL(p->value, p->slope_x, p->slope_y, p->dx, p->dy, p->reference, p->gain, p->offset,
                  illumination.z, p->counts, sums);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    partials[first + i * items + (int)get_global_id(0)] = sum_of_lanes(sums[i]);
  }
}
