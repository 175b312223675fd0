// For each feature of one image, the most similar feature of another image, for CPUs: like
// feature_matches.cl, but a work-item compares many features with a slice, sixteen at once, after
// it has transposed the slice.
//
// variant: cpu
#include "lib/simd.h"
#include "shared/nearest_feature.h"

// Features of the reference that a work-item compares with its slice.
#define BLOCK 128
#define TOGETHER 4
#define VECTORS (SLICE / 16)

// Work-item (s, b) compares slice s of the moving features with block b of the reference features.
SIMD_KERNEL best_of_slices(
    global const float* reference, int reference_count, global const float* moving,
    int moving_count, int slices, global WaNearest* best) {
  float16 columns[DIMENSIONS][VECTORS];
  const int slice = (int)get_group_id(0);
  const int first = slice * SLICE;
  for (int v = 0; v < VECTORS; ++v) {
    for (int from = 0; from < DIMENSIONS; from += 16) {
      float16 block[16];
      for (int i = 0; i < 16; ++i) {
        const int m = first + v * 16 + i;
        block[i] = m < moving_count
                       ? vload16(0, moving + (size_t)m * DIMENSIONS + (size_t)from)
                       : (float16)(0.0f);
      }
      transpose(block);
      for (int i = 0; i < 16; ++i) columns[from + i][v] = block[i];
    }
  }
  const int begin = (int)get_group_id(1) * BLOCK;
  const int end = min(begin + BLOCK, reference_count);
  for (int r = begin; r < end; r += TOGETHER) {
    float16 products[TOGETHER][VECTORS];
    global const float* rows[TOGETHER];
    for (int j = 0; j < TOGETHER; ++j) {
      rows[j] = reference + (size_t)min(r + j, end - 1) * DIMENSIONS;
      for (int v = 0; v < VECTORS; ++v) products[j][v] = 0.0f;
    }
    for (int k = 0; k < DIMENSIONS; ++k) {
#pragma unroll
      for (int j = 0; j < TOGETHER; ++j) {
        const float16 value = rows[j][k];
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          products[j][v] = fma(value, columns[k][v], products[j][v]);
        }
      }
    }
    for (int j = 0; j < min(TOGETHER, end - r); ++j) {
      WaNearest nearest = wa_none();
      for (int v = 0; v < VECTORS; ++v) {
        if (are_all(products[j][v] <= nearest.value)) continue;
        for (int i = 0; i < 16; ++i) {
          WaNearest other;
          other.index = first + v * 16 + i;
          other.value = ((const float*)&products[j][v])[i];
          if (other.index < moving_count) nearest = wa_better(nearest, other);
        }
      }
      best[(size_t)(r + j) * (size_t)slices + (size_t)slice] = nearest;
    }
  }
}

// Each work-item finds the match of a feature of the reference.
SIMD_KERNEL nearest_features(
    global const float* reference, global const float* moving, int moving_count,
    global const float* places, float apart, float max_ratio, int slices,
    global const WaNearest* best, global WaNearest* nearest) {
  const int number = (int)get_group_id(0);
  global const WaNearest* of_slices = best + (size_t)number * (size_t)slices;
  WaNearest found = wa_none();
  for (int i = 0; i < slices; ++i) found = wa_better(found, of_slices[i]);
  WaNearest next = wa_none();
  for (int i = 0; i < slices; ++i) {
    if (!wa_is_near(places, of_slices[i].index, found.index, apart)) {
      next = wa_better(next, of_slices[i]);
    }
  }
  global const float* wanted = reference + (size_t)number * DIMENSIONS;
  for (int i = 0; i < slices && wa_passes_ratio_test(found, next, max_ratio); ++i) {
    if (!wa_is_near(places, of_slices[i].index, found.index, apart)) continue;
    const int begin = i * SLICE;
    for (int m = begin; m < min(begin + SLICE, moving_count); ++m) {
      if (wa_is_near(places, m, found.index, apart)) continue;
      WaNearest other;
      other.index = m;
      other.value = wa_product(wanted, moving + (size_t)m * DIMENSIONS);
      next = wa_better(next, other);
    }
  }
  nearest[number] = wa_match(found, next, max_ratio);
}
