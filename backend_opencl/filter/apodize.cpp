// Stage: multiply an image minus its mean, or its gradient, by a window, and copy it into a padded
// frame.
#include "device/build_options.hpp"
#include "device/constants.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "apodize";

std::string options_for(const ApodizeSpec& spec) {
  const bool words = spec.input.width % 4 == 0;
  const bool padded_words =
      words && spec.padded.width % 4 == 0 && ApodizePlan::offset(spec).width % 4 == 0;
  return signal_options(spec.type, spec.signal, spec.input.width) +
         (padded_words ? " -D PADDED_WORDS" : "");
}

class Apodize final : public backend::Apodize {
 public:
  Apodize(Context& context, const ApodizeSpec& spec, const backend::WindowWeights& window)
      : site_(context.call_site(stage)),
        width_(extent(spec.input.width, site_)),
        height_(extent(spec.input.height, site_)),
        padded_width_(extent(spec.padded.width, site_)),
        ox_(extent(ApodizePlan::offset(spec).width, site_)),
        oy_(extent(ApodizePlan::offset(spec).height, site_)),
        margin_bytes_(spec.padded == spec.input
                          ? 0
                          : static_cast<std::size_t>(spec.padded.pixels()) * sizeof(float)),
        window_x_(upload_floats(context, window.x, stage)),
        window_y_(upload_floats(context, window.y, stage)),
        grid_(signal_blocks(context, spec.input)),
        kernel_(context, stage, kernels::apodize, "apodize", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const backend::Memory& statistics, backend::Memory& padded) override {
    if (margin_bytes_ > 0) {
      const cl_float zero = 0;
      check(clEnqueueFillBuffer(queue_of(queue), buffer_of(padded), &zero, sizeof zero, 0,
                                margin_bytes_, 0, nullptr, nullptr),
            "clEnqueueFillBuffer", site_);
    }
    kernel_.launch(queue_of(queue), grid_, input, width_, height_, statistics, window_x_, window_y_,
                   padded, padded_width_, ox_, oy_);
  }

 private:
  CallSite site_;
  cl_int width_, height_, padded_width_, ox_, oy_;
  std::size_t margin_bytes_;  // to clear; 0 if the input covers the padded frame
  Handle<cl_mem> window_x_, window_y_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Apodize> make(Context& context, const backend::Apodize::Setup& setup) {
  const auto& [spec, window] = setup;
  return std::make_unique<Apodize>(context, spec, window);
}

}  // namespace warpalign::opencl
