// Stage: B-splines in double precision, and exact copies of samples.
#include "device/common_stage.hpp"

#include "formulas/double_blocks.h"
#include "formulas/double_tiles.h"
#include "formulas/pixel_types.h"

#include <warpalign/backend/stages/spline/double_spline.hpp>

#include <bit>
#include <optional>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "double_spline";

#define GROUP 256
#define CHUNK 4
#ifdef __CUDACC__
#include "shared/double_convert.cl"
#include "shared/double_footprints.cl"
#include "shared/double_spline.cl"
namespace one_pole {
#include "shared/double_blocks.cl"
}  // namespace one_pole
namespace two_poles {
#define TWO_POLES
#include "shared/double_blocks.cl"
#undef TWO_POLES
}  // namespace two_poles
#endif

static_assert(static_cast<int>(Boundary::mirror) == 0 && static_cast<int>(Boundary::reflect) == 1 &&
                  static_cast<int>(Boundary::nearest) == 2 &&
                  static_cast<int>(Boundary::constant) == 3 &&
                  static_cast<int>(Boundary::grid_constant) == 4 &&
                  static_cast<int>(Boundary::wrap) == 5 &&
                  static_cast<int>(Boundary::grid_wrap) == 6,
              "the numbers of formulas/double_spline.h");

static_assert(static_cast<int>(PixelType::u8) == WA_PIXEL_U8 &&
                  static_cast<int>(PixelType::i32) == WA_PIXEL_I32 &&
                  static_cast<int>(PixelType::f16) == WA_PIXEL_F16 &&
                  static_cast<int>(PixelType::f64) == WA_PIXEL_F64,
              "the numbers of formulas/pixel_types.h");

