// Stage: bilinear resampling under an affine transform.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "device/two_floats.hpp"
#include "embedded_kernels.hpp"
#include "spline/cpu/interpolate_cpu.hpp"

#include <warpalign/backend/stages/spline/warp.hpp>

#include <array>
#include <optional>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "warp";

class Warp final : public backend::Warp {
 public:
  Warp(Context& context, const WarpSpec& spec)
      : site_(context.call_site(stage)),
        width_(extent(spec.input.width, site_)),
        height_(extent(spec.input.height, site_)),
        output_width_(extent(spec.output.width, site_)),
        output_height_(extent(spec.output.height, site_)),
        grid_(grid_for(context)),
        kernel_(context, stage, kernels::warp, "warp",
                int_option("PIXELS", pixels_an_item(context))) {
    const InterpolateSpec bilinear =
        CpuEvaluation::bilinear(spec.input, spec.output, PixelType::f32);
    if (CpuEvaluation::serves(context, bilinear, spec.input)) {
      cpu_.emplace(context, stage, CpuEvaluation::From::transform, bilinear,
                   CpuEvaluation::zero_padded, spec.input);
      if (spec.unit_input)
        unit_weights_.emplace(context, stage, kernels::warp_ones_cpu, "warp_ones");
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, std::span<const Affine> maps,
               backend::Memory& output, std::int64_t first_slice) override {
    for (const Affine& map : maps) enqueue_slice(queue, input, map, output, first_slice++);
  }

 private:
  void enqueue_slice(backend::Queue& queue, const backend::Memory& input, const Affine& map,
                     backend::Memory& output, std::int64_t slice) {
    const HomogeneousMatrix transform(map);
    if (unit_weights_ && all_near(transform, {output_width_, output_height_, 1})) {
      return enqueue_unit_weights(queue_of(queue), map, output, slice);
    }
    if (cpu_ && cpu_->enqueue(queue_of(queue), buffer_of(input), {&transform, 1}, output,
                              first_of(slice))) {
      return;
    }
    const cl_int centre_x = output_width_ / 2;
    const cl_int centre_y = output_height_ / 2;
    const double x = centre_x;
    const double y = centre_y;
    const TwoFloats x_row = to_two_floats({map.a, map.b, map.a * x + map.b * y + map.c, 0});
    const TwoFloats y_row = to_two_floats({map.d, map.e, map.d * x + map.e * y + map.f, 0});
    kernel_.launch(queue_of(queue), grid_, input, width_, height_, x_row.nearest, x_row.rest,
                   y_row.nearest, y_row.rest, centre_x, centre_y, output,
                   static_cast<cl_ulong>(first_of(slice)), output_width_, output_height_);
  }

  void enqueue_unit_weights(cl_command_queue queue, const Affine& map, backend::Memory& output,
                            std::int64_t slice) {
    const std::array<double, 4> x{map.a, map.b, 0, map.c};
    const std::array<double, 4> y{map.d, map.e, 0, map.f};
    const cl_float2 step{{static_cast<cl_float>(map.a), static_cast<cl_float>(map.d)}};
    unit_weights_->launch(queue, {{static_cast<std::size_t>(output_height_), 1}, {1, 1}}, width_,
                          height_, fixed_row(x.data(), 0), fixed_row(y.data(), 0), step, output,
                          static_cast<cl_ulong>(first_of(slice)), output_width_, output_height_);
  }

  static int pixels_an_item(const Context& context) { return context.is_cpu() ? 1 : 4; }

  /// The number of pixels before a slice of the output.
  [[nodiscard]] std::int64_t first_of(std::int64_t slice) const {
    return slice * output_width_ * output_height_;
  }

  /// On GPUs, 32 neighbouring work-items cover 8 x 4 pixels and then move to the right. This keeps
  /// their loads close together even if the image is rotated.
  [[nodiscard]] Grid grid_for(const Context& context) const {
    if (context.is_cpu()) return covering(context, output_width_, output_height_);
    constexpr std::size_t columns = 8;
    constexpr std::size_t rows = 16;
    const auto groups = [](cl_int n, std::size_t size) {
      return (static_cast<std::size_t>(n) + size - 1) / size;
    };
    const auto pixels = static_cast<std::size_t>(pixels_an_item(context));
    return {
        {groups(output_width_, columns * pixels) * columns, groups(output_height_, rows) * rows},
        {columns, rows}};
  }

  CallSite site_;
  cl_int width_, height_, output_width_, output_height_;
  Grid grid_;
  Kernel kernel_;
  std::optional<CpuEvaluation> cpu_;
  std::optional<Kernel> unit_weights_;
};

}  // namespace

template <>
std::unique_ptr<backend::Warp> make(Context& context, const WarpSpec& spec) {
  return std::make_unique<Warp>(context, spec);
}

}  // namespace warpalign::opencl
