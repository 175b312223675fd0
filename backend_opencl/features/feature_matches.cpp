// Stage: for each feature of one image, the most similar feature of another image.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "formulas/features.h"

#include <warpalign/backend/stages/features/feature_matches.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "feature_matches";
constexpr std::size_t tile_items = 16;
constexpr std::size_t max_group = 64;
constexpr std::int64_t features_per_block = 128;  // of a work-item, on CPUs

class FeatureMatches final : public backend::FeatureMatches {
 public:
  FeatureMatches(Context& context, const FeatureMatchesSpec& spec)
      : simd_(context.has_vectors()),
        group_(simd_ ? 1 : std::min(max_group, reduction_group(context))),
        max_ratio_(spec.max_ratio),
        best_(context, stage, text(), "best_of_slices", options()),
        nearest_(context, stage, text(), "nearest_features", options()) {}

  void enqueue(backend::Queue& queue, const backend::DescribedFeatures& reference,
               const backend::DescribedFeatures& moving, const backend::Memory& moving_positions,
               float apart, backend::Memory& best_of_slices, backend::Memory& nearest) override {
    const cl_command_queue commands = queue_of(queue);
    const auto references = static_cast<cl_int>(reference.count);
    const auto movings = static_cast<cl_int>(moving.count);
    const auto slices = static_cast<cl_int>(backend::slices_of(moving.count));
    best_.launch(commands, over_products(reference.count, moving.count), reference.descriptors,
                 references, moving.descriptors, movings, slices, best_of_slices);
    const Grid over_features{{static_cast<std::size_t>(references) * group_, 1}, {group_, 1}};
    nearest_.launch(commands, over_features, reference.descriptors, moving.descriptors, movings,
                    moving_positions, apart, max_ratio_, slices, best_of_slices, nearest);
  }

 private:
  [[nodiscard]] std::string_view text() const {
    return simd_ ? kernels::feature_matches_cpu : kernels::feature_matches;
  }
  [[nodiscard]] std::string options() const {
    return simd_ ? "" : int_option("GROUP", static_cast<int>(group_));
  }
  [[nodiscard]] Grid over_products(std::int64_t references, std::int64_t movings) const {
    if (simd_) {
      return {{static_cast<std::size_t>(backend::slices_of(movings)),
               static_cast<std::size_t>(divide_up(references, features_per_block))},
              {1, 1}};
    }
    const auto items_over = [](std::int64_t count) {
      return static_cast<std::size_t>(divide_up(count, WA_FEATURES_OF_TILE)) * tile_items;
    };
    return {{items_over(movings), items_over(references)}, {tile_items, tile_items}};
  }

  bool simd_;
  std::size_t group_;
  cl_float max_ratio_;
  Kernel best_, nearest_;
};

}  // namespace

template <>
std::unique_ptr<backend::FeatureMatches> make(Context& context, const FeatureMatchesSpec& spec) {
  return std::make_unique<FeatureMatches>(context, spec);
}

}  // namespace warpalign::opencl
