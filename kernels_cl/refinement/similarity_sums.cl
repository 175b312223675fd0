// The sums of a Gauss-Newton step of registration by a similarity or a homography, in one pass: the
// moving image's spline value and gradient at the location to which every reference pixel maps,
// residual, weight and products.
//
// Options: GROUP, the work-group's size, a power of two; MASKED, if the images have weights;
// ILLUMINATED, if there is an illumination model; PROJECTIVE, for a homography; RESIDENT, for the
// states that fit_step.cl writes, of up to four pairs of images.
//
// variant: gpu -DGROUP=128
// variant: gpu -DGROUP=128 -DMASKED -DILLUMINATED
// variant: gpu -DGROUP=128 -DPROJECTIVE
// variant: gpu -DGROUP=128 -DRESIDENT -DMASKED
// variant: gpu -DGROUP=128 -DRESIDENT -DPROJECTIVE
#include "formulas/illumination.h"
#include "formulas/resident_state.h"
#include "lib/sample_location.h"
#include "lib/sums.h"

#ifdef PROJECTIVE
#define SUMS WA_HOMOGRAPHY_SUMS
#define ADD_PIXEL wa_homography_add
#else
#define SUMS WA_SIMILARITY_SUMS
#define ADD_PIXEL wa_similarity_add
#endif

#ifdef ILLUMINATED
// The (gain, offset) at a pixel, interpolated between the centres of the four cells around it.
inline float2 illumination_at(global const float2* field, int across, int down, float inverse_side,
                              int x, int y) {
  int left, right, top, bottom;
  const float a = wa_illumination_cells(x, inverse_side, across, &left, &right);
  const float b = wa_illumination_cells(y, inverse_side, down, &top, &bottom);
  const float2 p = field[top * across + left];
  const float2 q = field[top * across + right];
  const float2 r = field[bottom * across + left];
  const float2 s = field[bottom * across + right];
  return (float2)(wa_illumination_mix(p.x, q.x, r.x, s.x, a, b),
                  wa_illumination_mix(p.y, q.y, r.y, s.y, a, b));
}
#endif

#ifdef RESIDENT
inline Matrix resident_matrix(global const WaSumsState* state) {
  global const float* m = state->matrix;
  global const float* r = state->rest;
  Matrix matrix;
  matrix.x_row = (float4)(m[0], m[1], m[2], 0.0f);
  matrix.x_rest = (float4)(r[0], r[1], r[2], 0.0f);
  matrix.y_row = (float4)(m[3], m[4], m[5], 0.0f);
  matrix.y_rest = (float4)(r[3], r[4], r[5], 0.0f);
#ifdef PROJECTIVE
  matrix.w_row = (float4)(m[6], m[7], m[8], 0.0f);
  matrix.w_rest = (float4)(r[6], r[7], r[8], 0.0f);
#endif
  return matrix;
}
#endif

#ifdef MASKED
#define WEIGHTS(i) , global const float *reference_weight##i, global const float *moving_weight##i
#define WEIGHTS_OF , reference_weight, moving_weight
#define CHOSEN_WEIGHTS , CHOSEN(reference_weight), CHOSEN(moving_weight)
#else
#define WEIGHTS(i)
#define WEIGHTS_OF
#define CHOSEN_WEIGHTS
#endif
#ifdef ILLUMINATED
#define FIELD , global const float2 *field, int field_width, int field_height, float inverse_side
#define FIELD_OF , field, field_width, field_height, inverse_side
#else
#define FIELD
#define FIELD_OF
#endif

// Adds the pixels of the rows of group number `group` of `groups`. illumination: gain, offset, 1 /
// scale and 1 / unit.
WA_INLINE void add_pixels(global const float* reference, int reference_width, int first_column,
                          int columns, int first_row, int rows, global const float* coefficients,
                          int width, int height, int margin WEIGHTS() FIELD, const Matrix* matrix,
                          float2 centre, float4 illumination, int group, int groups, float* sums) {
  for (int row = group; row < rows; row += groups) {
    const int py = first_row + row;
    for (int column = (int)get_local_id(0); column < columns; column += GROUP) {
      const int px = first_column + column;
      SampleLocation location;
      if (!sample_location(matrix, px, py, width, height, margin, &location)) continue;
#ifdef MASKED
      if (reference_weight[py * reference_width + px] < WA_MIN_WEIGHT) continue;
      if (!location_counts(moving_weight, width, &location)) continue;
#endif
      float slope_x, slope_y;
      const float value =
          spline_value_and_slopes(coefficients, width, &location, &slope_x, &slope_y);
#ifdef ILLUMINATED
      const float2 here = illumination_at(field, field_width, field_height, inverse_side, px, py);
#else
      const float2 here = illumination.xy;
#endif
      // Far from the origin, the cell and the fraction within it are more accurate than location.x.
      const float dx = ((float)location.x0 - centre.x) + location.a;
      const float dy = ((float)location.y0 - centre.y) + location.b;
      ADD_PIXEL(value, slope_x, slope_y, dx * illumination.w, dy * illumination.w,
                reference[py * reference_width + px], here.x, here.y, illumination.z, 1.0f, sums);
    }
  }
}

