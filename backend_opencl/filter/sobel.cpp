// Stage: gradient magnitude by the Sobel operator. A work-item computes 4 x 2 outputs, or one
// (SobelMethod::plain).
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/sobel.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "sobel";

Grid grid_for(Context& context, const SobelSpec& spec) {
  if (spec.method == SobelMethod::plain) {
    return covering(context, spec.shape.width, spec.shape.height);
  }
  return signal_blocks(context, spec.shape);
}

class Sobel final : public backend::Sobel {
 public:
  Sobel(Context& context, const SobelSpec& spec)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        grid_(grid_for(context, spec)),
        kernel_(context, stage, kernels::sobel,
                spec.method == SobelMethod::plain ? "sobel_plain" : "sobel",
                signal_options(spec.input, Signal::gradient, spec.shape.width)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    kernel_.launch(queue_of(queue), grid_, input, output, width_, height_);
  }

 private:
  cl_int width_, height_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Sobel> make(Context& context, const SobelSpec& spec) {
  return std::make_unique<Sobel>(context, spec);
}

}  // namespace warpalign::opencl
