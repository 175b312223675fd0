// Stage: bilinear interpolation of complex data at arbitrary points.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "device/texture_copy.hpp"
#include "embedded_kernels.hpp"
#include "spline/cpu/interpolate_cpu.hpp"

#include <warpalign/backend/stages/spline/complex_bilinear.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "complex bilinear";

TextureKind texture_of(const ComplexBilinearSpec& spec) {
  const bool filtered = spec.form == BilinearForm::texture_filter;
  return {.shape = spec.image,
          .channels = 2,
          .filter = static_cast<cl_filter_mode>(filtered ? CL_FILTER_LINEAR : CL_FILTER_NEAREST)};
}

/// The form that this device can run: loads from buffers if it has no usable images, or only
/// smaller ones.
BilinearForm usable_form(const Context& context, const ComplexBilinearSpec& spec) {
  const bool usable =
      context.info().sampling == Sampling::texture && fits_texture(context, texture_of(spec));
  return usable ? spec.form : BilinearForm::global_memory;
}

std::string option_for(BilinearForm form) {
  switch (form) {
    case BilinearForm::texture_fetch:
      return "-D FETCH";
    case BilinearForm::texture_filter:
      return "-D FILTER";
    case BilinearForm::global_memory:
      break;
  }
  return {};
}

class ComplexBilinear final : public backend::ComplexBilinear {
 public:
  ComplexBilinear(Context& context, const ComplexBilinearSpec& spec)
      : site_(context.call_site(stage)),
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        output_width_(extent(spec.output.width, site_)),
        output_height_(extent(spec.output.height, site_)),
        form_(usable_form(context, spec)),
        grid_(covering(context, output_width_, output_height_)) {
    const bool by_texture = form_ != BilinearForm::global_memory;
    const InterpolateSpec bilinear =
        CpuEvaluation::bilinear(spec.image, spec.output, PixelType::c32);
    if (!by_texture && CpuEvaluation::serves(context, bilinear, spec.image)) {
      cpu_.emplace(context, stage, CpuEvaluation::From::field, bilinear, CpuEvaluation::zero_padded,
                   spec.image);
      return;
    }
    kernel_.emplace(context, stage, kernels::complex_bilinear, "complex_bilinear",
                    option_for(form_));
    if (by_texture) texture_.emplace(context, texture_of(spec), stage);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& image, const backend::Memory& x,
               const backend::Memory& y, backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    if (cpu_) {
      const cl_mem xs = buffer_of(x);
      cpu_->enqueue(commands, buffer_of(image), {xs, buffer_of(y), xs}, 0, output);
      return;
    }
    const auto launch = [&](const auto&... source) {
      kernel_->launch(commands, grid_, source..., width_, height_, x, y, output, output_width_,
                      output_height_);
    };
    if (form_ == BilinearForm::global_memory) return launch(image);
    scratch_guard_.enter(commands, stage);
    texture_->fill(commands, buffer_of(image));
    launch(texture_->image(), texture_->sampler());
  }

 private:
  CallSite site_;
  cl_int width_, height_, output_width_, output_height_;
  BilinearForm form_;
  Grid grid_;
  std::optional<Kernel> kernel_;  ///< unset if cpu_ is used
  std::optional<CpuEvaluation> cpu_;
  std::optional<TextureCopy> texture_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::ComplexBilinear> make(Context& context, const ComplexBilinearSpec& spec) {
  return std::make_unique<ComplexBilinear>(context, spec);
}

}  // namespace warpalign::opencl
