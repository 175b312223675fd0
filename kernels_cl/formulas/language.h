// The macros with which one text compiles as OpenCL C 1.2, as CUDA C++, and, for formulas that core
// computes too, as C++ in double precision.
#ifndef WARPALIGN_FORMULAS_LANGUAGE_H
#define WARPALIGN_FORMULAS_LANGUAGE_H

// The type that some formulas compute with: float by default; in OpenCL a vector type if the kernel
// defines it before it includes them; double in core.
#ifndef WA_REAL
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__) || defined(__CUDACC__)
#define WA_REAL float
#else
#define WA_REAL double
#endif
#endif
#define WA_NUMBER(x) ((WA_REAL)(x))

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
// PoCL otherwise leaves large functions out of line and does not propagate their constant
// arguments.
#define WA_INLINE static inline __attribute__((always_inline))
// Unrolls a loop whose number of iterations becomes constant only after inlining: the other pragma
// would unroll it by a few iterations before that.
#if defined(__clang__)
#define WA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WA_UNROLL _Pragma("unroll")
#endif
#define WA_FMA(a, b, c) fma(a, b, c)
#define WA_SQRT(x) sqrt(x)
#define WA_RSQRT(x) rsqrt(x)
#define WA_EXP(x) exp(x)
#define WA_EXP2(x) exp2(x)
#define WA_LOG2(x) log2(x)
#define WA_SIN(x) sin(x)
#define WA_COS(x) cos(x)
#define WA_SINPI(x) sinpi(x)
#define WA_COSPI(x) cospi(x)
#define WA_FLOOR(x) floor(x)
#define WA_FABS(x) fabs(x)
#define WA_ROUND(x) round(x)
#define WA_FMIN(a, b) fmin(a, b)
#define WA_FMAX(a, b) fmax(a, b)
#define WA_SATURATE(x) clamp(x, 0.0f, 1.0f)
#define WA_BITS_FLOAT(x) as_float(x)
#define WA_FLOAT_BITS(x) as_uint(x)
#define WA_UINT64 ulong
#elif defined(__CUDACC__)
#define WA_INLINE __device__ __forceinline__
#define WA_UNROLL _Pragma("unroll")
#define WA_FMA(a, b, c) fmaf(a, b, c)
// Accurate to 1 ulp (OpenCL's is to 3). The correctly rounded square root takes three times as
// long.
WA_INLINE float wa_sqrt(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
#define WA_SQRT(x) wa_sqrt(x)
#define WA_RSQRT(x) rsqrtf(x)
#define WA_EXP(x) expf(x)
// Accurate to 2 ulp; WA_LOG2 is accurate to 2^-22 near 1, where the logarithm vanishes.
WA_INLINE float wa_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
#define WA_EXP2(x) wa_exp2(x)
#define WA_LOG2(x) __log2f(x)
#define WA_SIN(x) sinf(x)
#define WA_COS(x) cosf(x)
#define WA_SINPI(x) sinpif(x)
#define WA_COSPI(x) cospif(x)
#define WA_FLOOR(x) floorf(x)
#define WA_FABS(x) fabsf(x)
#define WA_ROUND(x) roundf(x)
#define WA_FMIN(a, b) fminf(a, b)
#define WA_FMAX(a, b) fmaxf(a, b)
// The instruction that computes x saturates at no cost.
#define WA_SATURATE(x) __saturatef(x)
#define WA_BITS_FLOAT(x) __uint_as_float(x)
#define WA_FLOAT_BITS(x) __float_as_uint(x)
#define WA_UINT64 unsigned long long
#else
#include <cmath>
#define WA_INLINE inline
#define WA_UNROLL
// std::fma would be a call if the compiler may not use the processor's instruction.
#define WA_FMA(a, b, c) ((a) * (b) + (c))
#define WA_SQRT(x) std::sqrt(x)
#define WA_EXP(x) std::exp(x)
#define WA_SIN(x) std::sin(x)
#define WA_COS(x) std::cos(x)
#define WA_FABS(x) std::abs(x)
#define WA_ROUND(x) std::round(x)
#endif

#endif
