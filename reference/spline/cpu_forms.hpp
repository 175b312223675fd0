// The CPU implementations that the papers time, in single precision and on one thread: a baseline
// for benchmarks, tested like everything else.
#pragma once

#include <complex>
#include <cstdint>

namespace reference {

/// The two-pass forward-backward recursion of Thevenaz et al., cubic, mirrored at the edges, in
/// place, along x, then y and z if their extent is not 1.
void recursive_prefilter(float* image, std::int64_t width, std::int64_t height,
                         std::int64_t depth = 1);

/// Cubic B-spline of 16 (or 64) mirrored neighbours, Ruijters et al., equations 2 and 3.
float cubic_2d(const float* coefficients, std::int64_t width, std::int64_t height, float x,
               float y);
float cubic_3d(const float* coefficients, std::int64_t width, std::int64_t height,
               std::int64_t depth, float x, float y, float z);

/// The interview text's bilinear_interpolation_function_CPU, which also checks negative indices,
/// and returns 0 for points that are not finite. data: M1 x M2; result, xout, yout: N1 x N2.
void bilinear_complex(std::complex<float>* result, const std::complex<float>* data,
                      const float* xout, const float* yout, int M1, int M2, int N1, int N2);

}  // namespace reference
