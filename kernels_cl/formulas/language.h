// The dozen macros that let one text be OpenCL C 1.2 and CUDA C++.
#ifndef WARPALIGN_FORMULAS_LANGUAGE_H
#define WARPALIGN_FORMULAS_LANGUAGE_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define WA_INLINE inline
#define WA_FMA(a, b, c) fma(a, b, c)
#define WA_SQRT(x) sqrt(x)
#define WA_EXP(x) exp(x)
#define WA_EXP2(x) exp2(x)
#define WA_LOG2(x) log2(x)
#define WA_SINPI(x) sinpi(x)
#define WA_COSPI(x) cospi(x)
#define WA_FLOOR(x) floor(x)
#define WA_FABS(x) fabs(x)
#else
#define WA_INLINE __device__ __forceinline__
#define WA_FMA(a, b, c) fmaf(a, b, c)
#define WA_SQRT(x) sqrtf(x)
#define WA_EXP(x) expf(x)
#define WA_EXP2(x) exp2f(x)
#define WA_LOG2(x) log2f(x)
#define WA_SINPI(x) sinpif(x)
#define WA_COSPI(x) cospif(x)
#define WA_FLOOR(x) floorf(x)
#define WA_FABS(x) fabsf(x)
#endif

#endif
