// The macros that let one whole kernel be OpenCL C 1.2 and CUDA C++. What formulas need stands in
// formulas/language.h; a kernel needs its qualifiers, its indices and its barrier besides.
#ifndef WARPALIGN_SHARED_KERNEL_LANGUAGE_H
#define WARPALIGN_SHARED_KERNEL_LANGUAGE_H

#include "formulas/language.h"

// WA_KERNEL(columns, rows): a kernel whose work-group has that size.
// WA_BEGIN(): its first statement; CUDA may start a kernel before the one before it has ended.
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define WA_KERNEL(columns, rows) kernel __attribute__((reqd_work_group_size(columns, rows, 1))) void
#define WA_BEGIN()
#define WA_GLOBAL global
#define WA_LOCAL local
#define WA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define WA_ITEM_X ((int)get_local_id(0))
#define WA_ITEM_Y ((int)get_local_id(1))
#define WA_GROUP_X ((int)get_group_id(0))
#else
#define WA_KERNEL(columns, rows) __global__ void __launch_bounds__((columns) * (rows))
#define WA_BEGIN() await_previous()
#define WA_GLOBAL
#define WA_LOCAL __shared__
#define WA_BARRIER() __syncthreads()
#define WA_ITEM_X (static_cast<int>(threadIdx.x))
#define WA_ITEM_Y (static_cast<int>(threadIdx.y))
#define WA_GROUP_X (static_cast<int>(blockIdx.x))
#endif

#endif
