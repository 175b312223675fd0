// For each feature of one image, the most similar feature of another image.
//
// The products of descriptors are computed in tiles. For each row of a tile the kernel keeps the
// largest product of each slice. Few features stand out from the best ones of the other slices.
// Only for these, the second kernel goes again through the slices whose best feature has the same
// position as the best of all.
//
// Options: GROUP, the size of the work-group of the second kernel, a power of two.
//
// variant: gpu -DGROUP=64
#include "shared/kernel_language.h"

#include "formulas/features.h"
#include "shared/nearest_feature.h"

// Work-items of the first kernel along both axes, and the number of features and slices that they
// compare. Each work-item computes eight by eight products.
#define TILE_ITEMS 16
#define TILE WA_FEATURES_OF_TILE
#define SLICES_OF_TILE (TILE / SLICE)
#define PER_SLICE (SLICE / TILE_ITEMS)
#define PER_ITEM (TILE / TILE_ITEMS)
#define DEPTH 16

// Work-group (s, r) compares tile s of the moving features with tile r of the reference features.
WA_KERNEL(TILE_ITEMS, TILE_ITEMS)
best_of_slices(WA_GLOBAL const float* reference, int reference_count,
               WA_GLOBAL const float* moving, int moving_count, int slices,
               WA_GLOBAL WaNearest* best) {
  WA_BEGIN();
  // One word longer, so that work-items that write neighbouring rows use different banks.
  WA_LOCAL float of_reference[DEPTH][TILE + 1];
  WA_LOCAL float of_moving[DEPTH][TILE + 1];
  WA_LOCAL float values[SLICE][TILE_ITEMS + 1];
  WA_LOCAL int indices[SLICE][TILE_ITEMS + 1];
  const int item = WA_ITEM_Y * TILE_ITEMS + WA_ITEM_X;
  const int first_reference = WA_GROUP_Y * TILE;
  const int first_moving = WA_GROUP_X * TILE;
  float products[PER_ITEM][PER_ITEM];
  WA_UNROLL
  for (int j = 0; j < PER_ITEM; ++j) {
    WA_UNROLL
    for (int i = 0; i < PER_ITEM; ++i) products[j][i] = 0.0f;
  }
  for (int from = 0; from < DIMENSIONS; from += DEPTH) {
    for (int k = item; k < TILE * DEPTH; k += TILE_ITEMS * TILE_ITEMS) {
      const int row = k / DEPTH;
      const int column = k - row * DEPTH;
      const int r = first_reference + row;
      const int m = first_moving + row;
      of_reference[column][row] =
          r < reference_count ? reference[(WA_UINT64)r * DIMENSIONS + from + column] : 0.0f;
      of_moving[column][row] =
          m < moving_count ? moving[(WA_UINT64)m * DIMENSIONS + from + column] : 0.0f;
    }
    WA_BARRIER();
    WA_UNROLL
    for (int k = 0; k < DEPTH; ++k) {
      float a[PER_ITEM];
      float b[PER_ITEM];
      WA_UNROLL
      for (int i = 0; i < PER_ITEM; ++i) {
        a[i] = of_reference[k][WA_ITEM_Y + i * TILE_ITEMS];
        b[i] = of_moving[k][WA_ITEM_X + i * TILE_ITEMS];
      }
      WA_UNROLL
      for (int j = 0; j < PER_ITEM; ++j) {
        WA_UNROLL
        for (int i = 0; i < PER_ITEM; ++i) products[j][i] = WA_FMA(a[j], b[i], products[j][i]);
      }
    }
    WA_BARRIER();
  }
  WA_UNROLL
  for (int r = 0; r < SLICES_OF_TILE; ++r) {
    WA_UNROLL
    for (int s = 0; s < SLICES_OF_TILE; ++s) {
      WA_UNROLL
      for (int j = 0; j < PER_SLICE; ++j) {
        float value = -1.0f;
        int index = -1;
        WA_UNROLL
        for (int i = 0; i < PER_SLICE; ++i) {
          const int m = first_moving + s * SLICE + WA_ITEM_X + i * TILE_ITEMS;
          const float product = products[r * PER_SLICE + j][s * PER_SLICE + i];
          if (m < moving_count && product > value) {
            value = product;
            index = m;
          }
        }
        values[WA_ITEM_Y + j * TILE_ITEMS][WA_ITEM_X] = value;
        indices[WA_ITEM_Y + j * TILE_ITEMS][WA_ITEM_X] = index;
      }
      WA_BARRIER();
      const int row = first_reference + r * SLICE + item;
      const int slice = WA_GROUP_X * SLICES_OF_TILE + s;
      if (item < SLICE && row < reference_count && slice < slices) {
        WaNearest nearest;
        nearest.value = -1.0f;
        nearest.index = -1;
        for (int i = 0; i < TILE_ITEMS; ++i) {
          if (indices[item][i] >= 0 && wa_is_better(values[item][i], indices[item][i], nearest)) {
            nearest.value = values[item][i];
            nearest.index = indices[item][i];
          }
        }
        best[(WA_UINT64)row * slices + slice] = nearest;
      }
      WA_BARRIER();
    }
  }
}

