// Prefilter, method `exact`: the recursive filter.
#include "spline/prefilter_method.hpp"
#include "spline/prefilter_streaming.cuh"

#include <warpalign/backend/prefilter_recursion.hpp>

namespace warpalign::cuda {
namespace {

template <int degree, int halo = backend::streaming_halo(degree)>
using Exact = Recursive<halo, halo, halo, degree <= 3 ? 1 : 2>;

template <class Pixel>
StreamingKernels<Pixel, Recursion> kernels_for(int degree) {
  if (degree == 4) return streaming_kernels<Pixel, Exact<4>>();
  if (degree == 5) return streaming_kernels<Pixel, Exact<5>>();
  return streaming_kernels<Pixel, Exact<3>>();  // degree 2 has one pole, too, and the same halo
}

}  // namespace

std::unique_ptr<backend::Prefilter> make_prefilter_exact(const Context& context,
                                                         const PrefilterSpec& spec,
                                                         const backend::PrefilterDetails& details) {
  return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
    using Pixel = decltype(pixel);
    return std::make_unique<StreamingPrefilter<Pixel, Recursion>>(
        context, spec, details, kernels_for<Pixel>(spec.spline.degree), recursion_of(details.poles),
        backend::recursion_gain(details.poles));
  });
}

}  // namespace warpalign::cuda
