// Stage: log-polar resampling of a centred spectrum magnitude.
//
// The kernels always load from buffers and compute in single precision: GPUs cache such loads like
// textures, and the spectrum's peaks are too sharp for the 8 fractional bits of a texture unit.
#include "device/constants.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/spectrum/log_polar.hpp>
#include <warpalign/stages/fft.hpp>

#include <array>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "log_polar";

std::vector<float> flat(const std::vector<std::array<float, 2>>& pairs) {
  std::vector<float> values;
  values.reserve(2 * pairs.size());
  for (const std::array<float, 2>& pair : pairs) values.insert(values.end(), {pair[0], pair[1]});
  return values;
}

// GPUs use groups of 8 radii x 16 angles: far from the centre, 32 radii along a ray would touch 32
// rows of the spectrum, and as many cache lines.
Grid grid_for(const Context& context, const Shape& output) {
  if (context.is_cpu()) return covering(context, output.width, output.height);
  return {{rounded_up(output.width, 8), rounded_up(output.height, 16)}, {8, 16}};
}

class LogPolar final : public backend::LogPolar {
 public:
  LogPolar(Context& context, const LogPolarSpec& spec, const backend::LogPolarPoints& points)
      : columns_(extent(RealFftPlan::half_spectrum(spec.image).width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        radius_count_(extent(spec.output.width, context.call_site(stage))),
        angle_count_(extent(spec.output.height, context.call_site(stage))),
        u_end_(0.5F * static_cast<float>(spec.image.width)),
        v_end_(0.5F * static_cast<float>(spec.image.height)),
        radii_(upload_floats(context, points.radii, stage)),
        directions_(upload_floats(context, flat(points.directions), stage)),
        grid_(grid_for(context, spec.output)),
        kernel_(context, stage, kernels::log_polar, "log_polar") {}

  void enqueue(backend::Queue& queue, const backend::Memory& magnitude,
               backend::Memory& output) override {
    kernel_.launch(queue_of(queue), grid_, magnitude, columns_, height_, radii_, radius_count_,
                   directions_, angle_count_, u_end_, v_end_, output);
  }

 private:
  cl_int columns_, height_, radius_count_, angle_count_;
  cl_float u_end_, v_end_;
  Handle<cl_mem> radii_, directions_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::LogPolar> make(Context& context, const backend::LogPolar::Setup& setup) {
  const auto& [spec, points] = setup;
  return std::make_unique<LogPolar>(context, spec, points);
}

}  // namespace warpalign::opencl