// Combines the best features of all work-items; every work-item gets the result.
#define BEST_OF_GROUP(own)                                                     \
  shared[item] = own;                                                          \
  WA_BARRIER();                                                                \
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {                   \
    if (item < reached) shared[item] = wa_better(shared[item], shared[item + reached]); \
    WA_BARRIER();                                                              \
  }                                                                            \
  own = shared[0];                                                             \
  WA_BARRIER();

// One work-group for each feature of the reference.
WA_KERNEL(GROUP, 1)
nearest_features(WA_GLOBAL const float* reference, WA_GLOBAL const float* moving, int moving_count,
                 WA_GLOBAL const float* places, float apart, float max_ratio, int slices,
                 WA_GLOBAL const WaNearest* best, WA_GLOBAL WaNearest* nearest) {
  WA_BEGIN();
  WA_LOCAL WaNearest shared[GROUP];
  WA_LOCAL int near[GROUP];
  const int item = WA_ITEM_X;
  WA_GLOBAL const WaNearest* of_slices = best + (WA_UINT64)WA_GROUP_X * slices;
  WaNearest found = wa_none();
  for (int i = item; i < slices; i += GROUP) found = wa_better(found, of_slices[i]);
  BEST_OF_GROUP(found)
  WaNearest next = wa_none();
  for (int i = item; i < slices; i += GROUP) {
    if (!wa_is_near(places, of_slices[i].index, found.index, apart)) {
      next = wa_better(next, of_slices[i]);
    }
  }
  BEST_OF_GROUP(next)
  if (wa_passes_ratio_test(found, next, max_ratio)) {
    WA_GLOBAL const float* wanted = reference + (WA_UINT64)WA_GROUP_X * DIMENSIONS;
    // Each work-item tests one slice of GROUP, and all of them together process the slices found.
    for (int from = 0; from < slices; from += GROUP) {
      const int own = from + item;
      near[item] = own < slices && wa_is_near(places, of_slices[own].index, found.index, apart);
      WA_BARRIER();
      for (int i = 0; i < GROUP; ++i) {
        if (!near[i]) continue;
        const int first = (from + i) * SLICE;
        const int end = first + SLICE < moving_count ? first + SLICE : moving_count;
        for (int m = first + item; m < end; m += GROUP) {
          if (wa_is_near(places, m, found.index, apart)) continue;
          WaNearest other;
          other.index = m;
          other.value = wa_product(wanted, moving + (WA_UINT64)m * DIMENSIONS);
          next = wa_better(next, other);
        }
      }
      WA_BARRIER();
    }
    BEST_OF_GROUP(next)
  }
  if (item != 0) return;
  nearest[WA_GROUP_X] = wa_match(found, next, max_ratio);
}
#undef BEST_OF_GROUP
