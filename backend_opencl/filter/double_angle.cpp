// Stage: the double-angle representation of an image's gradient.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/double_angle.hpp>

#include <cmath>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "double_angle";

class DoubleAngle final : public backend::DoubleAngle {
 public:
  DoubleAngle(Context& context, const DoubleAngleSpec& spec)
      : width_(extent(spec.image.width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        epsilon_(spec.epsilon),
        columns_(reduction_group(context)),
        kernel_(context, stage, kernels::double_angle, "double_angle",
                int_option("COLUMNS", static_cast<int>(columns_))) {}

  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& images,
               const DoubleAngleTerms& terms, std::int64_t slice) override {
    kernel_.launch(queue_of(queue),
                   {{static_cast<std::size_t>(height_) * columns_, 1}, {columns_, 1}}, images.input,
                   images.weight, width_, height_, static_cast<cl_int>(slice), epsilon_,
                   static_cast<cl_float>(std::cos(2 * terms.rotation)),
                   static_cast<cl_float>(std::sin(2 * terms.rotation)),
                   static_cast<cl_float>(terms.mean.x), static_cast<cl_float>(terms.mean.y),
                   static_cast<cl_float>(terms.gain), images.cosines, images.sines);
  }

 private:
  cl_int width_, height_;
  cl_float epsilon_;
  std::size_t columns_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleAngle> make(Context& context, const DoubleAngleSpec& spec) {
  return std::make_unique<DoubleAngle>(context, spec);
}

}  // namespace warpalign::opencl
