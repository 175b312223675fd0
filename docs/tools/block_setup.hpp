// Declares the names that the C++ snippets of the pages use without defining them.
#include <warpalign/warpalign.hpp>

#include <cstdio>

#if __has_include(<cuda_runtime_api.h>)
#include <warpalign/interop/cuda.hpp>
#define PAGE_HAS_CUDA 1
#else
#define PAGE_HAS_CUDA 0
#endif

template <class T>
void use(const T& /*value*/) {}

#define PAGE_NAMES                                                                               \
  [[maybe_unused]] const warpalign::Device &device, [[maybe_unused]] warpalign::Stream &stream,  \
      [[maybe_unused]] const warpalign::Image &image, [[maybe_unused]] warpalign::Image &output, \
      [[maybe_unused]] warpalign::Image &rotated,                                                \
      [[maybe_unused]] const warpalign::HostImage &reference,                                    \
      [[maybe_unused]] const warpalign::HostImage &moving,                                       \
      [[maybe_unused]] const warpalign::HomogeneousMatrix &transform,                            \
      [[maybe_unused]] const warpalign::HomogeneousMatrix &output_to_input
