// The state of the search for a match: the best feature, and the best one at another position.
#ifndef WARPALIGN_SHARED_NEAREST_FEATURE_H
#define WARPALIGN_SHARED_NEAREST_FEATURE_H

#include "shared/kernel_language.h"

#include "formulas/features.h"

#define SLICE 64
#define DIMENSIONS 128

WA_INLINE WaNearest wa_none() {
  WaNearest none;
  none.index = -1;
  none.value = 0.0f;
  return none;
}

// Whether a product is better. Of equal ones the first is better. `than` may be empty.
WA_INLINE int wa_is_better(float value, int index, WaNearest than) {
  return value > than.value || (value == than.value && index < than.index);
}

WA_INLINE WaNearest wa_better(WaNearest a, WaNearest b) {
  return b.index >= 0 && wa_is_better(b.value, b.index, a) ? b : a;
}

// Whether two features are near each other. A feature is always near itself.
WA_INLINE int wa_is_near(WA_GLOBAL const float* places, int a, int b, float apart) {
  if (a < 0 || b < 0 || a == b) return 1;
  const float x = places[2 * a] - places[2 * b];
  const float y = places[2 * a + 1] - places[2 * b + 1];
  return WA_FMA(x, x, y * y) < apart * apart;
}

WA_INLINE float wa_product(WA_GLOBAL const float* a, WA_GLOBAL const float* b) {
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int i = 0; i < DIMENSIONS; i += 4) {
    const float4 u = WA_LOAD_FOUR(a + i);
    const float4 v = WA_LOAD_FOUR(b + i);
    sums[0] = WA_FMA(u.x, v.x, sums[0]);
    sums[1] = WA_FMA(u.y, v.y, sums[1]);
    sums[2] = WA_FMA(u.z, v.z, sums[2]);
    sums[3] = WA_FMA(u.w, v.w, sums[3]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

WA_INLINE float wa_ratio(WaNearest found, WaNearest next) {
  return wa_descriptor_distance(found.value) / wa_descriptor_distance(next.value);
}

WA_INLINE int wa_passes_ratio_test(WaNearest found, WaNearest next, float max_ratio) {
  return found.index >= 0 && wa_ratio(found, next) < max_ratio;
}

WA_INLINE WaNearest wa_match(WaNearest found, WaNearest next, float max_ratio) {
  WaNearest match;
  const int counts = wa_passes_ratio_test(found, next, max_ratio);
  match.index = counts ? found.index : -1;
  match.value = counts ? wa_ratio(found, next) : 1.0f;
  return match;
}

#endif
