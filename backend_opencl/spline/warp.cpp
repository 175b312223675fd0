// Stage: bilinear resampling under an affine transform.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "device/two_floats.hpp"
#include "embedded_kernels.hpp"
#include "spline/cpu/interpolate_cpu.hpp"

#include <warpalign/backend/stages/spline/warp.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "warp";

/// As Rows in the kernel.
struct Rows {
  std::array<cl_float, 3> x, x_rest, y, y_rest;
};

/// As Transforms in the kernel, whose arguments may take 1 KiB (OpenCL 1.2, table 4.3).
template <std::size_t count>
using Transforms = std::array<Rows, count>;
constexpr std::size_t max_slices_at_once = 16;

class Warp final : public backend::Warp {
 public:
  Warp(Context& context, const WarpSpec& spec)
      : site_(context.call_site(stage)),
        width_(extent(spec.input.width, site_)),
        height_(extent(spec.input.height, site_)),
        output_width_(extent(spec.output.width, site_)),
        output_height_(extent(spec.output.height, site_)),
        grid_(grid_for(context)),
        one_by_one_(context.is_cpu()),
        kernel_(
            context, stage, kernels::warp, "warp",
            int_option("PIXELS", pixels_an_item(context)) +
                int_option("TRANSFORMS", static_cast<int>(one_by_one_ ? 1 : max_slices_at_once))) {
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
    if (!one_by_one_) return enqueue_slices(queue, input, maps, output, first_slice);
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
    launch<1>(queue, input, {&map, 1}, output, slice);
  }

  void enqueue_slices(backend::Queue& queue, const backend::Memory& input,
                      std::span<const Affine> maps, backend::Memory& output,
                      std::int64_t first_slice) {
    for (std::size_t done = 0; done < maps.size(); done += max_slices_at_once) {
      const std::size_t count = std::min(maps.size() - done, max_slices_at_once);
      launch<max_slices_at_once>(queue, input, maps.subspan(done, count), output,
                                 first_slice + static_cast<std::int64_t>(done));
    }
  }

  template <std::size_t size>
  void launch(backend::Queue& queue, const backend::Memory& input, std::span<const Affine> maps,
              backend::Memory& output, std::int64_t first_slice) {
    const cl_int centre_x = output_width_ / 2;
    const cl_int centre_y = output_height_ / 2;
    Transforms<size> transforms{};
    std::transform(maps.begin(), maps.end(), transforms.begin(),
                   [&](const Affine& map) { return rows_about(map, centre_x, centre_y); });
    Grid grid = grid_;
    grid.items[1] *= maps.size();
    kernel_.launch(queue_of(queue), grid, input, width_, height_, transforms,
                   static_cast<cl_int>(grid_.items[1] / grid_.group[1]), centre_x, centre_y, output,
                   static_cast<cl_ulong>(first_of(first_slice)), output_width_, output_height_);
  }

  static Rows rows_about(const Affine& map, double x, double y) {
    const TwoFloats x_row = to_two_floats({map.a, map.b, map.a * x + map.b * y + map.c, 0});
    const TwoFloats y_row = to_two_floats({map.d, map.e, map.d * x + map.e * y + map.f, 0});
    const auto three = [](const cl_float4& row) {
      return std::array<cl_float, 3>{row.s[0], row.s[1], row.s[2]};
    };
    return {three(x_row.nearest), three(x_row.rest), three(y_row.nearest), three(y_row.rest)};
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
  Grid grid_;  ///< of one slice
  bool one_by_one_;
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
