// B-spline evaluation at the points of a transform, a coordinate field or a log-polar grid
// (Ruijters et al., equation 1), from (DEGREE + 1)^DIMENSIONS neighbours with weights in single
// precision.
//
// Options: DEGREE 0 to 5; DIMENSIONS 1 to 3; EXTENSION; one of POINTS_FREE, POINTS_REJECT,
// POINTS_CLAMP, POINTS_WRAP (backend::InterpolateDetails); COMPLEX; one of OUTPUT_U8, OUTPUT_U16,
// OUTPUT_F16, OUTPUT_F32; GRADIENT for the second kernel too; TEXTURE to read neighbours in the
// image through the texture unit's linear filter, and with it LUT for a table of weights; BATCH
// (lib/batch.h): work-items cover the rows of all arrays.
//
// variant: gpu -DDEGREE=0 -DDIMENSIONS=1 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32
// variant: gpu -DDEGREE=1 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F16
// variant: gpu -DDEGREE=2 -DDIMENSIONS=2 -DEXTENSION=1 -DPOINTS_FREE -DOUTPUT_U8
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DGRADIENT
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DCOMPLEX
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DTEXTURE
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DTEXTURE -DLUT
// variant: gpu -DDEGREE=3 -DDIMENSIONS=3 -DEXTENSION=2 -DPOINTS_FREE -DOUTPUT_F32 -DTEXTURE
// variant: gpu -DDEGREE=3 -DDIMENSIONS=3 -DEXTENSION=3 -DPOINTS_CLAMP -DOUTPUT_U16 -DGRADIENT
// variant: gpu -DDEGREE=4 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_WRAP -DOUTPUT_F32
// variant: gpu -DDEGREE=5 -DDIMENSIONS=2 -DEXTENSION=4 -DPOINTS_FREE -DOUTPUT_F32 -DGRADIENT
// variant: gpu -DDEGREE=5 -DDIMENSIONS=3 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DGRADIENT
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DGRADIENT -DBATCH
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DTEXTURE -DBATCH
#include "formulas/bilinear.h"
#include "lib/grid.h"
#include "lib/launch.h"
#include "lib/spline_value.h"

#ifdef BATCH
// A launch processes `arrays` arrays, from number first_array on.
#define BATCH_PARAMETERS \
  , global const PointsOfArray *entries, int each, int first_array, int arrays

// Finds the array of an item, and makes the item's row relative to that array; returns false if the
// item is beyond the last array.
WA_INLINE bool find_array(Item* item, int rows, int first_array, int arrays, size_t* array) {
  const int number = item->y / rows;
  item->y -= number * rows;
  *array = (size_t)(first_array + number);
  return number < arrays;
}

// Replaces the parameters by those of the array that this work-item's row belongs to.
#define TAKE_ARRAY_OF_ITEM                                                                          \
  size_t array;                                                                             \
  if (!find_array(&item, output_height * output_depth, first_array, arrays, &array)) return; \
  TAKE_POINTS(entries + array * each);                                                      \
  coefficients += array * ((size_t)width * (size_t)height * (size_t)depth);                 \
  output += array * ((size_t)output_width * (size_t)output_height * (size_t)output_depth)
#else
#define BATCH_PARAMETERS
#endif

// Finds the output pixel of an item, the number of pixels, and the point at which the pixel is
// read; returns false if the item has none.
WA_INLINE bool find_pixel(Item item, POINTS_PARAMETERS, OUTPUT_PARAMETERS, size_t* pixel,
                          size_t* pixels, Point* point) {
  const int z = item.y / output_height;
  const int y = item.y - z * output_height;
  if (item.x >= output_width || z >= output_depth) return false;
  *pixel = (size_t)item.y * (size_t)output_width + (size_t)item.x;
  *pixels = (size_t)output_width * (size_t)output_height * (size_t)output_depth;
  find_point(POINTS_ARGUMENTS, item.x, y, z, *pixel, *pixels, point);
  return true;
}

#ifdef TEXTURE

#if DIMENSIONS == 2
#define IMAGE image2d_t
#else
#define IMAGE image3d_t
#endif

#define TABLE_SIZE WA_LOOKUP_TABLE_SIZE

// Sigg and Hadwiger's table: the offsets of the two lookups and the weight of the first, for t = i
// / 127.
kernel void interpolate_table(global float4* table) {
  const int i = (int)get_global_id(0);
  if (i >= TABLE_SIZE) return;
  float h0, h1;
  const float g0 = wa_bspline_lookups_3((float)i / (float)(TABLE_SIZE - 1), &h0, &h1);
  table[i] = (float4)(h0, h1, g0, 0.0f);
}

