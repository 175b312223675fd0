// Stage: gradient magnitude by the Sobel operator, 4 x 2 outputs a work item, or one (plain).
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "stages.hpp"

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "sobel";

std::string options_for(const SobelSpec& spec) {
  std::string options = "-D PIXEL_F32";
  if (spec.input == PixelType::u8) options = "-D PIXEL_U8";
  if (spec.input == PixelType::u16) options = "-D PIXEL_U16";
  if (spec.shape.width % 4 == 0) options += " -D WHOLE_WORDS";
  return options;
}

Grid grid_for(OpenedDevice& device, const SobelSpec& spec) {
  if (spec.method == SobelMethod::plain) {
    return covering(device, spec.shape.width, spec.shape.height);
  }
  return covering(device, (spec.shape.width + 3) / 4, (spec.shape.height + 1) / 2);
}

class Sobel final : public backend::Sobel {
 public:
  Sobel(OpenedDevice& device, const SobelSpec& spec)
      : width_(to_int(spec.shape.width, device.place(stage))),
        height_(to_int(spec.shape.height, device.place(stage))),
        grid_(grid_for(device, spec)),
        kernel_(device, stage, kernels::sobel,
                spec.method == SobelMethod::plain ? "sobel_plain" : "sobel", options_for(spec)) {}

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

std::unique_ptr<backend::Sobel> make_sobel(OpenedDevice& device, const SobelSpec& spec) {
  return std::make_unique<Sobel>(device, spec);
}

}  // namespace warpalign::opencl
