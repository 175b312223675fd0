// The macros with which one whole kernel compiles as OpenCL C 1.2 and as CUDA C++.
// formulas/language.h has the macros for formulas; a kernel also needs qualifiers, work-item
// indices and a barrier.
#ifndef WARPALIGN_SHARED_KERNEL_LANGUAGE_H
#define WARPALIGN_SHARED_KERNEL_LANGUAGE_H

#include "formulas/language.h"

// WA_KERNEL(columns, rows) declares a kernel with a work-group of that size. WA_SHARING_KERNEL also
// says how many groups share a multiprocessor, for which nvcc limits the registers. WA_BEGIN() is
// the first statement of every kernel: CUDA may start a kernel before the previous one has ended.
// WA_LOCAL declares memory that a work-group shares; WA_IN_LOCAL qualifies pointers to it.
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define WA_KERNEL(columns, rows) kernel __attribute__((reqd_work_group_size(columns, rows, 1))) void
#define WA_SHARING_KERNEL(columns, rows, groups) WA_KERNEL(columns, rows)
#define WA_BEGIN()
#define WA_GLOBAL global
#define WA_LOCAL local
#define WA_IN_LOCAL local
#define WA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define WA_ITEM_X ((int)get_local_id(0))
#define WA_ITEM_Y ((int)get_local_id(1))
#define WA_GROUP_X ((int)get_group_id(0))
#define WA_GROUP_Y ((int)get_group_id(1))
#define WA_LOAD_FOUR(p) vload4(0, p)
#define WA_LOAD_HALF(p, i) vload_half(i, (global const half*)(p))
#define WA_STORE_HALF(value, p, i) vstore_half_rte(value, i, (global half*)(p))
// Adds 1 to an int in global memory, and returns its previous value.
#define WA_COUNT_ON(counter) atomic_inc(counter)
#else
#define WA_KERNEL(columns, rows) __global__ void __launch_bounds__((columns) * (rows))
#define WA_SHARING_KERNEL(columns, rows, groups) \
  __global__ void __launch_bounds__((columns) * (rows), groups)
#define WA_BEGIN() wait_for_previous_kernel()
#define WA_GLOBAL
#define WA_LOCAL __shared__
#define WA_IN_LOCAL
#define WA_BARRIER() __syncthreads()
#define WA_ITEM_X (static_cast<int>(threadIdx.x))
#define WA_ITEM_Y (static_cast<int>(threadIdx.y))
#define WA_GROUP_X (static_cast<int>(blockIdx.x))
#define WA_GROUP_Y (static_cast<int>(blockIdx.y))
// Loads four floats as a float4, from a 16-byte aligned address.
#define WA_LOAD_FOUR(p) (*reinterpret_cast<const float4*>(p))
// These need cuda_fp16.h.
#define WA_LOAD_HALF(p, i) __half2float(reinterpret_cast<const __half*>(p)[i])
#define WA_STORE_HALF(value, p, i) (reinterpret_cast<__half*>(p)[i] = __float2half_rn(value))
#define WA_COUNT_ON(counter) atomicAdd(counter, 1)
#endif

#endif
