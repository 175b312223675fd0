// How kernels are declared whose work-items compute with vectors of sixteen numbers.
#ifndef WARPALIGN_LIB_SIMD_KERNEL_H
#define WARPALIGN_LIB_SIMD_KERNEL_H

// Intel's compiler for CPUs also vectorizes over work-items, which these kernels cannot use and
// which takes more than half of their compilation. The hint prevents it.
#define SIMD_HINT __attribute__((vec_type_hint(float16)))

// Declares a kernel each of whose work-items is alone in its group.
#define SIMD_KERNEL kernel SIMD_HINT __attribute__((reqd_work_group_size(1, 1, 1))) void

#endif
