// A sample of an image from which the variance of its noise is estimated.
#ifndef WARPALIGN_SHARED_NOISE_SAMPLE_H
#define WARPALIGN_SHARED_NOISE_SAMPLE_H

#include "shared/kernel_language.h"

// Stores sample s of `count`, voxel s times `every`, and after all samples the difference of the
// differences of its neighbours along x and y (and z), which has no part that is linear along any
// axis. At the far edges it is 0.
WA_INLINE void wa_store_noise_sample(WA_GLOBAL const float* image, int width, int height, int depth,
                                     int every, int count, int s, WA_GLOBAL float* samples) {
  const WA_UINT64 plane = (WA_UINT64)width * height;
  const WA_UINT64 at = (WA_UINT64)s * every;
  const int z = (int)(at / plane);
  const int in_plane = (int)(at - z * plane);
  const int y = in_plane / width;
  const int x = in_plane - y * width;
  WA_GLOBAL const float* p = image + at;
  float difference = 0.0f;
  if (x + 1 < width && y + 1 < height && (depth == 1 || z + 1 < depth)) {
    difference = (p[0] - p[1]) - (p[width] - p[width + 1]);
    if (depth > 1) {
      WA_GLOBAL const float* q = p + plane;
      difference -= (q[0] - q[1]) - (q[width] - q[width + 1]);
    }
  }
  samples[s] = p[0];
  samples[count + s] = difference;
}

#endif
