// Converts images of any real type to double precision, with a margin, and results back.
//
// Options: GROUP, the size of the work-group; CHUNK, the pixels of a work-item. The pixels of a
// group's work-items are interleaved. PIXEL_U8 ... PIXEL_F64, the numbers by which the argument
// `type` names the types.
//
// variant: gpu -DGROUP=256 -DCHUNK=4 -DPIXEL_U8=0 -DPIXEL_I8=1 -DPIXEL_U16=2 -DPIXEL_I16=3
// -DPIXEL_U32=4 -DPIXEL_I32=5 -DPIXEL_F16=6 -DPIXEL_F64=8 variant: cpu -DGROUP=1 -DCHUNK=256
// -DPIXEL_U8=0 -DPIXEL_I8=1 -DPIXEL_U16=2 -DPIXEL_I16=3 -DPIXEL_U32=4 -DPIXEL_I32=5 -DPIXEL_F16=6
// -DPIXEL_F64=8
#include "formulas/double_spline.h"
#include "formulas/pixel_types.h"
#include "shared/kernel_language.h"

WA_INLINE double wa_pixel_as_double(WA_GLOBAL const unsigned char* pixels, int type, WA_UINT64 i) {
  switch (type) {
    case WA_PIXEL_U8:
      return (double)pixels[i];
    case WA_PIXEL_I8:
      return (double)((WA_GLOBAL const signed char*)pixels)[i];
    case WA_PIXEL_U16:
      return (double)((WA_GLOBAL const unsigned short*)pixels)[i];
    case WA_PIXEL_I16:
      return (double)((WA_GLOBAL const short*)pixels)[i];
    case WA_PIXEL_U32:
      return (double)((WA_GLOBAL const unsigned int*)pixels)[i];
    case WA_PIXEL_I32:
      return (double)((WA_GLOBAL const int*)pixels)[i];
    case WA_PIXEL_F16:
      return (double)WA_LOAD_HALF(pixels, i);
    case WA_PIXEL_F64:
      return ((WA_GLOBAL const double*)pixels)[i];
    default:
      return (double)((WA_GLOBAL const float*)pixels)[i];
  }
}

// The nearest integer, halves away from zero, within the type's range; 0 for NaN.
WA_INLINE double wa_nearest_integer(double value, double lowest, double highest) {
  if (!(value == value)) return 0.0;
  const double nearest = round(value);
  return nearest < lowest ? lowest : nearest > highest ? highest : nearest;
}

WA_INLINE void wa_store_double(double value, WA_GLOBAL unsigned char* pixels, int type,
                               WA_UINT64 i) {
  switch (type) {
    case WA_PIXEL_U8:
      pixels[i] = (unsigned char)wa_nearest_integer(value, 0.0, 255.0);
      break;
    case WA_PIXEL_I8:
      ((WA_GLOBAL signed char*)pixels)[i] =
          (signed char)(int)wa_nearest_integer(value, -128.0, 127.0);
      break;
    case WA_PIXEL_U16:
      ((WA_GLOBAL unsigned short*)pixels)[i] =
          (unsigned short)wa_nearest_integer(value, 0.0, 65535.0);
      break;
    case WA_PIXEL_I16:
      ((WA_GLOBAL short*)pixels)[i] = (short)(int)wa_nearest_integer(value, -32768.0, 32767.0);
      break;
    case WA_PIXEL_U32:
      ((WA_GLOBAL unsigned int*)pixels)[i] =
          (unsigned int)wa_nearest_integer(value, 0.0, 4294967295.0);
      break;
    case WA_PIXEL_I32:
      ((WA_GLOBAL int*)pixels)[i] = (int)wa_nearest_integer(value, -2147483648.0, 2147483647.0);
      break;
    case WA_PIXEL_F16:
      WA_STORE_HALF((float)value, pixels, i);
      break;
    case WA_PIXEL_F64:
      ((WA_GLOBAL double*)pixels)[i] = value;
      break;
    default:
      ((WA_GLOBAL float*)pixels)[i] = (float)value;
      break;
  }
}

// The sample that is at an index of an axis of n samples with a margin; -1: the fill value.
WA_INLINE int wa_before_margin(int index, int margin, int n, int is_filled) {
  const int at = index - margin;
  if (at >= 0 && at < n) return at;
  if (is_filled) return -1;
  return at < 0 ? 0 : n - 1;
}

// Loads arrays with a margin at both ends of each of their axes, which repeats the end samples, or
// with is_filled is `fill`. An axis without margin keeps its length. `total` is the number of
// pixels of all arrays with their margins.
WA_KERNEL(GROUP, 1)
load_doubles(WA_GLOBAL const unsigned char* source, int type, int width, int height, int depth,
             int margin_x, int margin_y, int margin_z, int is_filled, double fill, WA_UINT64 total,
             WA_GLOBAL double* target) {
  WA_BEGIN();
  const WA_UINT64 across = (WA_UINT64)(width + 2 * margin_x);
  const WA_UINT64 down = (WA_UINT64)(height + 2 * margin_y);
  const WA_UINT64 deep = (WA_UINT64)(depth + 2 * margin_z);
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_X * ((WA_UINT64)GROUP * CHUNK) + WA_ITEM_X;
  for (int k = 0; k < CHUNK; ++k) {
    const WA_UINT64 i = first + (WA_UINT64)k * GROUP;
    if (i >= total) return;
    const WA_UINT64 row = i / across, slice = row / down, array = slice / deep;
    const int x = wa_before_margin((int)(i - row * across), margin_x, width, is_filled);
    const int y = wa_before_margin((int)(row - slice * down), margin_y, height, is_filled);
    const int z = wa_before_margin((int)(slice - array * deep), margin_z, depth, is_filled);
    target[i] =
        x < 0 || y < 0 || z < 0
            ? fill
            : wa_pixel_as_double(
                  source, type,
                  ((array * (WA_UINT64)depth + (WA_UINT64)z) * (WA_UINT64)height + (WA_UINT64)y) *
                          (WA_UINT64)width +
                      (WA_UINT64)x);
  }
}

WA_KERNEL(GROUP, 1)
store_doubles(WA_GLOBAL const double* source, WA_UINT64 total, int type,
              WA_GLOBAL unsigned char* target) {
  WA_BEGIN();
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_X * ((WA_UINT64)GROUP * CHUNK) + WA_ITEM_X;
  for (int k = 0; k < CHUNK; ++k) {
    const WA_UINT64 i = first + (WA_UINT64)k * GROUP;
    if (i < total) wa_store_double(source[i], target, type, i);
  }
}

WA_KERNEL(GROUP, 1)
convert_doubles(WA_GLOBAL const unsigned char* source, int from, WA_UINT64 total,
                WA_GLOBAL unsigned char* target, int to) {
  WA_BEGIN();
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_X * ((WA_UINT64)GROUP * CHUNK) + WA_ITEM_X;
  for (int k = 0; k < CHUNK; ++k) {
    const WA_UINT64 i = first + (WA_UINT64)k * GROUP;
    if (i < total) wa_store_double(wa_pixel_as_double(source, from, i), target, to, i);
  }
}
