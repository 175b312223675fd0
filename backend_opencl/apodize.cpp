// Stage: window an image about its mean and place it on a canvas.
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "stages.hpp"

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "apodize";

/// The window along one axis; one unused element where there is no window.
compute::buffer make_window(OpenedDevice& device, Window window, cl_int n) {
  const std::size_t elements = window == Window::hann ? static_cast<std::size_t>(n) : 1;
  compute::buffer table = make_buffer(device, elements * sizeof(float), stage);
  if (window != Window::hann) return table;
  Kernel fill(device, stage, kernels::apodize, "hann_table");
  const compute::command_queue queue = device.make_service_queue();
  fill.launch(queue.get(), covering(device, n), table, n,
              static_cast<cl_float>(1.0 / static_cast<double>(n)));
  check(clFinish(queue.get()), "clFinish", device.place(stage));
  return table;
}

class Apodize final : public backend::Apodize {
 public:
  Apodize(OpenedDevice& device, const ApodizeSpec& spec)
      : width_(to_int(spec.input.width, device.place(stage))),
        height_(to_int(spec.input.height, device.place(stage))),
        canvas_width_(to_int(spec.canvas.width, device.place(stage))),
        canvas_height_(to_int(spec.canvas.height, device.place(stage))),
        ox_((canvas_width_ - width_) / 2),
        oy_((canvas_height_ - height_) / 2),
        window_x_(make_window(device, spec.window, width_)),
        window_y_(make_window(device, spec.window, height_)),
        grid_(covering(device, spec.canvas.width, spec.canvas.height)),
        kernel_(device, stage, kernels::apodize, "apodize",
                spec.window == Window::hann ? "-D WINDOWED" : "") {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const backend::Memory& statistics, backend::Memory& canvas) override {
    kernel_.launch(queue_of(queue), grid_, input, width_, height_, statistics, window_x_, window_y_,
                   canvas, canvas_width_, canvas_height_, ox_, oy_);
  }

 private:
  cl_int width_, height_, canvas_width_, canvas_height_, ox_, oy_;
  compute::buffer window_x_, window_y_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

std::unique_ptr<backend::Apodize> make_apodize(OpenedDevice& device, const ApodizeSpec& spec) {
  return std::make_unique<Apodize>(device, spec);
}

}  // namespace warpalign::opencl
