// Pixels of any type as floats, for OpenCL kernels only (CUDA has templates for this).
//
// Options: PIXEL_U8, PIXEL_U16, PIXEL_F16 or PIXEL_F32, the type of the input (complex numbers are
// pairs of PIXEL_F32). Kernels only load and store half, which needs no extension. LOAD_WORD loads
// four pixels that are aligned as one word.
#ifndef WARPALIGN_LIB_PIXELS_H
#define WARPALIGN_LIB_PIXELS_H

#if defined(PIXEL_U8)
typedef uchar Pixel;
#define LOAD_PIXEL(p, i) ((float)(p)[i])
#define LOAD_4_PIXELS(p) convert_float4(vload4(0, p))
#define LOAD_16_PIXELS(p) convert_float16(vload16(0, p))
#define LOAD_WORD(p) convert_float4(*(global const uchar4*)(p))
#elif defined(PIXEL_U16)
typedef ushort Pixel;
#define LOAD_PIXEL(p, i) ((float)(p)[i])
#define LOAD_4_PIXELS(p) convert_float4(vload4(0, p))
#define LOAD_16_PIXELS(p) convert_float16(vload16(0, p))
#define LOAD_WORD(p) convert_float4(*(global const ushort4*)(p))
#elif defined(PIXEL_F16)
typedef half Pixel;
#define LOAD_PIXEL(p, i) vload_half(i, p)
#define LOAD_4_PIXELS(p) vload_half4(0, p)
#define LOAD_16_PIXELS(p) vload_half16(0, p)
#define LOAD_WORD(p) vloada_half4(0, p)
#else
typedef float Pixel;
#define LOAD_PIXEL(p, i) ((p)[i])
#define LOAD_4_PIXELS(p) vload4(0, p)
#define LOAD_16_PIXELS(p) vload16(0, p)
#define LOAD_WORD(p) (*(global const float4*)(p))
#endif

#endif
