// The maxima of a correlation surface's scores: the main one, near a given shift; the highest local
// maximum elsewhere; and the highest score on a ring about the main one.
//
// Option: GROUP, the size of the work-group, a power of two, at least 49.
//
// variant: gpu -DGROUP=64
#include "shared/kernel_language.h"

#include "formulas/overlap.h"

typedef struct {
  WA_GLOBAL const float* correlations;
  WA_GLOBAL const float* overlaps;
  int width, height;
  int origin_x, origin_y;
  float min_overlap;
  float normalization;  // 1 / the number of pixels
  int outlined;         // whether overlaps follow from the outline
  WaOutlinePairs outline;
  float centre_x, centre_y;  // of the outline
} ShiftScores;

WA_INLINE WaHalfEdge wa_half_edge(float x, float y) {
  WaHalfEdge edge;
  edge.x = x;
  edge.y = y;
  edge.per_span = 1.0f / (2.0f * x);
  edge.per_y = 1.0f / y;
  return edge;
}

// The place of a shift along an axis of n pixels. `shift` is at most n from the origin.
WA_INLINE int wa_wrapped_place(int origin, int shift, int n) {
  const int place = origin + shift;
  return place < 0 ? place + n : (place >= n ? place - n : place);
}

// The overlap of a shift, in pixels. `x` and `y` are its place on the surface, `i` its pixel.
WA_INLINE float wa_pixels_at(ShiftScores scores, int x, int y, int i) {
  if (scores.outlined == 0) return scores.overlaps[i] * scores.normalization;
  const float dx = wa_shift_distance((float)x, scores.centre_x, (float)scores.width);
  const float dy = wa_shift_distance((float)y, scores.centre_y, (float)scores.height);
  return wa_outline_overlap(scores.outline, wa_edge_heights(scores.outline.first, dy),
                            wa_edge_heights(scores.outline.second, dy), dx);
}

WA_INLINE float wa_shift_score(ShiftScores scores, int shift_x, int shift_y) {
  const int x = wa_wrapped_place(scores.origin_x, shift_x, scores.width);
  const int y = wa_wrapped_place(scores.origin_y, shift_y, scores.height);
  const int i = y * scores.width + x;
  return wa_score_over(scores.correlations[i], wa_pixels_at(scores, x, y, i), scores.normalization,
                       scores.min_overlap);
}

// Moves the largest of `values`, which each work-item has written, to the first one.
#define KEEP_LARGEST(values)                                             \
  WA_BARRIER();                                                          \
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {             \
    const float theirs = item < reached ? values[item + reached] : 0.0f; \
    if (theirs > values[item]) values[item] = theirs;                    \
    WA_BARRIER();                                                        \
  }

// Each work-group looks at a part of the shifts, and finds the main maximum for itself.
WA_KERNEL(GROUP, 1)
shift_maxima(WA_GLOBAL const float* surfaces, WA_GLOBAL const float* overlaps, int slice, int width,
             int height, int outlined, float half_width, float half_height, float first_x,
             float first_y, float second_x, float second_y, float centre_x, float centre_y,
             int origin_x, int origin_y, int reach_x, int reach_y, int main_reach,
             float min_overlap, float ignored, float ring, int groups, WA_GLOBAL float* records) {
  WA_BEGIN();
  WA_LOCAL float values[GROUP];
  WA_LOCAL int places[GROUP];
  const int item = WA_ITEM_X;
  ShiftScores scores;
  scores.correlations = surfaces + (WA_UINT64)slice * width * height;
  scores.overlaps = overlaps + (WA_UINT64)slice * width * height;
  scores.width = width;
  scores.height = height;
  scores.origin_x = origin_x;
  scores.origin_y = origin_y;
  scores.min_overlap = min_overlap;
  scores.normalization = 1.0f / ((float)width * (float)height);
  scores.outlined = outlined;
  WaOutline outline;
  outline.half_width = half_width;
  outline.half_height = half_height;
  outline.first = wa_half_edge(first_x, first_y);
  outline.second = wa_half_edge(second_x, second_y);
  scores.outline = wa_outline_pairs(outline);
  scores.centre_x = centre_x;
  scores.centre_y = centre_y;

  const int side = 2 * main_reach + 1;
  values[item] = 0.0f;
  places[item] = item;
  if (item < side * side) {
    values[item] = wa_shift_score(scores, item % side - main_reach, item / side - main_reach);
  }
  WA_BARRIER();
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {
    if (item < reached && values[item + reached] > values[item]) {
      values[item] = values[item + reached];
      places[item] = places[item + reached];
    }
    WA_BARRIER();
  }
  const float main_score = values[0];
  const int main_x = places[0] % side - main_reach;
  const int main_y = places[0] / side - main_reach;
  WA_BARRIER();

  const int columns = 2 * reach_x + 1;
  const int count = columns * (2 * reach_y + 1);
  const float least = ignored * main_score;
  float other = 0.0f;
  float far = 0.0f;
  for (int i = WA_GROUP_X * GROUP + item; i < count; i += groups * GROUP) {
    const int x = i % columns - reach_x;
    const int y = i / columns - reach_y;
    const float score = wa_shift_score(scores, x, y);
    if (!(score >= least) || !(score > 0.0f)) continue;
    const float dx = (float)(x - main_x);
    const float dy = (float)(y - main_y);
    const float distance = WA_SQRT(WA_FMA(dx, dx, dy * dy));
    if (WA_FABS(distance - ring) <= 3.0f && score > far) far = score;
    if (distance < 1.5f || score <= other) continue;
    int is_highest = 1;
    for (int n = 0; n < 9 && is_highest != 0; ++n) {
      if (wa_shift_score(scores, x + n % 3 - 1, y + n / 3 - 1) > score) is_highest = 0;
    }
    if (is_highest != 0) other = score;
  }
  values[item] = other;
  KEEP_LARGEST(values)
  if (item == 0) {
    records[3 * WA_GROUP_X] = main_score;
    records[3 * WA_GROUP_X + 1] = values[0];
  }
  WA_BARRIER();
  values[item] = far;
  KEEP_LARGEST(values)
  if (item == 0) records[3 * WA_GROUP_X + 2] = values[0];
}
