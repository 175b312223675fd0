// Stage: brightness and contrast evened out locally.
#include "filter/axis_tables.hpp"
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "filter/cpu/separable_simd.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>

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
        by_lanes_(device.has_vectors()),
        moments_(make_buffer(device, bytes_of_moments(spec), stage)),
        grid_(by_lanes_ ? separable_strips(width_, height_) : covering(device, width_, height_)),
        sum_(device, stage, text(), "local_moments", options_for(spec)),
        even_(device, stage, text(), "even_out", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory* weight,
               float mean, float floor, backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    order_.enter(commands, stage);
    const AxisTable& before = by_lanes_ ? y_ : x_;
    const AxisTable& after = by_lanes_ ? x_ : y_;
    const auto run = [&](const auto&... images) {
      sum_.launch(commands, grid_, images..., width_, height_, mean, before.first, before.weights,
                  before.taps, moments_);
      even_.launch(commands, grid_, images..., width_, height_, mean, floor * floor, after.first,
                   after.weights, after.taps, moments_, output);
    };
    if (weight == nullptr) return run(input);
    run(input, *weight);
  }

 private:
  static std::string options_for(const LocalContrastSpec& spec) {
    return spec.masked ? "-D MASKED" : "";
  }

  [[nodiscard]] std::string_view text() const {
    return by_lanes_ ? kernels::local_normalization_cpu : kernels::local_normalization;
  }
  [[nodiscard]] std::size_t bytes_of_moments(const LocalContrastSpec& spec) const {
    if (by_lanes_) return separable_bytes(width_, height_, spec.masked ? 3 : 2);
    return static_cast<std::size_t>(spec.shape.plane()) * sizeof(cl_float4);
  }

  cl_int width_, height_;
  AxisTable x_, y_;
  bool by_lanes_;  // CPUs: by vectors of sixteen, columns first
  compute::buffer moments_;
  Grid grid_;
  Kernel sum_, even_;
  QueueOrder order_;
};

}  // namespace

template <>
std::unique_ptr<backend::LocalContrast> make(OpenedDevice& device, const backend::LocalContrast::Setup& setup) {
  const auto& [spec, weights] = setup;
  return std::make_unique<LocalContrast>(device, spec, weights);
}

}  // namespace warpalign::opencl
