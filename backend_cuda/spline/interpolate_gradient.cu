// Interpolation kernels that compute the gradient with the value.
#include "spline/interpolate_kernel.cuh"

namespace warpalign::cuda {

InterpolateKernel<float> gradient_kernel(int dimensions, int degree) {
  switch (dimensions) {
    case 1:
      return kernel_of_degree<1, true, float>(degree);
    case 2:
      return kernel_of_degree<2, true, float>(degree);
    default:
      return kernel_of_degree<3, true, float>(degree);
  }
}

}  // namespace warpalign::cuda
