// Prefilter, method `exact`: the recursive filter.
#include "spline/prefilter_method.hpp"
#include "spline/prefilter_streaming.cuh"

namespace warpalign::cuda {
namespace {

// The halos are long enough for |z|^halo, of the pole of larger magnitude, and what the other pole
// adds to fall below single precision.
constexpr int halo_one_pole = 12;  // degrees 2 and 3: 0.268^12 = 1.4e-7 of a start that is
                                   // itself wrong by less than 0.3 of the samples' range
constexpr int halo_degree_4 = 20;  // 0.361^20 = 1.4e-9
constexpr int halo_degree_5 = 24;  // 0.431^24 = 1.6e-9

template <int halo, int poles>
using Exact = Recursive<halo, halo, halo, poles>;

template <class Pixel>
StreamingKernels<Pixel, Recursion> kernels_for(int degree) {
  if (degree == 4) return streaming_kernels<Pixel, Exact<halo_degree_4, 2>>();
  if (degree == 5) return streaming_kernels<Pixel, Exact<halo_degree_5, 2>>();
  return streaming_kernels<Pixel, Exact<halo_one_pole, 1>>();
}

}  // namespace

std::unique_ptr<backend::Prefilter> make_prefilter_exact(const Context& context,
                                                         const PrefilterSpec& spec,
                                                         const backend::PrefilterDetails& details) {
  return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
    using Pixel = decltype(pixel);
    return std::make_unique<StreamingPrefilter<Pixel, Recursion>>(
        context, spec, details, kernels_for<Pixel>(spec.degree), recursion_of(details.poles),
        scale_of(details.poles));
  });
}

}  // namespace warpalign::cuda
