// Sums over the neighbours of a segment of pixels: vectors first lie along the rows of
// coefficients, and then along the pixels. For OpenCL kernels only; options as in
// spline/cpu/interpolate_cpu.cl.
#ifndef WARPALIGN_LIB_ROW_SUMS_H
#define WARPALIGN_LIB_ROW_SUMS_H

#include "lib/row_points.h"

// The weights of a segment's pixels along one axis.
typedef struct {
  float16 w[TAPS][CHUNKS];
} Weights;

WA_INLINE void weigh16(float16 t, int chunk, Weights* weights) {
  const float* each = (const float*)&t;
  float* all = (float*)weights->w + chunk * 16;
  for (int i = 0; i < 16; ++i) {
    float w[TAPS];
    WEIGHTS(each[i], w);
#pragma unroll
    for (int k = 0; k < TAPS; ++k) all[k * SEGMENT + i] = w[k];
  }
}

WA_INLINE float weight_of(const Weights* weights, int k, int i) {
  return ((const float*)weights->w)[k * SEGMENT + i];
}

WA_INLINE Loaded add_weighed(float weight, Loaded row, Loaded sum) {
  return fma((Loaded)(weight), row, sum);
}

// Sums the rows of one plane of pixel i's neighbours; `first` points at the first neighbour.
WA_INLINE Loaded sum_plane(global const float* first, size_t row, const Weights* y, int i) {
  if (DIMENSIONS < 2) return LOAD(first);
  Loaded sum = weight_of(y, 0, i) * LOAD(first);
#pragma unroll
  for (int j = 1; j < TAPS; ++j) sum = add_weighed(weight_of(y, j, i), LOAD(first + j * row), sum);
  return sum;
}

// Sums all rows of pixel i's neighbours.
WA_INLINE Loaded sum_rows(global const float* first, size_t row, size_t plane, const Weights* y,
                          const Weights* z, int i) {
  if (DIMENSIONS < 3) return sum_plane(first, row, y, i);
  Loaded sum = weight_of(z, 0, i) * sum_plane(first, row, y, i);
#pragma unroll
  for (int k = 1; k < TAPS; ++k) {
    sum = add_weighed(weight_of(z, k, i), sum_plane(first + k * plane, row, y, i), sum);
  }
  return sum;
}

// Sums all rows of a pixel's neighbours, each of which the boundary rule must find; the first is
// (x, y, z).
WA_INLINE void sum_extended(const Spline* spline, int x, int y, int z, const Weights* wy,
                            const Weights* wz, int i, float* sums) {
  int at_x[TAPS];
#pragma unroll
  for (int l = 0; l < TAPS; ++l) at_x[l] = wa_extend(EXTENSION, x + l, spline->width);
  for (int l = 0; l < TAPS * COMPONENTS; ++l) sums[l] = 0.0f;
#pragma unroll 1
  for (int k = 0; k < TAPS_Z; ++k) {
    const int at_z = DIMENSIONS < 3 ? 0 : wa_extend(EXTENSION, z + k, spline->depth);
#pragma unroll 1
    for (int j = 0; j < TAPS_Y; ++j) {
      const int at_y = DIMENSIONS < 2 ? 0 : wa_extend(EXTENSION, y + j, spline->height);
      const float weight = (DIMENSIONS < 2 ? 1.0f : weight_of(wy, j, i)) *
                           (DIMENSIONS < 3 ? 1.0f : weight_of(wz, k, i));
      const size_t row = (size_t)max(at_z, 0) * (size_t)spline->height + (size_t)max(at_y, 0);
      global const Value* values = spline->values + row * (size_t)spline->width;
#pragma unroll
      for (int l = 0; l < TAPS; ++l) {
        const bool found = at_x[l] >= 0 && at_y >= 0 && at_z >= 0;
        const Value value = found ? values[at_x[l]] : constant_value(spline->cval);
        const float* components = (const float*)&value;
        for (int c = 0; c < COMPONENTS; ++c) {
          sums[l * COMPONENTS + c] = fma(weight, components[c], sums[l * COMPONENTS + c]);
        }
      }
    }
  }
}

// The input for a segment's pixels: the offsets of their first neighbours, and their weights.
typedef struct {
  int16 at[CHUNKS];
  Weights x, y, z;
} Segment;

WA_INLINE void prepare(const Spline* spline, const Points16* points, int chunk, Segment* segment) {
  weigh16(points->x.t, chunk, &segment->x);
  if (DIMENSIONS >= 2) weigh16(points->y.t, chunk, &segment->y);
  if (DIMENSIONS >= 3) weigh16(points->z.t, chunk, &segment->z);
  segment->at[chunk] = first_offsets(spline, points) * COMPONENTS;
}

WA_INLINE Loaded sum_inside(const Spline* spline, const Segment* segment, int i) {
  global const float* coefficients = (global const float*)spline->values;
  const size_t row = (size_t)spline->width * COMPONENTS;
  return sum_rows(coefficients + ((const int*)segment->at)[i], row, row * (size_t)spline->height,
                  &segment->y, &segment->z, i);
}

// Column k of sixteen rows of LOADED floats.
WA_INLINE float16 column(const float* sums, int k) {
  float16 values;
  float* each = (float*)&values;
#pragma unroll
  for (int i = 0; i < 16; ++i) each[i] = sums[i * LOADED + k];
  return values;
}

// The final sums, along x; `sums` are those of the chunk's pixels.
WA_INLINE void sum_columns(const Segment* segment, int chunk, const float* sums, float16* value) {
#pragma unroll
  for (int c = 0; c < COMPONENTS; ++c) {
    value[c] = segment->x.w[0][chunk] * column(sums, c);
#pragma unroll
    for (int k = 1; k < TAPS; ++k) {
      value[c] = fma(segment->x.w[k][chunk], column(sums, k * COMPONENTS + c), value[c]);
    }
  }
}

// The tensor product at sixteen points. If `inside` is not 0, all neighbours are coefficients; if
// `extended` is not 0, the boundary rule finds them.
WA_INLINE void evaluate_mixed(const Spline* spline, const Points16* points, int16 inside,
                              int16 extended, float16* value) {
  Segment segment;
  float16 sums[LOADED];
  prepare(spline, points, 0, &segment);
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    float* sum = (float*)sums + i * LOADED;
    if (((const int*)&inside)[i] != 0) {
      *(Loaded*)sum = sum_inside(spline, &segment, i);
    } else if (((const int*)&extended)[i] != 0) {
      sum_extended(spline, ((const int*)&points->x.first)[i], ((const int*)&points->y.first)[i],
                   ((const int*)&points->z.first)[i], &segment.y, &segment.z, i, sum);
    }
  }
  sum_columns(&segment, 0, (const float*)sums, value);
}

#ifdef COMPLEX
WA_INLINE void store16(const float16* value, int count, global Value* output) {
  const float* re = (const float*)&value[0];
  const float* im = (const float*)&value[1];
  for (int i = 0; i < count; ++i) output[i] = (float2)(re[i], im[i]);
}
#else
WA_INLINE void store16(const float16* value, int count, global Output* output) {
  if (count == 16) {
    STORE_16(output, value[0]);
    return;
  }
  const float* each = (const float*)value;
  for (int i = 0; i < count; ++i) STORE(output, i, each[i]);
}
#endif

#endif
