// Interpolation kernels in one dimension.
#include "spline/interpolate_kernel.cuh"

namespace warpalign::cuda {

template <class Value>
InterpolateKernel<Value> interpolate_kernel_1d(int degree) {
  return kernel_of_degree<1, false, Value>(degree);
}
template InterpolateKernel<float> interpolate_kernel_1d(int degree);
template InterpolateKernel<float2> interpolate_kernel_1d(int degree);

}  // namespace warpalign::cuda