class DoubleSplineStage final : public backend::DoubleSpline {
 public:
  DoubleSplineStage(DeviceContext& context, const Setup& setup)
      : spec_(setup.spec),
        padded_(padded(setup.spec)),
        extension_(static_cast<int>(setup.extension)),
        filter_extension_(static_cast<int>(filter_extension(setup.extension))),
        is_filled_(setup.extension == backend::Extension::fill ? 1 : 0),
        poles_(setup.poles),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        chunk_(is_cpu(context) ? cpu_chunk : CHUNK),
        points_(static_cast<std::uint64_t>(spec_.output.pixels())),
        copy_(context, stage, WA_KERNEL_OF(double_spline, copy_nearest), options()),
        evaluate_(context, stage,
                  is_cubic_plane(setup.spec) ? WA_KERNEL_OF(double_spline, evaluate_cubic_plane)
                                             : WA_KERNEL_OF(double_spline, evaluate_double),
                  options()),
        prefilter_(context, stage, WA_KERNEL_OF(double_spline, prefilter_double), options()) {
    if (spec_.degree == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(padded_.stacked().pixels()) * sizeof(double);
    const bool filters_blocks = !poles_.empty() && !is_cpu(context);
    if (filters_blocks) {
      blocks_.emplace(context, stage,
                      WA_KERNEL_VARIANT(poles_.size() > 1, TWO_POLES, two_poles, one_pole,
                                        double_blocks, prefilter_double_blocks),
                      KernelOptions());
      if (spec_.images.dimensions > 1) between_.emplace(context, stage, bytes);
    }
    if (spec_.footprints) {
      mean_.emplace(context, stage, WA_KERNEL_OF(double_footprints, mean_double), options());
    }
    if (spec_.pixels != PixelType::f64 || spec_.padding > 0) {
      load_.emplace(context, stage, WA_KERNEL_OF(double_convert, load_doubles), options());
      loaded_.emplace(context, stage, bytes);
    }
    // Lines are filtered in place, but blocks are not.
    if (!poles_.empty() && (filters_blocks || !loaded_)) {
      coefficients_.emplace(context, stage, bytes);
    }
    if (spec_.output_pixels != PixelType::f64) {
      store_.emplace(context, stage, WA_KERNEL_OF(double_convert, store_doubles), options());
      results_.emplace(context, stage,
                       points_ * static_cast<std::size_t>(spec_.images.count) * sizeof(double));
    }
  }

  void prefilter(backend::Queue& queue, const backend::Memory& images,
                 backend::Memory& coefficients) override {
    if (!loaded_) return filter(queue, images, coefficients);
    auto& loaded = loaded_->enter(queue);
    load(queue, images, 0, loaded);
    filter(queue, loaded, coefficients);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& images,
               const backend::DoublePoints& points, std::uint64_t outside,
               backend::Memory& output) override {
    if (!results_) return evaluate_images(queue, images, points, outside, output);
    auto& results = results_->enter(queue);
    evaluate_images(queue, images, points, outside, results);
    const std::uint64_t total = points_ * static_cast<std::uint64_t>(spec_.images.count);
    store_->launch(queue, grid_over(total), results, total, static_cast<int>(spec_.output_pixels),
                   output);
  }

 private:
  static constexpr int cpu_chunk = 256;

  static bool is_cubic_plane(const DoubleSplineSpec& spec) {
    return spec.degree == 3 && spec.images.dimensions == 2;
  }

  /// The extension for the prefilter of samples with a margin, as in SciPy: reflect for repeated
  /// edge samples, and mirror for a fill value.
  static constexpr backend::Extension filter_extension(backend::Extension extension) {
    if (extension == backend::Extension::clamp) return backend::Extension::reflect;
    return extension == backend::Extension::fill ? backend::Extension::mirror : extension;
  }

  /// The images with their padding.
  static ImageBatch padded(const DoubleSplineSpec& spec) {
    ImageBatch images = spec.images;
    images.shape.width += 2 * spec.padding;
    if (images.dimensions > 1) images.shape.height += 2 * spec.padding;
    if (images.dimensions > 2) images.shape.depth += 2 * spec.padding;
    return images;
  }

  [[nodiscard]] KernelOptions options() const {
    return KernelOptions().set("GROUP", group_).set("CHUNK", chunk_);
  }

  [[nodiscard]] WorkGrid grid_over(std::uint64_t pixels) const {
    return {
        groups_over(static_cast<std::int64_t>(pixels), std::int64_t{group_} * chunk_), 1, {group_}};
  }

  /// The grid of WA_FOR_EACH_POINT.
  [[nodiscard]] WorkGrid grid_of_points() const {
    if (group_ == 1) return grid_over(points_);
    const Shape& out = spec_.output;
    const int lines = out.height < WA_TILE_LINES ? 1 : WA_TILE_LINES;
    return {groups_over(out.width, group_ * chunk_ / lines) * groups_over(out.height, lines) *
                out.depth,
            1,
            {group_}};
  }

  template <class Loaded>
  void load(backend::Queue& queue, const backend::Memory& images, std::uint64_t outside,
            Loaded& loaded) {
    const Shape& shape = spec_.images.shape;
    const auto total = static_cast<std::uint64_t>(padded_.stacked().pixels());
    const int dimensions = spec_.images.dimensions;
    load_->launch(queue, grid_over(total), images, static_cast<int>(spec_.pixels),
                  static_cast<int>(shape.width), static_cast<int>(shape.height),
                  static_cast<int>(shape.depth), spec_.padding, dimensions > 1 ? spec_.padding : 0,
                  dimensions > 2 ? spec_.padding : 0, is_filled_, std::bit_cast<double>(outside),
                  total, loaded);
  }

  /// Filters one axis after the other, from the images to the memory between them and the
  /// coefficients in turn, so that the last result is that of the coefficients.
  template <class Images, class Coefficients>
  void filter_in_blocks(backend::Queue& queue, const Images& images, Coefficients& coefficients) {
    const Shape& shape = padded_.shape;
    const int warm_up = poles_.size() > 1 ? WA_WARM_UP_OF_TWO_POLES : WA_WARM_UP_OF_ONE_POLE;
    const double second = poles_.size() > 1 ? poles_[1] : 0.0;
    const std::int64_t all = padded_.stacked().pixels();
    const auto along = [&](const auto& from, std::int64_t n, std::int64_t stride, auto& to) {
      const std::int64_t lines = all / n;
      const std::int64_t blocks = groups_over(n, WA_BLOCK_WINDOW - 2 * warm_up);
      blocks_->launch(queue, {groups_over(lines, WA_BLOCK_LANES) * blocks, 1, {WA_BLOCK_ITEMS}},
                      from, static_cast<int>(n), static_cast<std::uint64_t>(stride),
                      static_cast<std::uint64_t>(lines), static_cast<int>(blocks),
                      filter_extension_, poles_[0], second, to);
    };
    if (spec_.images.dimensions == 1) return along(images, shape.width, 1, coefficients);
    auto& between = between_->enter(queue);
    if (spec_.images.dimensions == 2) {
      along(images, shape.width, 1, between);
      return along(between, shape.height, shape.width, coefficients);
    }
    along(images, shape.width, 1, coefficients);
    along(coefficients, shape.height, shape.width, between);
    along(between, shape.depth, shape.plane(), coefficients);
  }

  /// Source and target may be the same on CPUs.
  template <class Images, class Coefficients>
  void filter(backend::Queue& queue, const Images& images, Coefficients& coefficients) {
    if (blocks_) return filter_in_blocks(queue, images, coefficients);
    const Shape& shape = padded_.shape;
    const double second = poles_.size() > 1 ? poles_[1] : 0.0;
    const std::int64_t all = padded_.stacked().pixels();
    const auto along = [&](auto& from, std::int64_t n, std::int64_t stride) {
      const std::int64_t lines = all / n;
      prefilter_.launch(queue, {groups_over(lines, group_), 1, {group_}}, from, static_cast<int>(n),
                        static_cast<std::uint64_t>(stride), static_cast<std::uint64_t>(lines),
                        filter_extension_, poles_[0], second, coefficients);
    };
    along(images, shape.width, 1);
    if (spec_.images.dimensions > 1) along(coefficients, shape.height, shape.width);
    if (spec_.images.dimensions > 2) along(coefficients, shape.depth, shape.plane());
  }

  template <class Output>
  void evaluate_images(backend::Queue& queue, const backend::Memory& images,
                       const backend::DoublePoints& points, std::uint64_t outside, Output& output) {
    if (loaded_) {
      auto& loaded = loaded_->enter(queue);
      load(queue, images, outside, loaded);
      if (poles_.empty()) return evaluate(queue, loaded, points, outside, output);
      if (!coefficients_) {
        filter(queue, loaded, loaded);
        return evaluate(queue, loaded, points, outside, output);
      }
      auto& coefficients = coefficients_->enter(queue);
      filter(queue, loaded, coefficients);
      evaluate(queue, coefficients, points, outside, output);
    } else if (!poles_.empty()) {
      auto& coefficients = coefficients_->enter(queue);
      filter(queue, images, coefficients);
      evaluate(queue, coefficients, points, outside, output);
    } else {
      evaluate(queue, images, points, outside, output);
    }
  }

  template <class Source, class Output>
  void evaluate(backend::Queue& queue, const Source& source, const backend::DoublePoints& points,
                std::uint64_t outside, Output& output) {
    if (points.coordinates != nullptr) {
      launch(queue, source, points.matrix, *points.coordinates, 1, outside, output);
    } else {
      launch(queue, source, points.matrix, source, 0, outside, output);
    }
  }

  /// `given` is ignored if has_points is 0; any memory will do.
  template <class Source, class Given, class Output>
  void launch(backend::Queue& queue, const Source& source, const std::array<double, 16>& m,
              const Given& given, int has_points, std::uint64_t outside, Output& output) {
    const Shape& in = padded_.shape;
    const Shape& out = spec_.output;
    const int is_projective = m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1 ? 1 : 0;
    const WorkGrid grid = grid_of_points();
    const auto run = [&](auto& kernel, int kind, auto beyond, auto... depth) {
      kernel.launch(queue, grid, source, kind, static_cast<int>(spec_.boundary), extension_,
                    spec_.images.dimensions, static_cast<int>(in.width),
                    static_cast<int>(in.height), static_cast<int>(in.depth),
                    static_cast<int>(spec_.images.count),
                    static_cast<double>(spec_.margin + spec_.padding), static_cast<int>(out.width),
                    static_cast<int>(out.height), depth..., points_, given, has_points,
                    is_projective, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9],
                    m[10], m[11], m[12], m[13], m[14], m[15], beyond, output);
    };
    if (spec_.degree == 0) {
      run(copy_, static_cast<int>(size_of(spec_.pixels)), outside);
    } else if (spec_.footprints) {
      run(*mean_, spec_.degree, std::bit_cast<double>(outside), static_cast<int>(out.depth));
    } else {
      run(evaluate_, spec_.degree, std::bit_cast<double>(outside));
    }
  }

  DoubleSplineSpec spec_;
  ImageBatch padded_;
  int extension_, filter_extension_, is_filled_;
  std::vector<double> poles_;
  int group_, chunk_;
  std::uint64_t points_;
  WA_LAUNCHER_OF(copy_nearest) copy_;
  WA_LAUNCHER_OF(evaluate_double) evaluate_;
  std::optional<WA_LAUNCHER_OF(mean_double)> mean_;
  WA_LAUNCHER_OF(prefilter_double) prefilter_;
  std::optional<WA_LAUNCHER_OF(load_doubles)> load_;
  std::optional<WA_LAUNCHER_OF(store_doubles)> store_;
  std::optional<WA_LAUNCHER_OF(one_pole::prefilter_double_blocks)> blocks_;  ///< on GPUs
  std::optional<StageScratch> loaded_, between_, coefficients_, results_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleSpline> make(DeviceContext& context,
                                            const backend::DoubleSpline::Setup& setup) {
  return std::make_unique<DoubleSplineStage>(context, setup);
}

}  // namespace warpalign::WA_BACKEND
