// Stage: normalize brightness and contrast locally.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "filter/axis_tables.hpp"
#include "filter/cpu/separable_simd.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "local_normalization";

class LocalNormalization final : public backend::LocalNormalization {
 public:
  LocalNormalization(Context& context, const LocalNormalizationSpec& spec,
                     const backend::PlaneWeights& weights, std::int64_t rows_of_image)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        rows_of_image_(extent(rows_of_image, context.call_site(stage))),
        x_(context, weights.x, stage),
        y_(context, weights.y, stage),
        simd_(context.has_vectors()),
        moments_(make_buffer(context, bytes_of_moments(spec), stage)),
        grid_(simd_ ? separable_column_blocks(width_, height_)
                    : covering(context, width_, height_)),
        sum_(context, stage, text(), "local_moments", options_for(spec)),
        normalized_(context, stage, text(), "normalize_locally", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory* weight,
               const backend::KnownLevels& levels, backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    const AxisTable& before = simd_ ? y_ : x_;
    const AxisTable& after = simd_ ? x_ : y_;
    const auto run = [&](const auto& first_level, const auto& second_level, const auto&... images) {
      sum_.launch(commands, grid_, images..., width_, height_, first_level, second_level,
                  before.first, before.weights, before.taps, moments_);
      normalized_.launch(commands, grid_, images..., width_, height_, first_level, second_level,
                         after.first, after.weights, after.taps, moments_, output);
    };
    if (levels.of_each != nullptr) return run(rows_of_image_, *levels.of_each, input);
    const auto& [mean, floor_square] = levels.of_all;
    if (weight == nullptr) return run(mean, floor_square, input);
    run(mean, floor_square, input, *weight);
  }

 private:
  static std::string options_for(const LocalNormalizationSpec& spec) {
    if (spec.by_image) return "-D BY_IMAGE";
    return spec.masked ? "-D MASKED" : "";
  }

  [[nodiscard]] std::string_view text() const {
    return simd_ ? kernels::local_normalization_cpu : kernels::local_normalization;
  }
  [[nodiscard]] std::size_t bytes_of_moments(const LocalNormalizationSpec& spec) const {
    if (simd_) return separable_bytes(width_, height_, spec.masked ? 3 : 2);
    return static_cast<std::size_t>(spec.shape.plane()) * sizeof(cl_float4);
  }

  cl_int width_, height_, rows_of_image_;
  AxisTable x_, y_;
  bool simd_;  // on CPUs with vectors: sixteen values at a time, columns first
  Handle<cl_mem> moments_;
  Grid grid_;
  Kernel sum_, normalized_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::LocalNormalization> make(Context& context,
                                                  const backend::LocalNormalization::Setup& setup) {
  const auto& [spec, weights, rows_of_image] = setup;
  return std::make_unique<LocalNormalization>(context, spec, weights, rows_of_image);
}

}  // namespace warpalign::opencl
