// The samples of the moving volume at displaced voxels, for CPUs: like deformation_warp() of
// shared/deformation_grid.cl, with sixteen neighbouring voxels of a row at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/bspline.h"
#include "lib/quads.h"

// The spline along a row of coefficients, with the four that begin at `at` and their weights.
WA_INLINE float16 spline_along(global const float* row, const int* at, const float16* w) {
  float16 c[4];
#pragma unroll
  for (int q = 0; q < 4; ++q) c[q] = load_quad(row, at, q);
  make_columns(c);
  return fma(w[0], c[0], fma(w[1], c[1], fma(w[2], c[2], w[3] * c[3])));
}

WA_INLINE float16 row_of_pose(global const float* row, float16 x, float16 y, float16 z) {
  return fma((float16)(row[0]), x, fma((float16)(row[1]), y, fma((float16)(row[2]), z, row[3])));
}

// A position along an axis, moved into the volume: the voxel before it, the step to the next one,
// or 0 at the end, and the part between them.
typedef struct {
  float16 at, part;
  int16 before, next;
} Place;

WA_INLINE Place place_of(float16 position, int voxels) {
  Place place;
  place.at = fmin(fmax(position, 0.0f), (float)(voxels - 1));
  place.before = convert_int16(place.at);
  place.next = (place.before + 1 < voxels) & 1;
  place.part = place.at - convert_float16(place.before);
  return place;
}

WA_INLINE float16 between(float16 a, float16 b, float16 part) { return fma(part, b - a, a); }

WA_INLINE float16 value_in_row(global const float* volume, int16 at, const Place* x) {
  return between(gather(volume, at), gather(volume, at + x->next), x->part);
}

WA_INLINE float16 value_in_plane(global const float* volume, int16 at, int width, const Place* x,
                                 const Place* y) {
  return between(value_in_row(volume, at, x), value_in_row(volume, at + y->next * width, x),
                 y->part);
}

// Each work-item processes a row.
SIMD_KERNEL deformation_warp(
    global const float* from, int controls, float first, float step, int width, int height,
    int depth, global const float* moving, int moving_width, int moving_height, int moving_depth,
    global const float* pose, int masked, global const float* reference_mask,
    global const float* moving_mask, global float* samples) {
  const size_t number = get_global_id(0);
  const int rows = height * depth;
  const bool in_space = depth > 1;
  const float row_y = pose[13] * (float)((int)number % height);
  const float row_z = pose[14] * (float)((int)number / height);
  global const float* cx = from + number * (size_t)controls;
  global const float* cy = cx + (size_t)rows * (size_t)controls;
  global const float* cz = cy + (in_space ? (size_t)rows * (size_t)controls : 0);
  const int plane = moving_width * moving_height;
  global float* values = samples + number * (size_t)width;
  global float* valid = values + (size_t)rows * (size_t)width;
#pragma unroll 1
  for (int x = 0; x < width; x += 16) {
    const int count = width - x;
    const float16 column = convert_float16(NUMBERS + x);
    const float16 t = fma(column, (float16)(step), first);
    const int16 controls_at = min(convert_int16(t) - 1, controls - 4);
    const int* at = (const int*)&controls_at;
    float16 w[4];
    wa_bspline_weights_3(t - convert_float16(controls_at + 1), w);
    const float16 qx = fma((float16)(pose[12]), column, spline_along(cx, at, w));
    const float16 qy = row_y + spline_along(cy, at, w);
    const float16 qz = row_z + (in_space ? spline_along(cz, at, w) : 0.0f);
    const float16 px = row_of_pose(pose, qx, qy, qz);
    const float16 py = row_of_pose(pose + 4, qx, qy, qz);
    const float16 pz = row_of_pose(pose + 8, qx, qy, qz);
    const Place in_x = place_of(px, moving_width);
    const Place in_y = place_of(py, moving_height);
    const Place in_z = place_of(pz, moving_depth);
    // Offsets from the plane of the first voxel, so that they fit an int.
    const int first_plane = in_z.before.s0;
    global const float* volume = moving + (size_t)first_plane * (size_t)plane;
    const int16 offset = (in_z.before - first_plane) * plane + in_y.before * moving_width +
                         in_x.before;
    float16 value = value_in_plane(volume, offset, moving_width, &in_x, &in_y);
    if (in_space) {
      const float16 behind =
          value_in_plane(volume, offset + in_z.next * plane, moving_width, &in_x, &in_y);
      value = between(value, behind, in_z.part);
    }
    store_some(value, count, values + x);
    const int16 inside = px == in_x.at && py == in_y.at && (pz == in_z.at || !in_space);
    float16 counts = only((float16)(1.0f), inside);
    if (masked) {
      const int16 nearest = (convert_int16(in_z.at + 0.5f) - first_plane) * plane +
                            convert_int16(in_y.at + 0.5f) * moving_width +
                            convert_int16(in_x.at + 0.5f);
      counts *= load_some(reference_mask + (number * (size_t)width + (size_t)x), count) *
                gather(moving_mask + (size_t)first_plane * (size_t)plane, nearest);
    }
    store_some(counts, count, valid + x);
  }
}
