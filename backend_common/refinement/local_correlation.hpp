// Stage: the normalised correlation of two volumes within windows, and its derivatives.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/refinement/local_correlation.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "local_correlation";

#define COLUMNS 128
#ifdef __CUDACC__
#include "shared/local_correlation.cl"
#endif

class LocalCorrelationStage final : public backend::LocalCorrelation {
 public:
  LocalCorrelationStage(DeviceContext& context, const LocalCorrelationSpec& spec)
      : site_(site_of(context, stage)),
        voxels_(extents_of(spec.voxels, site_)),
        rows_(voxels_.height * voxels_.depth),
        x_(spec.radius[0]),
        y_(spec.radius[1]),
        z_(spec.radius[2]),
        any_sign_(spec.any_sign ? 1 : 0),
        group_{row_group(context, COLUMNS)},
        options_(KernelOptions().set("COLUMNS", group_.columns)),
        products_(context, stage, WA_KERNEL_OF(local_correlation, correlation_products), options_),
        across_(context, stage, WA_KERNEL_OF(local_correlation, correlation_across), options_),
        along_(context, stage, WA_KERNEL_OF(local_correlation, correlation_along), options_),
        statistics_(context, stage, WA_KERNEL_OF(local_correlation, correlation_statistics),
                    options_),
        precisions_(context, stage, WA_KERNEL_OF(local_correlation, correlation_precisions),
                    options_),
        curvatures_(context, stage, WA_KERNEL_OF(local_correlation, correlation_curvatures),
                    options_),
        factors_(context, stage, WA_KERNEL_OF(local_correlation, correlation_factors), options_),
        forces_(context, stage, WA_KERNEL_OF(local_correlation, correlation_forces), options_),
        noise_(context, stage, WA_KERNEL_OF(local_correlation, correlation_noise), options_),
        first_(context, stage, bytes()),
        second_(context, stage, bytes()) {}

  void enqueue_statistics(backend::Queue& queue, const backend::Memory& reference, float floor,
                          backend::Memory& statistics) override {
    auto& first = first_.enter(queue);
    products_.launch(queue, rows(1), reference, reference, voxels_.width, x_, rows_, first);
    const auto compute = [&](auto& sums) {
      statistics_.launch(queue, rows(1), sums, voxels_.width, voxels_.height, voxels_.depth, x_, y_,
                         z_, floor, statistics);
    };
    if (!in_space()) return compute(first);
    auto& second = second_.enter(queue);
    along_.launch(queue, rows(2), first, voxels_.width, 1, voxels_.height, y_, second);
    compute(second);
  }

  void enqueue_curvatures(backend::Queue& queue, const backend::Memory& reference,
                          const backend::Memory& statistics, CurvatureEntries entries,
                          backend::Memory& curvatures) override {
    auto& first = first_.enter(queue);
    auto& second = second_.enter(queue);
    precisions_.launch(queue, rows(1), statistics, voxels_.width, voxels_.height, voxels_.depth, x_,
                       y_, z_, first);
    across_.launch(queue, rows(1), first, voxels_.width, x_, second);
    const auto compute = [&](auto& weights) {
      curvatures_.launch(queue, rows(1), reference, weights, voxels_.width, voxels_.height,
                         voxels_.depth, last_radius(), entries == CurvatureEntries::of_x ? 1 : 0,
                         curvatures);
    };
    if (!in_space()) return compute(second);
    along_.launch(queue, rows(1), second, voxels_.width, 1, voxels_.height, y_, first);
    compute(first);
  }

  void enqueue_forces(backend::Queue& queue, const backend::Memory& reference,
                      const backend::Memory& statistics, const backend::Memory& samples,
                      float floor, backend::Memory& partials, backend::Memory& forces) override {
    auto& first = first_.enter(queue);
    auto& second = second_.enter(queue);
    products_.launch(queue, rows(1), reference, samples, voxels_.width, x_, rows_, first);
    const auto factors = [&](auto& sums, auto& to) {
      factors_.launch(queue, rows(1), sums, statistics, samples, voxels_.width, voxels_.height,
                      voxels_.depth, x_, y_, z_, floor, any_sign_, to, partials);
    };
    const auto compute = [&](auto& sums) {
      forces_.launch(queue, rows(1), reference, samples, sums, voxels_.width, voxels_.height,
                     voxels_.depth, last_radius(), forces);
    };
    if (!in_space()) {
      factors(first, second);
      across_.launch(queue, rows(3), second, voxels_.width, x_, first);
      return compute(first);
    }
    along_.launch(queue, rows(3), first, voxels_.width, 1, voxels_.height, y_, second);
    factors(second, first);
    across_.launch(queue, rows(3), first, voxels_.width, x_, second);
    along_.launch(queue, rows(3), second, voxels_.width, 1, voxels_.height, y_, first);
    compute(first);
  }

  void enqueue_noise_samples(backend::Queue& queue, const backend::Memory& image,
                             const Shape& shape, std::int64_t every, std::int64_t count,
                             backend::Memory& samples) override {
    constexpr int share = 256;  // samples of a work-group
    const Extents extents = extents_of(shape, site_);
    noise_.launch(queue, WorkGrid{groups_over(count, share), 1, group_}, image, extents.width,
                  extents.height, extents.depth, static_cast<int>(every), static_cast<int>(count),
                  share, samples);
  }

 private:
  [[nodiscard]] bool in_space() const { return voxels_.depth > 1; }
  [[nodiscard]] int last_radius() const { return in_space() ? z_ : y_; }
  [[nodiscard]] WorkGrid rows(int volumes) const {
    return {std::int64_t{volumes} * rows_, 1, group_};
  }
  [[nodiscard]] std::size_t bytes() const {
    return std::size_t{4} * static_cast<std::size_t>(rows_) *
           static_cast<std::size_t>(voxels_.width) * sizeof(float);
  }

  CallSite site_;
  Extents voxels_;
  int rows_, x_, y_, z_, any_sign_;
  WorkGroup group_;
  KernelOptions options_;
  WA_LAUNCHER_OF(correlation_products) products_;
  WA_LAUNCHER_OF(correlation_across) across_;
  WA_LAUNCHER_OF(correlation_along) along_;
  WA_LAUNCHER_OF(correlation_statistics) statistics_;
  WA_LAUNCHER_OF(correlation_precisions) precisions_;
  WA_LAUNCHER_OF(correlation_curvatures) curvatures_;
  WA_LAUNCHER_OF(correlation_factors) factors_;
  WA_LAUNCHER_OF(correlation_forces) forces_;
  WA_LAUNCHER_OF(correlation_noise) noise_;
  StageScratch first_, second_;
};

}  // namespace

template <>
std::unique_ptr<backend::LocalCorrelation> make(DeviceContext& context,
                                                const LocalCorrelationSpec& spec) {
  return std::make_unique<LocalCorrelationStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