#ifdef RESIDENT
// Each buffer that is an argument adds half a microsecond to a launch on NVIDIA's driver.
#define WORKS 4

// Two images, and the numbers of the states at which to compare them. The sums of the first state
// begin at partials[first].
typedef struct {
  int reference_width, first_column, columns, first_row, rows;
  int width, height, margin;
  int first_state, states, groups, first;
} Work;
typedef struct {
  Work entries[WORKS];
} Works;

#define IMAGES(i) global const float *reference##i, global const float *coefficients##i WEIGHTS(i)
#define CHOSEN(name) \
  (number < 2 ? (number < 1 ? name##0 : name##1) : (number < 3 ? name##2 : name##3))

// The second index of a work-group counts the states of all works.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void similarity_sums(
    Works works, global const WaSumsState* states, global float* partials, IMAGES(0), IMAGES(1),
    IMAGES(2), IMAGES(3)) {
  local float shared[SUMS_ROOM];
  const int group = (int)get_group_id(0);
  int number = 0;
  int layer = (int)get_group_id(1);
  Work work = works.entries[0];
  // Not by an index: compilers would copy the argument to memory of each work-item.
  WA_UNROLL
  for (int k = 1; k < WORKS; ++k) {
    if (number != k - 1 || layer < work.states) continue;
    layer -= work.states;
    number = k;
    work = works.entries[k];
  }
  global const WaSumsState* state = states + work.first_state + layer;
  if (group >= work.groups || state->active == 0) return;
  const Matrix matrix = resident_matrix(state);
  const float2 centre = (float2)(state->centre_x, state->centre_y);
  const float4 illumination =
      (float4)(state->gain, state->offset, state->inverse_scale, state->inverse_unit);
  float sums[SUMS];
  for (int i = 0; i < SUMS; ++i) sums[i] = 0.0f;
  add_pixels(CHOSEN(reference), work.reference_width, work.first_column, work.columns,
             work.first_row, work.rows, CHOSEN(coefficients), work.width, work.height,
             work.margin CHOSEN_WEIGHTS, &matrix, centre, illumination, group, work.groups, sums);
  store_sums(sums, SUMS, shared, partials + work.first + layer * SUMS * work.groups, group,
             work.groups);
}
#else
// Sum i of group g is written to partials[first + i groups + g].
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void similarity_sums(
    global const float* reference, int reference_width, int first_column, int columns,
    int first_row, int rows, global const float* coefficients, int width, int height, int margin,
    float4 x_row, float4 x_rest, float4 y_row, float4 y_rest, float2 centre, float4 illumination,
#ifdef PROJECTIVE
    float4 w_row, float4 w_rest,
#endif
#ifdef MASKED
    global const float* reference_weight, global const float* moving_weight,
#endif
#ifdef ILLUMINATED
    global const float2* field, int field_width, int field_height, float inverse_side,
#endif
    global float* partials, int first) {
  local float shared[SUMS_ROOM];
#ifdef PROJECTIVE
  const Matrix matrix = {x_row, x_rest, y_row, y_rest, w_row, w_rest};
#else
  const Matrix matrix = {x_row, x_rest, y_row, y_rest};
#endif
  float sums[SUMS];
  for (int i = 0; i < SUMS; ++i) sums[i] = 0.0f;
  add_pixels(reference, reference_width, first_column, columns, first_row, rows, coefficients,
             width, height, margin WEIGHTS_OF FIELD_OF, &matrix, centre, illumination,
             (int)get_group_id(0), (int)get_num_groups(0), sums);
  store_group_sums(sums, SUMS, shared, partials + first);
}
#endif
