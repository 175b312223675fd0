// Sums over the overlap of two shifted volumes: the moments at a shift by whole voxels, and the
// sums of a Gauss-Newton step at any shift. Each work-group processes several rows.
//
// Options: GROUP, the work-group's size, a power of two; MARKED, if NaN marks voxels outside the
// mask: the number of valid voxels is then added as the last sum.
//
// variant: gpu -DGROUP=64
// variant: gpu -DGROUP=64 -DMARKED
#include "formulas/volume.h"
#include "lib/sums.h"

#ifdef MARKED
#define ADDED 1
#else
#define ADDED 0
#endif
#define MOMENTS (WA_VOLUME_MOMENTS + ADDED)
#define STEP_SUMS (WA_VOLUME_STEP_SUMS + ADDED)

// A row of the part of a volume that begins at voxel `first`; sides are (width, height, depth, 0)
// of the whole volume.
WA_INLINE global const float* row_of(global const float* volume, int4 sides, int4 first, int row,
                                     int rows) {
  const size_t y = (size_t)(first.y + row % rows);
  const size_t z = (size_t)(first.z + row / rows);
  return volume + (z * (size_t)sides.y + y) * (size_t)sides.x + (size_t)first.x;
}

// first, size: the box of reference voxels; moving_first: the moving voxel that corresponds to the
// box's first one; slot: the number of this shift's first sum.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void volume_moments(
    global const float* reference, int4 reference_sides, global const float* moving,
    int4 moving_sides, int4 first, int4 size, int4 moving_first, int slot, global float* partials) {
  local float shared[SUMS_ROOM];
  float sums[MOMENTS];
  for (int i = 0; i < MOMENTS; ++i) sums[i] = 0.0f;
  for (int row = (int)get_group_id(0); row < size.y * size.z; row += (int)get_num_groups(0)) {
    global const float* r = row_of(reference, reference_sides, first, row, size.y);
    global const float* m = row_of(moving, moving_sides, moving_first, row, size.y);
    for (int x = (int)get_local_id(0); x < size.x; x += GROUP) {
#ifdef MARKED
      if (wa_is_marked(r[x]) || wa_is_marked(m[x])) continue;
      sums[WA_VOLUME_MOMENTS] += 1.0f;
#endif
      wa_volume_add_moments(r[x], m[x], sums);
    }
  }
  store_group_sums(sums, MOMENTS, shared, partials + slot * (int)get_num_groups(0));
}

WA_INLINE void add_row(global const float* c, const WaVolumeWeights* weights, float y, float dy,
                       float* plane) {
  wa_volume_add_row(c[0], c[1], c[2], c[3], weights, y, dy, plane);
}

// Adds four rows of four coefficients. Without loops, because weights indexed by a variable would
// be kept in memory.
WA_INLINE void add_plane(global const float* c, size_t across, const WaVolumeWeights* weights,
                         float z, float dz, float* location) {
  float plane[3] = {0.0f, 0.0f, 0.0f};
  add_row(c, weights, weights->y[0], weights->dy[0], plane);
  add_row(c + across, weights, weights->y[1], weights->dy[1], plane);
  add_row(c + 2 * across, weights, weights->y[2], weights->dy[2], plane);
  add_row(c + 3 * across, weights, weights->y[3], weights->dy[3], plane);
  wa_volume_add_plane(plane, z, dz, location);
}

// moving_first: the first neighbour of the location of the first voxel, one before its cell.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void volume_step(
    global const float* reference, int4 reference_sides, global const float* moving,
    int4 moving_sides, int4 first, int4 size, int4 moving_first, float4 fraction,
    global float* partials) {
  local float shared[SUMS_ROOM];
  WaVolumeWeights weights;
  wa_volume_weights(fraction.x, fraction.y, fraction.z, &weights);
  const size_t across = (size_t)moving_sides.x;
  const size_t plane = (size_t)moving_sides.x * (size_t)moving_sides.y;
  const int down = reference_sides.x;
  const long deep = (long)reference_sides.x * (long)reference_sides.y;
  float sums[STEP_SUMS];
  for (int i = 0; i < STEP_SUMS; ++i) sums[i] = 0.0f;
  for (int row = (int)get_group_id(0); row < size.y * size.z; row += (int)get_num_groups(0)) {
    global const float* r = row_of(reference, reference_sides, first, row, size.y);
    global const float* m = row_of(moving, moving_sides, moving_first, row, size.y);
    for (int x = (int)get_local_id(0); x < size.x; x += GROUP) {
      float location[4] = {0.0f, 0.0f, 0.0f, 0.0f};
      global const float* c = m + x;
      add_plane(c, across, &weights, weights.z[0], weights.dz[0], location);
      add_plane(c + plane, across, &weights, weights.z[1], weights.dz[1], location);
      add_plane(c + 2 * plane, across, &weights, weights.z[2], weights.dz[2], location);
      add_plane(c + 3 * plane, across, &weights, weights.z[3], weights.dz[3], location);
      global const float* here = r + x;
      const float slope[3] = {0.5f * (here[1] - here[-1]), 0.5f * (here[down] - here[-down]),
                              0.5f * (here[deep] - here[-deep])};
#ifdef MARKED
      if (!wa_volume_is_valid(here[0], slope, location)) continue;
      sums[WA_VOLUME_STEP_SUMS] += 1.0f;
#endif
      wa_volume_add_step(here[0], slope, location, sums);
    }
  }
  store_group_sums(sums, STEP_SUMS, shared, partials);
}
