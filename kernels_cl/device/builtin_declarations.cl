// Declares OpenCL C's types, constants and built-in functions, as far as our kernels use them.
// PoCL's compiler otherwise reads Clang's declarations of all of them, 900 kB, for each program:
// two thirds of the time of a small kernel. The option _OPENCL_H_, the include guard of that file,
// leaves them out. test_kernels_compile checks that every kernel calls the same functions, with the
// same types, as with Clang's declarations.
//
// variant: cpu

#define WA_OVERLOADED __attribute__((overloadable))
// The result depends on the arguments alone.
#define WA_PURE __attribute__((overloadable, const))

// ---- types

#define WA_SCALAR_TYPES(DO) \
  DO(char, 8) DO(uchar, 8) DO(short, 16) DO(ushort, 16) DO(int, 32) DO(uint, 32) DO(long, 64) \
  DO(ulong, 64) DO(float, 32)

#define WA_VECTOR_TYPES(T, BITS) \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T T##8 __attribute__((ext_vector_type(8))); \
  typedef T T##16 __attribute__((ext_vector_type(16)));

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
WA_SCALAR_TYPES(WA_VECTOR_TYPES)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
WA_VECTOR_TYPES(double, 64)
#endif

#ifndef as_uint
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_float(x) __builtin_astype((x), float)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_double(x) __builtin_astype((x), double)
#define as_int16(x) __builtin_astype((x), int16)
#define as_uint16(x) __builtin_astype((x), uint16)
#define as_float16(x) __builtin_astype((x), float16)
#define as_long8(x) __builtin_astype((x), long8)
#endif

// ---- work-items

size_t WA_PURE get_global_id(uint);
size_t WA_PURE get_global_size(uint);
size_t WA_PURE get_local_id(uint);
size_t WA_PURE get_local_size(uint);
size_t WA_PURE get_group_id(uint);
size_t WA_PURE get_num_groups(uint);

typedef uint cl_mem_fence_flags;
#ifndef CLK_LOCAL_MEM_FENCE
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#endif
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);

int WA_OVERLOADED atomic_inc(volatile global int*);
uint WA_OVERLOADED atomic_inc(volatile global uint*);
int WA_OVERLOADED atomic_inc(volatile local int*);
uint WA_OVERLOADED atomic_inc(volatile local uint*);

// ---- images

float4 WA_PURE read_imagef(read_only image2d_t, sampler_t, float2);
float4 WA_PURE read_imagef(read_only image2d_t, sampler_t, int2);
float4 WA_PURE read_imagef(read_only image2d_t, int2);
float4 WA_PURE read_imagef(read_only image3d_t, sampler_t, float4);
float4 WA_PURE read_imagef(read_only image3d_t, sampler_t, int4);
float4 WA_PURE read_imagef(read_only image3d_t, int4);
void WA_OVERLOADED write_imagef(write_only image2d_t, int2, float4);

// ---- mathematics; T is a real type, I and U the integers of its size, R the type of comparisons

#define WA_REAL_FUNCTIONS(T, I, U, R) \
  T WA_PURE ceil(T); \
  T WA_PURE cos(T); \
  T WA_PURE cospi(T); \
  T WA_PURE exp(T); \
  T WA_PURE exp2(T); \
  T WA_PURE fabs(T); \
  T WA_PURE floor(T); \
  T WA_PURE fma(T, T, T); \
  T WA_PURE fmax(T, T); \
  T WA_PURE fmin(T, T); \
  T WA_PURE log(T); \
  T WA_PURE log2(T); \
  T WA_PURE mix(T, T, T); \
  T WA_PURE rint(T); \
  T WA_PURE round(T); \
  T WA_PURE rsqrt(T); \
  T WA_PURE sin(T); \
  T WA_PURE sinpi(T); \
  T WA_PURE sqrt(T); \
  T WA_PURE trunc(T); \
  T WA_PURE clamp(T, T, T); \
  T WA_PURE max(T, T); \
  T WA_PURE min(T, T); \
  R WA_PURE isfinite(T); \
  R WA_PURE isgreaterequal(T, T); \
  R WA_PURE isinf(T); \
  R WA_PURE isnan(T); \
  T WA_PURE select(T, T, I); \
  T WA_PURE select(T, T, U);