// Along one axis, puts the texture coordinates of the two lookups in at[0] and at[1], and returns
// the weight of the first.
WA_INLINE float lookups(Along along, global const float4* table, float* at) {
  const float origin = (float)(along.first + DEGREE / 2) + 0.5f;
#if DEGREE == 1
  at[0] = at[1] = origin + along.t;
  return 1.0f;
#elif defined(LUT)
  const float position = along.t * (float)(TABLE_SIZE - 1);
  const int i = min((int)position, TABLE_SIZE - 2);
  const float4 entry = mix(table[i], table[i + 1], position - (float)i);
  at[0] = origin + entry.x;
  at[1] = origin + entry.y;
  return entry.z;
#else
  float h0, h1;
  const float g0 = wa_bspline_lookups_3(along.t, &h0, &h1);
  at[0] = origin + h0;
  at[1] = origin + h1;
  return g0;
#endif
}

#if DIMENSIONS == 2
#define LOOKUP(i, j, k) read_imagef(image, linear, (float2)(x[i], y[j])).x
#else
#define LOOKUP(i, j, k) read_imagef(image, linear, (float4)(x[i], y[j], z[k], 0.0f)).x
#endif

// Ruijters et al., section 3: 2^DIMENSIONS linear lookups.
WA_INLINE float textured(read_only IMAGE image, sampler_t linear, global const float4* table,
                         Along along_x, Along along_y, Along along_z) {
  float x[2], y[2], z[2];
  const float gx = lookups(along_x, table, x);
  const float gy = lookups(along_y, table, y);
#if DIMENSIONS == 3
  const float gz = lookups(along_z, table, z);
#endif
#if DEGREE == 1
  return LOOKUP(0, 0, 0);
#else
  const float near = wa_lerp(wa_lerp(LOOKUP(1, 1, 0), LOOKUP(0, 1, 0), gx),
                             wa_lerp(LOOKUP(1, 0, 0), LOOKUP(0, 0, 0), gx), gy);
#if DIMENSIONS == 2
  return near;
#else
  const float far = wa_lerp(wa_lerp(LOOKUP(1, 1, 1), LOOKUP(0, 1, 1), gx),
                            wa_lerp(LOOKUP(1, 0, 1), LOOKUP(0, 0, 1), gx), gy);
  return wa_lerp(far, near, gz);
#endif
#endif
}

#endif  // TEXTURE

kernel void interpolate(
#ifdef TEXTURE
    read_only IMAGE image, sampler_t linear, global const float4* table,
#endif
    SPLINE_PARAMETERS, POINTS_PARAMETERS, global Output* output,
    OUTPUT_PARAMETERS BATCH_PARAMETERS) {
  Item item = patch_item(output_width);
#ifdef BATCH
  TAKE_ARRAY_OF_ITEM;
#endif
  size_t pixel, pixels;
  Point point;
  if (!find_pixel(item, POINTS_ARGUMENTS, output_width, output_height, output_depth, &pixel, &pixels,
                  &point)) {
    return;
  }
  const Spline spline = {coefficients, width, height, depth, margin, cval};
  Along x = {0, 0.0f, false}, y = {0, 0.0f, false}, z = {0, 0.0f, false};
  Value value = constant_value(cval);
  if (locate_point(&spline, &point, &x, &y, &z)) {
    if (all_inside(&spline, x, y, z)) {
#ifdef TEXTURE
      value = textured(image, linear, table, x, y, z);
#else
      value = tensor_product(&spline, x, y, z, true, false).value;
#endif
    } else {
      value = tensor_product(&spline, x, y, z, false, false).value;
    }
  }
  STORE(output, pixel, value);
}

#ifdef GRADIENT

kernel void interpolate_gradient(global float* gradient, SPLINE_PARAMETERS, POINTS_PARAMETERS,
                                 global float* output, OUTPUT_PARAMETERS BATCH_PARAMETERS) {
  Item item = patch_item(output_width);
#ifdef BATCH
  TAKE_ARRAY_OF_ITEM;
#endif
  size_t pixel, pixels;
  Point point;
  if (!find_pixel(item, POINTS_ARGUMENTS, output_width, output_height, output_depth, &pixel, &pixels,
                  &point)) {
    return;
  }
  const Spline spline = {coefficients, width, height, depth, margin, cval};
  Along x = {0, 0.0f, false}, y = {0, 0.0f, false}, z = {0, 0.0f, false};
  Result result = {cval, 0.0f, 0.0f, 0.0f};
  if (locate_point(&spline, &point, &x, &y, &z)) {
    result = all_inside(&spline, x, y, z) ? tensor_product(&spline, x, y, z, true, true)
                                          : tensor_product(&spline, x, y, z, false, true);
  }
  output[pixel] = result.value;
#ifdef BATCH
  gradient += array * pixels;
  pixels *= (size_t)arrays;
#endif
  gradient[pixel] = result.dx;
  if (DIMENSIONS >= 2) gradient[pixels + pixel] = result.dy;
  if (DIMENSIONS >= 3) gradient[2 * pixels + pixel] = result.dz;
}

#endif
