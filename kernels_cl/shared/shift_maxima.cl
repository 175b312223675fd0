// The maxima of a correlation surface's scores: the main one, near a given shift; the highest local
// maximum elsewhere; and the highest score on a ring about the main one.
//
// Option: GROUP, the size of the work-group, a power of two, at least 49.
//
// variant: gpu -DGROUP=64
#include "shared/kernel_language.h"

#include "formulas/overlap.h"

// The place of a shift along an axis of n pixels. `shift` is at most n from the origin.
WA_INLINE int wa_wrapped_place(int origin, int shift, int n) {
  const int place = origin + shift;
  return place < 0 ? place + n : (place >= n ? place - n : place);
}

WA_INLINE float wa_shift_score(WA_GLOBAL const float* surface, WA_GLOBAL const float* overlaps,
                               int width, int height, int origin_x, int origin_y, int x, int y,
                               float min_overlap) {
  const int i =
      wa_wrapped_place(origin_y, y, height) * width + wa_wrapped_place(origin_x, x, width);
  const float normalization = 1.0f / ((float)width * (float)height);
  return wa_score_over(surface[i], overlaps[i] * normalization, normalization, min_overlap);
}

#define SCORE(x, y) \
  wa_shift_score(surface, overlaps, width, height, origin_x, origin_y, x, y, min_overlap)

// Moves the largest of `values`, which each work-item has written, to the first one.
#define KEEP_LARGEST(values)                                           \
  WA_BARRIER();                                                        \
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {           \
    const float theirs = item < reached ? values[item + reached] : 0;  \
    if (theirs > values[item]) values[item] = theirs;                  \
    WA_BARRIER();                                                      \
  }

// Each work-group looks at a part of the shifts, and finds the main maximum for itself.
WA_KERNEL(GROUP, 1)
shift_maxima(WA_GLOBAL const float* surface, WA_GLOBAL const float* overlaps, int width, int height,
             int origin_x, int origin_y, int reach_x, int reach_y, int main_reach,
             float min_overlap, float ignored, float ring, int groups, WA_GLOBAL float* records) {
  WA_BEGIN();
  WA_LOCAL float scores[GROUP];
  WA_LOCAL int places[GROUP];
  const int item = WA_ITEM_X;
  const int side = 2 * main_reach + 1;
  scores[item] = 0.0f;
  places[item] = item;
  if (item < side * side) {
    scores[item] = SCORE(item % side - main_reach, item / side - main_reach);
  }
  WA_BARRIER();
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {
    if (item < reached && scores[item + reached] > scores[item]) {
      scores[item] = scores[item + reached];
      places[item] = places[item + reached];
    }
    WA_BARRIER();
  }
  const float main_score = scores[0];
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
    const float score = SCORE(x, y);
    if (!(score >= least) || !(score > 0.0f)) continue;
    const float dx = (float)(x - main_x);
    const float dy = (float)(y - main_y);
    const float distance = WA_SQRT(WA_FMA(dx, dx, dy * dy));
    if (WA_FABS(distance - ring) <= 1.5f && score > far) far = score;
    if (distance < 1.5f || score <= other) continue;
    int is_highest = 1;
    for (int n = 0; n < 9 && is_highest != 0; ++n) {
      if (SCORE(x + n % 3 - 1, y + n / 3 - 1) > score) is_highest = 0;
    }
    if (is_highest != 0) other = score;
  }
  scores[item] = other;
  KEEP_LARGEST(scores)
  if (item == 0) {
    records[3 * WA_GROUP_X] = main_score;
    records[3 * WA_GROUP_X + 1] = scores[0];
  }
  WA_BARRIER();
  scores[item] = far;
  KEEP_LARGEST(scores)
  if (item == 0) records[3 * WA_GROUP_X + 2] = scores[0];
}
