// Stage: log-polar resampling of a centred spectrum magnitude.
//
// Always by loads and single precision: on GPUs they are served by the same cache as textures, and
// the spectrum's peaks are too sharp for 8 bits of fraction.
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "stages.hpp"

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "log_polar";

class LogPolar final : public backend::LogPolar {
 public:
  LogPolar(OpenedDevice& device, const LogPolarSpec& spec)
      : columns_(to_int(spec.image.width / 2 + 1, device.place(stage))),
        height_(to_int(spec.image.height, device.place(stage))),
        radius_count_(to_int(spec.output.width, device.place(stage))),
        angle_count_(to_int(spec.output.height, device.place(stage))),
        radii_(
            make_buffer(device, static_cast<std::size_t>(radius_count_) * sizeof(cl_float), stage)),
        directions_(
            make_buffer(device, static_cast<std::size_t>(angle_count_) * sizeof(cl_float2), stage)),
        grid_(covering(device, radius_count_, angle_count_)),
        kernel_(device, stage, kernels::log_polar, "log_polar") {
    const LogPolarGrid geometry = LogPolarPlan::grid(spec);
    const auto width = static_cast<double>(spec.image.width);
    const auto height = static_cast<double>(spec.image.height);
    u_scale_ = static_cast<cl_float>(width / geometry.size);
    v_scale_ = static_cast<cl_float>(height / geometry.size);
    u_end_ = static_cast<cl_float>(width / 2);
    v_end_ = static_cast<cl_float>(height / 2);
    fill_tables(device, geometry);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& magnitude,
               backend::Memory& output) override {
    kernel_.launch(queue_of(queue), grid_, magnitude, columns_, height_, radii_, radius_count_,
                   directions_, angle_count_, u_scale_, v_scale_, u_end_, v_end_, output);
  }

 private:
  void fill_tables(OpenedDevice& device, const LogPolarGrid& geometry) {
    Kernel fill(device, stage, kernels::log_polar, "log_polar_tables");
    const compute::command_queue queue = device.make_service_queue();
    fill.launch(queue.get(), covering(device, std::max(radius_count_, angle_count_)), radii_,
                radius_count_, static_cast<cl_float>(geometry.log_base), directions_, angle_count_,
                static_cast<cl_float>(1.0 / static_cast<double>(angle_count_)));
    check(clFinish(queue.get()), "clFinish", device.place(stage));
  }

  cl_int columns_, height_, radius_count_, angle_count_;
  cl_float u_scale_ = 0, v_scale_ = 0, u_end_ = 0, v_end_ = 0;
  compute::buffer radii_, directions_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

std::unique_ptr<backend::LogPolar> make_log_polar(OpenedDevice& device, const LogPolarSpec& spec) {
  return std::make_unique<LogPolar>(device, spec);
}

}  // namespace warpalign::opencl
