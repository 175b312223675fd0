// Stage: gradient magnitude by the Sobel operator, 4 x 2 outputs a work item, or one (plain).
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/filter/sobel.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "sobel";

Grid grid_for(OpenedDevice& device, const SobelSpec& spec) {
  if (spec.method == SobelMethod::plain) {
    return covering(device, spec.shape.width, spec.shape.height);
  }
  return signal_blocks(device, spec.shape);
}

class Sobel final : public backend::Sobel {
 public:
  Sobel(OpenedDevice& device, const SobelSpec& spec)
      : width_(to_int(spec.shape.width, device.place(stage))),
        height_(to_int(spec.shape.height, device.place(stage))),
        grid_(grid_for(device, spec)),
        kernel_(device, stage, kernels::sobel,
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
std::unique_ptr<backend::Sobel> make(OpenedDevice& device, const SobelSpec& spec) {
  return std::make_unique<Sobel>(device, spec);
}

}  // namespace warpalign::opencl
