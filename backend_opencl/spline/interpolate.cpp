// Stage: evaluate a B-spline at arbitrary points.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "device/texture_copy.hpp"
#include "embedded_kernels.hpp"
#include "spline/array_parameters.hpp"
#include "spline/interpolate_points.hpp"
#include "spline/transform_evaluation.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "interpolate";

/// The entry of interpolate.cl's table.
struct PointsOfArray {
  cl_float4 row_x, row_y, row_z, row_w, rest_x, rest_y, rest_z, rest_w;
  cl_int kind, centre_x, centre_y, centre_z;
};

PointsOfArray entry_of(const Points& at) {
  const auto& rows = at.rows;
  return {rows[0].nearest, rows[1].nearest, rows[2].nearest,
          rows[3].nearest, rows[0].rest,    rows[1].rest,
          rows[2].rest,    rows[3].rest,    static_cast<cl_int>(at.kind),
          at.centre[0],    at.centre[1],    at.centre[2]};
}

class Interpolate final : public backend::Interpolate {
 public:
  Interpolate(Context& context, const InterpolateSpec& spec,
              const backend::InterpolateDetails& details)
      : site_(context.call_site(stage)),
        output_(spec.output),
        batch_(extent(spec.images.count, site_)),
        shape_(with_margin(spec, details.margin)),
        margin_(details.margin),
        cval_(static_cast<cl_float>(spec.spline.cval)),
        by_texture_(is_by_texture(context, spec)),
        grid_(patches(
            context, extent(spec.output.width, site_),
            extent(spec.output.height * spec.output.depth * (by_texture_ ? 1 : spec.images.count),
                   site_))),
        values_(context, stage, kernels::interpolate, "interpolate", options(spec, details)) {
    for (const std::int64_t n : {shape_.width, shape_.height, shape_.depth}) {
      static_cast<void>(extent(n, site_));
    }
    if (spec.images.count > 1) table_of_arrays_.emplace(context, spec.images.count, stage);
    if (has_gradient(spec)) {
      gradients_.emplace(context, stage, kernels::interpolate, "interpolate_gradient",
                         options(spec, details));
    }
    if (by_texture_) make_lookups(context, spec, details);
    by_transform_ = make_transform_evaluation(context, {spec, details, shape_, by_texture_});
  }

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::SamplingPoints& points, backend::Memory& output,
               backend::Memory* gradient) override {
    Call call;
    call.queue = queue_of(queue);
    call.source = buffer_of(coefficients);
    if (by_transform_ && gradient == nullptr && !points.transforms.empty() &&
        by_transform_->enqueue(call.queue, call.source, points.transforms, output)) {
      return;
    }
    // Kernels need a valid buffer argument even if there is no field.
    call.field = points.coordinates != nullptr ? buffer_of(*points.coordinates) : call.source;
    call.at = points_for(points, 0);
    call.arrays = batch_;
    if (table_of_arrays_) {
      call.table =
          table_of_arrays_->enqueue(call.queue, std::max<std::size_t>(points.transforms.size(), 1),
                                    [&](std::size_t i) { return entry_of(points_for(points, i)); });
    }
    if (gradient != nullptr) return launch(*gradients_, call, output, *gradient);
    if (!by_texture_) return launch(values_, call, output);
    scratch_guard_.enter(call.queue, stage);
    call.arrays = 1;  // the texture holds one array at a time
    for (; call.first_array < batch_; ++call.first_array) {
      texture_->fill(call.queue, call.source, call.first_array);
      launch(values_, call, output, texture_->image(), texture_->sampler(), table_);
    }
  }

 private:
  /// The arguments that all launches of an execution share.
  struct Call {
    cl_command_queue queue = nullptr;
    cl_mem source = nullptr, field = nullptr;
    Points at;  ///< for a single array
    ArrayParameters<PointsOfArray>::Table table{};
    cl_int first_array = 0, arrays = 1;
  };

  [[nodiscard]] Points points_for(const backend::SamplingPoints& points, std::size_t i) const {
    if (!points.transforms.empty()) return points_of(points.transforms[i], output_);
    if (points.log_polar != nullptr) return points_of(*points.log_polar);
    Points at;
    at.kind = Kind::field;
    return at;
  }

  static Shape with_margin(const InterpolateSpec& spec, int margin) {
    Shape larger = spec.images.shape;
    larger.width += 2 * margin;
    if (spec.images.dimensions >= 2) larger.height += 2 * margin;
    if (spec.images.dimensions >= 3) larger.depth += 2 * margin;
    return larger;
  }

  static bool has_gradient(const InterpolateSpec& spec) {
    return spec.output_type == PixelType::f32 && spec.spline.degree >= 1 &&
           spec.spline.precision == Precision::full;
  }

  /// Whether the texture unit evaluates the spline. One that is too small to contain a whole
  /// neighbourhood needs no texture.
  [[nodiscard]] bool is_by_texture(const Context& context, const InterpolateSpec& spec) const {
    const std::int64_t minimum = std::min(
        {shape_.width, shape_.height, spec.images.dimensions == 3 ? shape_.depth : shape_.width});
    return spec.spline.precision != Precision::full &&
           context.info().sampling == Sampling::texture && minimum > spec.spline.degree &&
           fits_texture(context, {.shape = shape_, .dimensions = spec.images.dimensions});
  }

  [[nodiscard]] std::string options(const InterpolateSpec& spec,
                                    const backend::InterpolateDetails& details) const {
    std::string text = spline_options(spec, details) + batch_option(spec.images.count);
    if (has_gradient(spec)) text += " -D GRADIENT";
    if (by_texture_) text += " -D TEXTURE";
    if (by_texture_ && spec.spline.precision == Precision::texture_lut) text += " -D LUT";
    return text;
  }

  void make_lookups(Context& context, const InterpolateSpec& spec,
                    const backend::InterpolateDetails& details) {
    texture_.emplace(context, TextureKind{.shape = shape_, .dimensions = spec.images.dimensions},
                     stage);
    table_ = make_buffer(context, WA_LOOKUP_TABLE_SIZE * sizeof(cl_float4), stage);
    const Handle<cl_command_queue> queue = context.service_queue();
    Kernel table(context, stage, kernels::interpolate, "interpolate_table", options(spec, details));
    table.launch(queue.get(), covering(context, WA_LOOKUP_TABLE_SIZE), table_);
    check(clFinish(queue.get()), "clFinish", site_);
  }

  /// Launches a kernel that takes `first` before the arguments that all kernels take.
  template <class... Arguments>
  void launch(Kernel& kernel, const Call& call, const backend::Memory& output,
              const Arguments&... first) {
    const auto& rows = call.at.rows;
    const auto& centre = call.at.centre;
    const auto run = [&](const auto&... last) {
      kernel.launch(call.queue, grid_, first..., call.source, static_cast<cl_int>(shape_.width),
                    static_cast<cl_int>(shape_.height), static_cast<cl_int>(shape_.depth), margin_,
                    cval_, static_cast<cl_int>(call.at.kind), rows[0].nearest, rows[1].nearest,
                    rows[2].nearest, rows[3].nearest, rows[0].rest, rows[1].rest, rows[2].rest,
                    rows[3].rest, centre[0], centre[1], centre[2], call.field, output,
                    static_cast<cl_int>(output_.width), static_cast<cl_int>(output_.height),
                    static_cast<cl_int>(output_.depth), last...);
    };
    if (!table_of_arrays_) return run();
    run(call.table.entries, call.table.each, call.first_array, call.arrays);
  }

  CallSite site_;
  Shape output_;  // of one array
  cl_int batch_;
  Shape shape_;  // of the coefficients of one array
  cl_int margin_;
  cl_float cval_;
  bool by_texture_;
  Grid grid_;
  Kernel values_;
  std::optional<Kernel> gradients_;
  std::unique_ptr<TransformEvaluation> by_transform_;
  std::optional<TextureCopy> texture_;
  Handle<cl_mem> table_;
  std::optional<ArrayParameters<PointsOfArray>> table_of_arrays_;
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