#define WA_REAL_VECTOR_FUNCTIONS(N) \
  WA_REAL_FUNCTIONS(float##N, int##N, uint##N, int##N) \
  float##N WA_PURE clamp(float##N, float, float); \
  float##N WA_PURE fmax(float##N, float); \
  float##N WA_PURE fmin(float##N, float); \
  float##N WA_PURE max(float##N, float); \
  float##N WA_PURE min(float##N, float); \
  float##N WA_PURE mix(float##N, float##N, float);
#define WA_DOUBLE_VECTOR_FUNCTIONS(N) \
  WA_REAL_FUNCTIONS(double##N, long##N, ulong##N, long##N) \
  double##N WA_PURE clamp(double##N, double, double);

#define WA_SIZES(DO) DO(2) DO(4) DO(8) DO(16)

WA_REAL_FUNCTIONS(float, int, uint, int)
WA_SIZES(WA_REAL_VECTOR_FUNCTIONS)
#ifdef cl_khr_fp64
WA_REAL_FUNCTIONS(double, long, ulong, int)
WA_SIZES(WA_DOUBLE_VECTOR_FUNCTIONS)
#endif

#define WA_INTEGER_FUNCTIONS(T, S, U) \
  U WA_PURE abs(T); \
  T WA_PURE clamp(T, T, T); \
  T WA_PURE max(T, T); \
  T WA_PURE min(T, T); \
  T WA_PURE select(T, T, S); \
  T WA_PURE select(T, T, U);
#define WA_INTEGER_VECTOR_FUNCTIONS(N) \
  WA_INTEGER_FUNCTIONS(int##N, int##N, uint##N) \
  WA_INTEGER_FUNCTIONS(uint##N, int##N, uint##N) \
  int##N WA_PURE clamp(int##N, int, int); \
  int##N WA_PURE max(int##N, int); \
  int##N WA_PURE min(int##N, int); \
  uint##N WA_PURE min(uint##N, uint); \
  int WA_PURE any(int##N);

WA_INTEGER_FUNCTIONS(int, int, uint)
WA_INTEGER_FUNCTIONS(uint, int, uint)
WA_INTEGER_FUNCTIONS(long, long, ulong)
WA_INTEGER_FUNCTIONS(ulong, long, ulong)
WA_SIZES(WA_INTEGER_VECTOR_FUNCTIONS)
int WA_PURE any(int);

// ---- conversions

#define WA_CONVERSIONS(T, N) \
  T##N WA_PURE convert_##T##N(char##N); \
  T##N WA_PURE convert_##T##N(uchar##N); \
  T##N WA_PURE convert_##T##N(short##N); \
  T##N WA_PURE convert_##T##N(ushort##N); \
  T##N WA_PURE convert_##T##N(int##N); \
  T##N WA_PURE convert_##T##N(uint##N); \
  T##N WA_PURE convert_##T##N(long##N); \
  T##N WA_PURE convert_##T##N(ulong##N); \
  T##N WA_PURE convert_##T##N(float##N);
#define WA_SATURATED(T, N) \
  T##N WA_PURE convert_##T##N##_sat(int##N); \
  T##N WA_PURE convert_##T##N##_sat(float##N);

WA_CONVERSIONS(float, 4)
WA_CONVERSIONS(float, 16)
WA_CONVERSIONS(int, 16)
WA_CONVERSIONS(uint, 16)
WA_CONVERSIONS(long, 16)
WA_SATURATED(uchar, )
WA_SATURATED(ushort, )
WA_SATURATED(uchar, 16)
WA_SATURATED(ushort, 16)

// ---- vectors in memory

#define WA_LOADS_FROM(T, N, SPACE) \
  T##N __attribute__((overloadable, pure)) vload##N(size_t, const SPACE T*); \
  void WA_OVERLOADED vstore##N(T##N, size_t, SPACE T*);
#define WA_LOADS(T, BITS) \
  WA_LOADS_FROM(T, 2, global) WA_LOADS_FROM(T, 8, global) \
  WA_LOADS_FROM(T, 4, global) WA_LOADS_FROM(T, 4, local) WA_LOADS_FROM(T, 4, private) \
  WA_LOADS_FROM(T, 16, global) WA_LOADS_FROM(T, 16, local) WA_LOADS_FROM(T, 16, private) \
  T##4 __attribute__((overloadable, pure)) vload4(size_t, const constant T*); \
  T##16 __attribute__((overloadable, pure)) vload16(size_t, const constant T*);
WA_SCALAR_TYPES(WA_LOADS)

#define WA_HALF_LOADS(SPACE) \
  float __attribute__((overloadable, pure)) vload_half(size_t, const SPACE half*); \
  float4 __attribute__((overloadable, pure)) vload_half4(size_t, const SPACE half*); \
  float16 __attribute__((overloadable, pure)) vload_half16(size_t, const SPACE half*); \
  float4 __attribute__((overloadable, pure)) vloada_half4(size_t, const SPACE half*);
WA_HALF_LOADS(global)
WA_HALF_LOADS(private)
void WA_OVERLOADED vstore_half_rte(float, size_t, global half*);
void WA_OVERLOADED vstore_half16_rte(float16, size_t, global half*);
