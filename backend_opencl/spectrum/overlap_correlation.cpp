// Stage: the products of spectra for a correlation that is normalized over the overlap of the
// images.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::opencl {

namespace {

class OverlapProducts final : public backend::OverlapProducts {
 public:
  OverlapProducts(Context& context, const OverlapProductsSpec& spec)
      : plane_(extent(RealFftPlan::half_spectrum(spec.image).plane(), context.call_site(stage))),
        batch_(extent(spec.batch, context.call_site(stage))),
        grid_(context.has_vectors() ? Grid{{rounded_up(plane_, WA_OVERLAP_SHARE) / WA_OVERLAP_SHARE,
                                            static_cast<std::size_t>(batch_)},
                                           {1, 1}}
                                    : covering(context, plane_, spec.batch)),
        kernel_(
            context, stage,
            context.has_vectors() ? kernels::overlap_correlation_cpu : kernels::overlap_correlation,
            "overlap_products", spec.second_channel ? "-D SECOND_CHANNEL" : "") {}

  void enqueue(backend::Queue& queue, const backend::OverlapSpectra& spectra,
               backend::Memory& products) override {
    if (spectra.a_second != nullptr) {
      return kernel_.launch(queue_of(queue), grid_, spectra.a, spectra.b, *spectra.a_second,
                            *spectra.b_second, plane_, batch_, products);
    }
    kernel_.launch(queue_of(queue), grid_, spectra.a, spectra.b, plane_, batch_, products);
  }

 private:
  static constexpr const char* stage = "overlap_products";
  cl_int plane_, batch_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapProducts> make(Context& context, const OverlapProductsSpec& spec) {
  return std::make_unique<OverlapProducts>(context, spec);
}

}  // namespace warpalign::opencl
