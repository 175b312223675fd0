// The types of the coefficients and of the results of interpolation, and how results are stored,
// for OpenCL kernels only.
//
// Options: COMPLEX, if coefficients and results are pairs of floats; otherwise one of OUTPUT_U8,
// OUTPUT_U16, OUTPUT_F16, OUTPUT_F32. Integers are rounded, halves away from zero, and saturated.
#ifndef WARPALIGN_LIB_OUTPUT_H
#define WARPALIGN_LIB_OUTPUT_H

#include "formulas/language.h"

#ifdef COMPLEX
typedef float2 Value;
#else
typedef float Value;
#endif

#if defined(OUTPUT_U8)
typedef uchar Output;
#define STORE(output, i, value) (output)[i] = convert_uchar_sat(round(value))
#define STORE_16(output, values) vstore16(convert_uchar16_sat(round(values)), 0, output)
#elif defined(OUTPUT_U16)
typedef ushort Output;
#define STORE(output, i, value) (output)[i] = convert_ushort_sat(round(value))
#define STORE_16(output, values) vstore16(convert_ushort16_sat(round(values)), 0, output)
#elif defined(OUTPUT_F16)
typedef half Output;
#define STORE(output, i, value) vstore_half_rte(value, i, output)
#define STORE_16(output, values) vstore_half16_rte(values, 0, output)
#else
typedef Value Output;
#define STORE(output, i, value) (output)[i] = (value)
#define STORE_16(output, values) vstore16(values, 0, output)
#endif

#endif
