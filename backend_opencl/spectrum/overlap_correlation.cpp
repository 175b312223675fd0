// Stages: the products of spectra and the scores of correlation surfaces, for correlation that
// takes account of how much of the images overlaps.
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

class OverlapScore final : public backend::OverlapScore {
 public:
  OverlapScore(Context& context, const OverlapScoreSpec& spec)
      : width_(extent(spec.surface.width, context.call_site(stage))),
        height_(extent(spec.surface.height, context.call_site(stage))),
        batch_(extent(spec.batch, context.call_site(stage))),
        each_(spec.one_overlap ? 0 : 2),
        grid_(context.has_vectors()
                  ? Grid{{static_cast<std::size_t>(height_), static_cast<std::size_t>(batch_)},
                         {1, 1}}
                  : covering(context, width_, spec.surface.height * spec.batch)),
        kernel_(
            context, stage,
            context.has_vectors() ? kernels::overlap_correlation_cpu : kernels::overlap_correlation,
            "overlap_score") {}

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, const OverlapLimits& limits,
               backend::Memory& scores) override {
    const cl_float2 centre{{limits.centre_x, limits.centre_y}};
    const cl_float2 mirrored{{limits.mirrored_centre_x, limits.mirrored_centre_y}};
    kernel_.launch(queue_of(queue), grid_, surfaces, overlaps, each_, width_, height_, batch_,
                   limits.min_overlap, limits.reach * limits.reach, centre, mirrored, scores);
  }

 private:
  static constexpr const char* stage = "overlap_score";
  cl_int width_, height_, batch_;
  cl_int each_;  // overlaps that an image has of its own
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapProducts> make(Context& context, const OverlapProductsSpec& spec) {
  return std::make_unique<OverlapProducts>(context, spec);
}

template <>
std::unique_ptr<backend::OverlapScore> make(Context& context, const OverlapScoreSpec& spec) {
  return std::make_unique<OverlapScore>(context, spec);
}

}  // namespace warpalign::opencl
