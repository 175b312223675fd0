// Stage: evaluate a B-spline at arbitrary points.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "device/texture_copy.hpp"
#include "embedded_kernels.hpp"
#include "spline/cpu/interpolate_cpu.hpp"
#include "spline/interpolate_linear.hpp"
#include "spline/interpolate_points.hpp"
#include "spline/interpolate_tiled.hpp"
#include "spline/interpolate_volume.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "interpolate";

class Interpolate final : public backend::Interpolate {
 public:
  Interpolate(Context& context, const InterpolateSpec& spec,
              const backend::InterpolateDetails& details)
      : site_(context.call_site(stage)),
        output_(spec.output),
        shape_(with_margin(spec, details.margin)),
        margin_(details.margin),
        cval_(static_cast<cl_float>(spec.cval)),
        by_texture_(is_by_texture(context, spec)),
        grid_(patches(context, to_int(spec.output.width, site_),
                      to_int(spec.output.height * spec.output.depth, site_))),
        values_(context, stage, kernels::interpolate, "interpolate", options(spec, details)) {
    for (const std::int64_t extent : {shape_.width, shape_.height, shape_.depth}) {
      (void)to_int(extent, site_);
    }
    if (has_gradient(spec)) {
      gradients_.emplace(context, stage, kernels::interpolate, "interpolate_gradient",
                         options(spec, details));
    }
    if (by_texture_) make_lookups(context, spec, details);
    if (VolumeEvaluation::serves(context, spec, details)) {
      volumes_.emplace(context, spec, details, shape_);
    } else if (TiledEvaluation::serves(context, spec, details)) {
      tiled_.emplace(context, spec, details, shape_);
    } else if (LinearEvaluation::serves(context, spec, details)) {
      linear_.emplace(context, spec, details);
    }
    if (!by_texture_ && CpuEvaluation::serves(context, spec, shape_)) {
      cpu_.emplace(context, stage, CpuEvaluation::From::transform, spec, details, shape_);
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::SamplingPoints& points, backend::Memory& output,
               backend::Memory* gradient) override {
    const cl_command_queue commands = queue_of(queue);
    if (gradient == nullptr && points.transform != nullptr &&
        enqueue_tiles(commands, buffer_of(coefficients), *points.transform, output)) {
      return;
    }
    Points at;
    at.kind = Kind::field;
    if (points.transform != nullptr) at = points_of(*points.transform, output_);
    if (points.log_polar != nullptr) at = points_of(*points.log_polar);
    const cl_mem source = buffer_of(coefficients);
    // Kernels need some buffer here even if there is no field.
    const cl_mem field = points.coordinates != nullptr ? buffer_of(*points.coordinates) : source;
    if (gradient != nullptr) {
      return launch(*gradients_, commands, source, at, field, output, *gradient);
    }
    if (!by_texture_) return launch(values_, commands, source, at, field, output);
    scratch_guard_.enter(commands, stage);
    texture_->fill(commands, source);
    launch(values_, commands, source, at, field, output, texture_->image(), texture_->sampler(),
           table_);
  }

 private:
  static Shape with_margin(const InterpolateSpec& spec, int margin) {
    Shape larger = spec.image;
    larger.width += 2 * margin;
    if (spec.dimensions >= 2) larger.height += 2 * margin;
    if (spec.dimensions >= 3) larger.depth += 2 * margin;
    return larger;
  }

  static bool has_gradient(const InterpolateSpec& spec) {
    return spec.output_type == PixelType::f32 && spec.degree >= 1 &&
           spec.precision == Precision::full;
  }

  /// A spline that is too small to contain a whole neighbourhood needs no texture.
  [[nodiscard]] bool is_by_texture(const Context& context, const InterpolateSpec& spec) const {
    const std::int64_t minimum =
        std::min({shape_.width, shape_.height, spec.dimensions == 3 ? shape_.depth : shape_.width});
    return spec.precision != Precision::full && context.info().sampling == Sampling::texture &&
           minimum > spec.degree &&
           fits_texture(context, {.shape = shape_, .dimensions = spec.dimensions});
  }

  [[nodiscard]] std::string options(const InterpolateSpec& spec,
                                    const backend::InterpolateDetails& details) const {
    std::string text = spline_options(spec, details);
    if (has_gradient(spec)) text += " -D GRADIENT";
    if (by_texture_) text += " -D TEXTURE";
    if (by_texture_ && spec.precision == Precision::texture_lut) text += " -D LUT";
    return text;
  }

  void make_lookups(Context& context, const InterpolateSpec& spec,
                    const backend::InterpolateDetails& details) {
    texture_.emplace(context, TextureKind{.shape = shape_, .dimensions = spec.dimensions}, stage);
    table_ = make_buffer(context, WA_LOOKUP_TABLE_SIZE * sizeof(cl_float4), stage);
    const compute::command_queue queue = context.make_service_queue();
    Kernel table(context, stage, kernels::interpolate, "interpolate_table", options(spec, details));
    table.launch(queue.get(), covering(context, WA_LOOKUP_TABLE_SIZE), table_);
    check(clFinish(queue.get()), "clFinish", site_);
  }

  /// Enqueues a kernel that works on tiles of the output. False if there is none for the transform.
  bool enqueue_tiles(cl_command_queue commands, cl_mem coefficients, const Transform& transform,
                     const backend::Memory& output) {
    if (volumes_) return volumes_->enqueue(commands, coefficients, transform, output);
    if (cpu_) return cpu_->enqueue(commands, coefficients, transform, output);
    if (linear_) return linear_->enqueue(commands, coefficients, transform, output);
    return tiled_ && tiled_->enqueue(commands, coefficients, transform, output);
  }

  /// Launches a kernel that takes `first` before the arguments that all of them take.
  template <class... Arguments>
  void launch(Kernel& kernel, cl_command_queue queue, cl_mem source, const Points& at, cl_mem field,
              const backend::Memory& output, const Arguments&... first) {
    const auto& [x, y, z, w] = at.rows;
    kernel.launch(queue, grid_, first..., source, static_cast<cl_int>(shape_.width),
                  static_cast<cl_int>(shape_.height), static_cast<cl_int>(shape_.depth), margin_,
                  cval_, static_cast<cl_int>(at.kind), x.nearest, y.nearest, z.nearest, w.nearest,
                  x.rest, y.rest, z.rest, w.rest, at.centre[0], at.centre[1], at.centre[2], field,
                  output, static_cast<cl_int>(output_.width), static_cast<cl_int>(output_.height),
                  static_cast<cl_int>(output_.depth));
  }

  CallSite site_;
  Shape output_;
  Shape shape_;  // of the coefficients
  cl_int margin_;
  cl_float cval_;
  bool by_texture_;
  Grid grid_;
  Kernel values_;
  std::optional<Kernel> gradients_;
  std::optional<TiledEvaluation> tiled_;
  std::optional<LinearEvaluation> linear_;
  std::optional<CpuEvaluation> cpu_;
  std::optional<VolumeEvaluation> volumes_;
  std::optional<TextureCopy> texture_;
  compute::buffer table_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Interpolate> make(Context& context,
                                           const backend::Interpolate::Setup& setup) {
  const auto& [spec, details] = setup;
  return std::make_unique<Interpolate>(context, spec, details);
}

}  // namespace warpalign::opencl
