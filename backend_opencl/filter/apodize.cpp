// Stage: window an image, or its gradient, about its mean and place it on a canvas.
#include "filter/axis_tables.hpp"
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "apodize";

std::string options_for(const ApodizeSpec& spec) {
  const bool words = spec.input.width % 4 == 0;
  const bool canvas_words =
      words && spec.canvas.width % 4 == 0 && ApodizePlan::offset(spec).width % 4 == 0;
  return signal_options(spec.type, spec.signal, spec.input.width) +
         (canvas_words ? " -D CANVAS_WORDS" : "");
}

class Apodize final : public backend::Apodize {
 public:
  Apodize(OpenedDevice& device, const ApodizeSpec& spec, const backend::WindowWeights& window)
      : place_(device.place(stage)),
        width_(to_int(spec.input.width, place_)),
        height_(to_int(spec.input.height, place_)),
        canvas_width_(to_int(spec.canvas.width, place_)),
        ox_(to_int(ApodizePlan::offset(spec).width, place_)),
        oy_(to_int(ApodizePlan::offset(spec).height, place_)),
        margin_bytes_(spec.canvas == spec.input
                          ? 0
                          : static_cast<std::size_t>(spec.canvas.pixels()) * sizeof(float)),
        window_x_(upload_floats(device, window.x, stage)),
        window_y_(upload_floats(device, window.y, stage)),
        grid_(signal_blocks(device, spec.input)),
        kernel_(device, stage, kernels::apodize, "apodize", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const backend::Memory& statistics, backend::Memory& canvas) override {
    if (margin_bytes_ > 0) {
      const cl_float zero = 0;
      check(clEnqueueFillBuffer(queue_of(queue), buffer_of(canvas), &zero, sizeof zero, 0,
                                margin_bytes_, 0, nullptr, nullptr),
            "clEnqueueFillBuffer", place_);
    }
    kernel_.launch(queue_of(queue), grid_, input, width_, height_, statistics, window_x_, window_y_,
                   canvas, canvas_width_, ox_, oy_);
  }

 private:
  Place place_;
  cl_int width_, height_, canvas_width_, ox_, oy_;
  std::size_t margin_bytes_;  // to clear, 0 when the input covers the canvas
  compute::buffer window_x_, window_y_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Apodize> make(OpenedDevice& device, const backend::Apodize::Setup& setup) {
  const auto& [spec, window] = setup;
  return std::make_unique<Apodize>(device, spec, window);
}

}  // namespace warpalign::opencl
