// Extrema of differences of Gaussians in planes of several sizes, for CPUs: like blobs.cl, but
// sixteen neighbouring pixels at once.
//
// variant: cpu
#include "lib/simd.h"
#include "shared/blob_tests.h"

WA_INLINE WaDifferences differences_about(global const float* at, int width, int apart) {
  WaDifferences d;
  for (int scale = -1; scale <= 1; ++scale) {
    for (int v = -1; v <= 1; ++v) {
      for (int u = -1; u <= 1; ++u) {
        global const float* pixel = at + scale * apart + v * width + u;
        WA_DIFFERENCE(d, scale, v, u) = pixel[apart] - pixel[0];
      }
    }
  }
  return d;
}

// The differences of two images at sixteen pixels. They may lie beyond the end of a row: that
// memory exists, because a margin of rows follows.
WA_INLINE float16 differences(global const float* at, int apart) {
  return vload16(0, at + apart) - vload16(0, at);
}

// Each work-item processes a row of a plane: work-item (y, p) row y of plane p.
SIMD_KERNEL blobs(
    global const float* octave, global const int* planes,
    global const float* deviations_of_planes, float least_contrast, int images, int apart,
    int number, int capacity, global int* count, global WaBlob* found) {
  const int y = (int)get_global_id(0);
  const int of_plane = (int)get_global_id(1);
  global const int* plane = planes + of_plane * WA_PLANE_WORDS;
  const int width = plane[1];
  if (images < 4 || y < MARGIN || y >= plane[2] - MARGIN) return;
  global const float* row = octave + plane[0] + y * width;
  const float least = least_contrast * deviations_of_planes[of_plane];
  for (int x = MARGIN; x < width - MARGIN; x += 16) {
    const int16 within = NUMBERS < width - MARGIN - x;
    float16 here = differences(row + x, apart);
    float16 after = differences(row + x + apart, apart);
    for (int image = 1; image + 2 < images; ++image) {
      global const float* at = row + image * apart + x;
      const float16 before = here;
      here = after;
      after = differences(at + apart, apart);
      // Most pixels fail a test that needs few neighbours. Only the rest go through all tests.
      const float16 size = fabs(here);
      const float16 sign = select((float16)(-1.0f), (float16)(1.0f), here > 0.0f);
      int16 fails = ~(within & (size >= least) & (here != 0.0f));
      fails |= (sign * before > size) | (sign * after > size);
      if (are_all(fails)) continue;
      fails |= (sign * differences(at - 1, apart) > size) |
               (sign * differences(at + 1, apart) > size);
      fails |= (sign * differences(at - width, apart) > size) |
               (sign * differences(at + width, apart) > size);
      if (are_all(fails)) continue;
      for (int i = 0; i < 16; ++i) {
        if (((const int*)&fails)[i]) continue;
        const WaDifferences about = differences_about(at + i, width, apart);
        if (!wa_is_blob(about, least)) continue;
        const int place = atomic_inc(count);
        if (place >= capacity) continue;
        found[place] = wa_blob_at(about, x + i, y, image, of_plane, number);
      }
    }
  }
}
