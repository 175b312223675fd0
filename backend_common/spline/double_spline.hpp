// Stage: B-splines in double precision, and exact copies of samples.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spline/double_spline.hpp>

#include <bit>
#include <optional>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "double_spline";

#define GROUP 256
#define CHUNK 4
#ifdef __CUDACC__
#include "shared/double_spline.cl"
#endif

static_assert(static_cast<int>(Boundary::mirror) == 0 && static_cast<int>(Boundary::reflect) == 1 &&
                  static_cast<int>(Boundary::nearest) == 2 &&
                  static_cast<int>(Boundary::constant) == 3 &&
                  static_cast<int>(Boundary::grid_constant) == 4 &&
                  static_cast<int>(Boundary::wrap) == 5 &&
                  static_cast<int>(Boundary::grid_wrap) == 6,
              "the numbers of formulas/double_spline.h");

class DoubleSplineStage final : public backend::DoubleSpline {
 public:
  DoubleSplineStage(DeviceContext& context, const Setup& setup)
      : spec_(setup.spec),
        extension_(static_cast<int>(setup.extension)),
        filter_extension_(static_cast<int>(filter_extension(setup.extension))),
        poles_(setup.poles),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        points_(static_cast<std::uint64_t>(spec_.output.pixels())),
        groups_(groups_over(spec_.output.pixels(),
                            std::int64_t{group_} * (is_cpu(context) ? cpu_chunk : CHUNK))),
        copy_(context, stage, WA_KERNEL_OF(double_spline, copy_nearest), options(context)),
        evaluate_(context, stage, WA_KERNEL_OF(double_spline, evaluate_double), options(context)),
        prefilter_(context, stage, WA_KERNEL_OF(double_spline, prefilter_double),
                   options(context)) {
    if (!poles_.empty()) {
      coefficients_.emplace(
          context, stage,
          static_cast<std::size_t>(spec_.images.stacked().pixels()) * sizeof(double));
    }
  }

  void prefilter(backend::Queue& queue, const backend::Memory& images,
                 backend::Memory& coefficients) override {
    filter(queue, images, coefficients);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& images,
               const backend::DoublePoints& points, std::uint64_t outside,
               backend::Memory& output) override {
    if (poles_.empty()) return evaluate(queue, images, points, outside, output);
    auto& coefficients = coefficients_->enter(queue);
    filter(queue, images, coefficients);
    evaluate(queue, coefficients, points, outside, output);
  }

 private:
  static constexpr int cpu_chunk = 256;

  /// The extension for the prefilter of samples with a margin, as in SciPy: reflect for repeated
  /// edge samples, and mirror for a fill value.
  static constexpr backend::Extension filter_extension(backend::Extension extension) {
    if (extension == backend::Extension::clamp) return backend::Extension::reflect;
    return extension == backend::Extension::fill ? backend::Extension::mirror : extension;
  }

  [[nodiscard]] KernelOptions options(const DeviceContext& context) const {
    return KernelOptions().set("GROUP", group_).set("CHUNK", is_cpu(context) ? cpu_chunk : CHUNK);
  }

  template <class Coefficients>
  void filter(backend::Queue& queue, const backend::Memory& images, Coefficients& coefficients) {
    const Shape& shape = spec_.images.shape;
    const double second = poles_.size() > 1 ? poles_[1] : 0.0;
    const std::int64_t all = spec_.images.stacked().pixels();
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

  template <class Source>
  void evaluate(backend::Queue& queue, const Source& source, const backend::DoublePoints& points,
                std::uint64_t outside, backend::Memory& output) {
    if (points.coordinates != nullptr) {
      launch(queue, source, points.matrix, *points.coordinates, 1, outside, output);
    } else {
      launch(queue, source, points.matrix, source, 0, outside, output);
    }
  }

  /// `given` is ignored if has_points is 0; any memory will do.
  template <class Source, class Given>
  void launch(backend::Queue& queue, const Source& source, const std::array<double, 16>& m,
              const Given& given, int has_points, std::uint64_t outside, backend::Memory& output) {
    const Shape& in = spec_.images.shape;
    const Shape& out = spec_.output;
    const int is_projective = m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1 ? 1 : 0;
    const WorkGrid grid{groups_, 1, {group_}};
    const auto run = [&](auto& kernel, int kind, auto beyond) {
      kernel.launch(queue, grid, source, kind, static_cast<int>(spec_.boundary), extension_,
                    spec_.images.dimensions, static_cast<int>(in.width),
                    static_cast<int>(in.height), static_cast<int>(in.depth),
                    static_cast<int>(spec_.images.count), static_cast<double>(spec_.margin),
                    static_cast<int>(out.width), static_cast<int>(out.height), points_, given,
                    has_points, is_projective, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8],
                    m[9], m[10], m[11], m[12], m[13], m[14], m[15], beyond, output);
    };
    if (spec_.degree == 0) {
      run(copy_, static_cast<int>(size_of(spec_.pixels)), outside);
    } else {
      run(evaluate_, spec_.degree, std::bit_cast<double>(outside));
    }
  }

  DoubleSplineSpec spec_;
  int extension_, filter_extension_;
  std::vector<double> poles_;
  int group_;
  std::uint64_t points_;
  std::int64_t groups_;
  WA_LAUNCHER_OF(copy_nearest) copy_;
  WA_LAUNCHER_OF(evaluate_double) evaluate_;
  WA_LAUNCHER_OF(prefilter_double) prefilter_;
  std::optional<StageScratch> coefficients_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleSpline> make(DeviceContext& context,
                                            const backend::DoubleSpline::Setup& setup) {
  return std::make_unique<DoubleSplineStage>(context, setup);
}

}  // namespace warpalign::WA_BACKEND
