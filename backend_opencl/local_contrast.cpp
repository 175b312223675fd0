// Stage: brightness and contrast evened out locally.
#include "axis_tables.hpp"
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "queue_order.hpp"
#include "stages.hpp"

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "local_contrast";

class LocalContrast final : public backend::LocalContrast {
 public:
  LocalContrast(OpenedDevice& device, const LocalContrastSpec& spec,
                const backend::PlaneWeights& weights)
      : width_(to_int(spec.shape.width, device.place(stage))),
        height_(to_int(spec.shape.height, device.place(stage))),
        x_(device, weights.x, stage),
        y_(device, weights.y, stage),
        moments_(make_buffer(
            device, static_cast<std::size_t>(spec.shape.plane()) * sizeof(cl_float4), stage)),
        grid_(covering(device, width_, height_)),
        sum_(device, stage, kernels::local_contrast, "local_moments", options_for(spec)),
        even_(device, stage, kernels::local_contrast, "even_out", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory* weight,
               float mean, float floor, backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    order_.enter(commands, stage);
    const auto run = [&](const auto&... images) {
      sum_.launch(commands, grid_, images..., width_, height_, mean, x_.first, x_.weights, x_.taps,
                  moments_);
      even_.launch(commands, grid_, images..., width_, height_, mean, floor * floor, y_.first,
                   y_.weights, y_.taps, moments_, output);
    };
    if (weight == nullptr) return run(input);
    run(input, *weight);
  }

 private:
  static std::string options_for(const LocalContrastSpec& spec) {
    return spec.masked ? "-D MASKED" : "";
  }

  cl_int width_, height_;
  AxisTable x_, y_;
  compute::buffer moments_;
  Grid grid_;
  Kernel sum_, even_;
  QueueOrder order_;
};

}  // namespace

std::unique_ptr<backend::LocalContrast> make_local_contrast(OpenedDevice& device,
                                                            const LocalContrastSpec& spec,
                                                            const backend::PlaneWeights& weights) {
  return std::make_unique<LocalContrast>(device, spec, weights);
}

}  // namespace warpalign::opencl
