// Stage: the magnitude of a half spectrum, with its rows reordered around v = 0.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/spectrum/magnitude.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "magnitude";

class Magnitude final : public backend::Magnitude {
 public:
  Magnitude(Context& context, const MagnitudeSpec& spec)
      : columns_(extent(spec.image.width / 2 + 1, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        half_exponent_(spec.exponent / 2),
        grid_(
            covering(context, context.has_vectors() ? divide_up(columns_, 16) : columns_, height_)),
        kernel_(context, stage, kernels::magnitude, "magnitude",
                context.has_vectors() ? "-D SIMD" : "") {}

  void enqueue(backend::Queue& queue, const backend::Memory& spectrum,
               backend::Memory& magnitude) override {
    kernel_.launch(queue_of(queue), grid_, spectrum, magnitude, columns_, height_, height_,
                   half_exponent_);
  }

 private:
  cl_int columns_, height_;
  cl_float half_exponent_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Magnitude> make(Context& context, const MagnitudeSpec& spec) {
  return std::make_unique<Magnitude>(context, spec);
}

}  // namespace warpalign::opencl
