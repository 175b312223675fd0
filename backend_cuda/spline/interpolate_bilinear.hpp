// Bilinear evaluation of planes under affine transforms by the texture unit.
#pragma once

#include "spline/interpolate_spline.hpp"

namespace warpalign::cuda {

using BilinearKernel = void (*)(cudaTextureObject_t, const float*, Evaluation);

/// `floats`: whether the output is f32.
[[nodiscard]] BilinearKernel bilinear_kernel_of(bool floats);

/// Whether the kernel can evaluate at these points. The spline must be a plane of degree 1 without
/// margins.
[[nodiscard]] bool bilinear_serves(const Evaluation& e);

/// `texture` holds the samples, read with filtering at coordinates in texels; `coefficients` holds
/// the same samples in memory.
void launch_bilinear(const CallSite& site, const backend::Queue& queue, BilinearKernel kernel,
                     cudaTextureObject_t texture, const float* coefficients, const Evaluation& e);

}  // namespace warpalign::cuda
