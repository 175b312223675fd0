// Converts pixels of any real type to pixels of another type, by way of a float.
//
// Options: GROUP, the size of the work-group; CHUNK, the pixels of a work-item. The pixels of a
// group's work-items are interleaved, so that neighbouring work-items load neighbouring pixels.
// TYPE_U8 ... TYPE_F64, the numbers by which the arguments `from` and `to` name the types.
//
// variant: gpu -DGROUP=256 -DCHUNK=4 -DTYPE_U8=0 -DTYPE_I8=1 -DTYPE_U16=2 -DTYPE_I16=3 -DTYPE_U32=4 -DTYPE_I32=5 -DTYPE_F16=6 -DTYPE_F64=8
// variant: cpu -DGROUP=1 -DCHUNK=64 -DTYPE_U8=0 -DTYPE_I8=1 -DTYPE_U16=2 -DTYPE_I16=3 -DTYPE_U32=4 -DTYPE_I32=5 -DTYPE_F16=6 -DTYPE_F64=8
#include "formulas/double_bits.h"
#include "formulas/rounded.h"
#include "shared/kernel_language.h"

WA_INLINE int wa_to_int32(float value) {
  if (value >= 2147483648.0f) return 2147483647;
  return (int)wa_rounded(value, -2147483648.0f, 2147483520.0f);
}

WA_INLINE unsigned int wa_to_uint32(float value) {
  if (value >= 4294967296.0f) return 4294967295u;
  return (unsigned int)wa_rounded(value, 0.0f, 4294967040.0f);
}

// Runs `statement` for each pixel of the work-item: `i` is its position in the image, and values[k]
// its value.
#define FOR_EACH_PIXEL(statement)          \
  for (int k = 0; k < CHUNK; ++k) {        \
    const WA_UINT64 i = first + k * GROUP; \
    if (i < pixels) statement;             \
  }

WA_KERNEL(GROUP, 1)
convert(WA_GLOBAL const unsigned char* source, int from, WA_UINT64 pixels,
        WA_GLOBAL unsigned char* target, int to) {
  WA_BEGIN();
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_X * (GROUP * CHUNK) + WA_ITEM_X;
  float values[CHUNK];

  switch (from) {
    case TYPE_U8:
      FOR_EACH_PIXEL(values[k] = (float)source[i])
      break;
    case TYPE_I8:
      FOR_EACH_PIXEL(values[k] = (float)((WA_GLOBAL const signed char*)source)[i])
      break;
    case TYPE_U16:
      FOR_EACH_PIXEL(values[k] = (float)((WA_GLOBAL const unsigned short*)source)[i])
      break;
    case TYPE_I16:
      FOR_EACH_PIXEL(values[k] = (float)((WA_GLOBAL const short*)source)[i])
      break;
    case TYPE_U32:
      FOR_EACH_PIXEL(values[k] = (float)((WA_GLOBAL const unsigned int*)source)[i])
      break;
    case TYPE_I32:
      FOR_EACH_PIXEL(values[k] = (float)((WA_GLOBAL const int*)source)[i])
      break;
    case TYPE_F16:
      FOR_EACH_PIXEL(values[k] = WA_LOAD_HALF(source, i))
      break;
    case TYPE_F64:
      FOR_EACH_PIXEL(values[k] = WA_BITS_FLOAT(
                         wa_float_bits_of_double(((WA_GLOBAL const WA_UINT64*)source)[i])))
      break;
    default:
      FOR_EACH_PIXEL(values[k] = ((WA_GLOBAL const float*)source)[i])
      break;
  }

  switch (to) {
    case TYPE_U8:
      FOR_EACH_PIXEL(target[i] = (unsigned char)wa_rounded(values[k], 0.0f, 255.0f))
      break;
    case TYPE_I8:
      FOR_EACH_PIXEL(((WA_GLOBAL signed char*)target)[i] =
                         (signed char)wa_rounded(values[k], -128.0f, 127.0f))
      break;
    case TYPE_U16:
      FOR_EACH_PIXEL(((WA_GLOBAL unsigned short*)target)[i] =
                         (unsigned short)wa_rounded(values[k], 0.0f, 65535.0f))
      break;
    case TYPE_I16:
      FOR_EACH_PIXEL(((WA_GLOBAL short*)target)[i] =
                         (short)wa_rounded(values[k], -32768.0f, 32767.0f))
      break;
    case TYPE_U32:
      FOR_EACH_PIXEL(((WA_GLOBAL unsigned int*)target)[i] = wa_to_uint32(values[k]))
      break;
    case TYPE_I32:
      FOR_EACH_PIXEL(((WA_GLOBAL int*)target)[i] = wa_to_int32(values[k]))
      break;
    case TYPE_F16:
      FOR_EACH_PIXEL(WA_STORE_HALF(values[k], target, i))
      break;
    case TYPE_F64:
      FOR_EACH_PIXEL(((WA_GLOBAL WA_UINT64*)target)[i] =
                         wa_double_bits_of_float(WA_FLOAT_BITS(values[k])))
      break;
    default:
      FOR_EACH_PIXEL(((WA_GLOBAL float*)target)[i] = values[k])
      break;
  }
}
#undef FOR_EACH_PIXEL
