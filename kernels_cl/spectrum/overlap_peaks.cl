// The peaks of the scores of correlation surfaces, by a reduction in two stages. Scores are
// computed when they are compared, and never stored.
//
// Options: GROUP, the work-group's size, a power of two; OUTLINES (lib/overlap_limits.h).
//
// variant: gpu -DGROUP=256
// variant: gpu -DGROUP=256 -DOUTLINES
#include "lib/overlap_limits.h"
#include "lib/peaks.h"

// The overlap, in pixels, of the shift at column x of row y, which is pixel number i.
inline float pixels_at(Overlaps overlaps, int x, int y, size_t i) {
#ifdef OUTLINES
  return outline_pixels(overlaps, (float)x, (float)y);
#else
  return overlaps.stored[i] * overlaps.normalization;
#endif
}

// The score of the shift at column x of row y. The surface is multiplied by its number of pixels.
inline float score_at(global const float* surface, Overlaps overlaps, int width, int height, int x,
                      int y, SurfaceLimits limits) {
  const size_t i = (size_t)y * (size_t)width + (size_t)x;
  const float score = wa_score_over(surface[i], pixels_at(overlaps, x, y, i),
                                    1.0f / (float)(width * height), limits.min_overlap);
  // Tests for a limit first: searches rarely have one, and the distances cost more than the score.
  // Of equivalent periodic shifts, the smallest applies.
  if (limits.reach2 > 0.0f) {
    const float dx = wa_shift_distance((float)x, limits.centre_x, (float)width);
    const float dy = wa_shift_distance((float)y, limits.centre_y, (float)height);
    const bool within = wa_shift_square(dx, dy) <= limits.reach2 &&
                        wa_band_distance(dx, dy, limits.first_x, limits.first_y) <= 1.0f &&
                        wa_band_distance(dx, dy, limits.second_x, limits.second_y) <= 1.0f;
    if (!within) return 0.0f;
  }
  return score;
}

// Work-groups along x share a slice; y is the slice.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void overlap_peaks_partial(
    global const float* surfaces, OverlapSource source, int each, global const float* all_limits,
    int own_limits, int width, int height, global Best* partials) {
  local Best shared[GROUP];
  const size_t slice = get_global_id(1);
  const uint plane = (uint)(width * height);
  surfaces += slice * plane;
  const SurfaceLimits limits = limits_of(all_limits, own_limits, slice);
  const Overlaps overlaps = overlaps_of(source, each, slice, width, height, limits);
  Best mine = nothing();
  for (uint i = (uint)get_global_id(0); i < plane; i += (uint)get_global_size(0)) {
    const int y = (int)i / width;
    const Best here = {score_at(surfaces, overlaps, width, height, (int)i - y * width, y, limits),
                       i};
    mine = better(mine, here);
  }
  mine = best_of_group(mine, shared);
  if (get_local_id(0) == 0) partials[slice * get_num_groups(0) + get_group_id(0)] = mine;
}

// One work-group per slice.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void overlap_peaks_final(
    global const float* surfaces, OverlapSource source, int each, global const float* all_limits,
    int own_limits, int width, int height, global const Best* partials, uint count,
    global uint* records) {
  local Best shared[GROUP];
  const size_t slice = get_global_id(1);
  const Best mine = best_of_partials(partials, slice, count, shared);
  if (get_local_id(0) != 0) return;
  const size_t plane = (size_t)width * (size_t)height;
  surfaces += slice * plane;
  const SurfaceLimits limits = limits_of(all_limits, own_limits, slice);
  const Overlaps overlaps = overlaps_of(source, each, slice, width, height, limits);
  const int2 place = position_of(mine, width);
  global uint* record = records + slice * 12;
  for (int n = 0; n < 9; ++n) {
    const int2 at = neighbour(place, n, width, height);
    record[3 + n] = as_uint(score_at(surfaces, overlaps, width, height, at.x, at.y, limits));
  }
  write_peak(mine, place, record);
}
