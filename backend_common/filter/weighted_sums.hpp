// Stage: weighted sums of neighbouring samples along one axis.
#include "device/common_stage.hpp"

#include "formulas/weighted_sums.h"

#include <warpalign/backend/stages/filter/weighted_sums.hpp>

#include <optional>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "weighted_sums";

#define GROUP 256
#ifdef __CUDACC__
#include "shared/double_sums.cl"
#include "shared/weighted_sums.cl"
#endif

class WeightedSumsStage final : public backend::WeightedSums {
 public:
  WeightedSumsStage(DeviceContext& context, const Setup& setup)
      : outer_(extent(setup.spec.outer, site_of(context, stage))),
        n_input_(extent(setup.spec.n_input, site_of(context, stage))),
        n_output_(extent(setup.spec.n_output, site_of(context, stage))),
        inner_(extent(setup.spec.inner, site_of(context, stage))),
        taps_(setup.taps),
        grid_(grid_of(context, setup.spec)),
        sum_(context, stage, WA_KERNEL_FORMS(weighted_sums, weighted_sums),
             KernelOptions().set("GROUP", grid_.group.columns)) {
    if (!setup.spec.in_double) {
      prepare_columns(context, setup.spec);
      return;
    }
    const int group = group_of_at_most(context, GROUP);
    grid_ = single_numbers(setup.spec, group);
    sum_doubles_.emplace(context, stage, WA_KERNEL_OF(double_sums, weighted_double_sums),
                         KernelOptions().set("GROUP", group));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory& first,
               const backend::Memory& weights, const backend::Memory& added,
               backend::Memory& output) override {
    if (sum_columns_) {
      sum_columns_->launch(queue, grid_, input, n_input_, n_output_, inner_, first, weights, taps_,
                           added, output);
      return;
    }
    const auto sum = [&](auto& kernel) {
      kernel.launch(queue, grid_, input, outer_, n_input_, n_output_, inner_, first, weights, taps_,
                    added, output);
    };
    if (sum_doubles_) {
      sum(*sum_doubles_);
    } else {
      sum(sum_);
    }
  }

 private:
  void prepare_columns(DeviceContext& context, const WeightedSumsSpec& spec) {
    if (has_vectors(context) || spec.inner < WA_SUMS_COLUMN) return;
    const int group = grid_.group.columns;
    grid_ = {
        groups_over(spec.inner, group) * groups_over(spec.n_output, WA_SUMS_AT_ONCE) * spec.outer,
        1,
        {group}};
    sum_columns_.emplace(context, stage, WA_KERNEL_OF(weighted_sums, weighted_column_sums),
                         KernelOptions().set("GROUP", group));
  }

  /// A work-item for each sum.
  static WorkGrid single_numbers(const WeightedSumsSpec& spec, int group) {
    return {groups_over(spec.outer * spec.n_output * spec.inner, group), 1, {group}};
  }

  static WorkGrid grid_of(const DeviceContext& context, const WeightedSumsSpec& spec) {
    if (!has_vectors(context)) return single_numbers(spec, group_of_at_most(context, GROUP));
    if (spec.inner >= WA_SUMS_VECTOR) {
      return {groups_over(spec.inner, WA_SUMS_COLUMNS),
              spec.outer * groups_over(spec.n_output, WA_SUMS_ROWS),
              {}};
    }
    return {
        groups_over(spec.n_output, WA_SUMS_OF_LINE), groups_over(spec.outer, WA_SUMS_LINES), {}};
  }

  int outer_, n_input_, n_output_, inner_, taps_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(weighted_sums) sum_;
  std::optional<WA_LAUNCHER_OF(weighted_column_sums)> sum_columns_;
  std::optional<WA_LAUNCHER_OF(weighted_double_sums)> sum_doubles_;
};

}  // namespace

template <>
std::unique_ptr<backend::WeightedSums> make(DeviceContext& context,
                                            const backend::WeightedSums::Setup& setup) {
  return std::make_unique<WeightedSumsStage>(context, setup);
}

}  // namespace warpalign::WA_BACKEND
