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
        all_(grid_of(context, spec.surface, spec.batch)),
        one_(grid_of(context, spec.surface, 1)),
        kernel_(
            context, stage,
            context.has_vectors() ? kernels::overlap_correlation_cpu : kernels::overlap_correlation,
            "overlap_score") {}

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& scores) override {
    const bool alike = limits.size() == 1;
    cl_int first = 0;
    for (const OverlapLimits& of_image : limits) {
      const cl_float2 centre{{of_image.centre_x, of_image.centre_y}};
      const cl_float2 mirrored{{of_image.mirrored_centre_x, of_image.mirrored_centre_y}};
      kernel_.launch(queue_of(queue), alike ? all_ : one_, surfaces, overlaps, each_, width_,
                     height_, first, alike ? batch_ : first + 1, of_image.min_overlap,
                     of_image.reach * of_image.reach, centre, mirrored, scores);
      ++first;
    }
  }

 private:
  static Grid grid_of(const Context& context, const Shape& surface, std::int64_t images) {
    if (!context.has_vectors()) return covering(context, surface.width, surface.height * images);
    return {{static_cast<std::size_t>(surface.height), static_cast<std::size_t>(images)}, {1, 1}};
  }

  static constexpr const char* stage = "overlap_score";
  cl_int width_, height_, batch_;
  cl_int each_;     // overlaps that an image has of its own
  Grid all_, one_;  // images
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
