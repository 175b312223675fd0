// Stage: the common area of two images, in zero-padded frames, and the moments of its texture.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/common_frames.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/common_frames.hpp>

namespace warpalign::cuda {
namespace {

#define ROWS 8
#define COLUMNS 32
#define TILE_ROWS 16
#define MOMENT_ROWS 64
#include "shared/common_frames.cl"
static_assert(WA_COMMON_SUMS == backend::common_sum_count);

class CommonFramesStage final : public backend::CommonFrames {
 public:
  CommonFramesStage(const Context& context, const CommonFramesSpec& spec)
      : site_{context, "common_frames"},
        width_(extent(spec.frame.width, site_)),
        height_(extent(spec.frame.height, site_)),
        grid_(grid(width_, height_, TILE_ROWS)),
        moments_(site_,
                 WA_COMMON_MOMENTS * count(grid(width_, height_, MOMENT_ROWS)) * sizeof(float)),
        scratch_guard_(site_) {
    load(&common_moments, site_);
    load(&common_frames, site_);
  }

  [[nodiscard]] std::size_t groups() const noexcept override { return count(grid_); }

  void enqueue(backend::Queue& queue, const backend::CommonFramesMemory& memory,
               const backend::CommonFramesTerms& terms, std::int64_t result,
               backend::Memory& partials) override {
    const auto* reference = data<float>(memory.reference);
    const auto* reference_second = data<float>(memory.reference_second);
    const auto* moving = data<float>(memory.moving);
    const auto* moving_second = data<float>(memory.moving_second);
    const auto* reference_weight = data<float>(memory.reference_weight);
    const auto* moving_weight = data<float>(memory.moving_weight);
    const Source from_reference = source_of(terms.reference);
    const Source from_weight = source_of(terms.reference_weight);
    const int pitch = source_of(terms.moving).pitch;
    const auto width = static_cast<int>(terms.part.width);
    const auto height = static_cast<int>(terms.part.height);
    const dim3 tiles = grid(width, height, MOMENT_ROWS);
    const dim3 block(COLUMNS, ROWS);
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_dependent(site_, queue, tiles, block, &common_moments, reference, reference_second, moving,
                 moving_second, reference_weight, moving_weight, from_reference.pitch,
                 from_reference.first, from_weight.pitch, from_weight.first, pitch, width, height,
                 static_cast<int>(tiles.x), static_cast<int>(count(tiles)), moments_.as<float>());
    launch_dependent(
        site_, queue, grid_, block, &common_frames, reference, reference_second, moving,
        moving_second, reference_weight, moving_weight, from_reference.pitch, from_reference.first,
        from_weight.pitch, from_weight.first, pitch, width, height, terms.channels, terms.cosine,
        terms.sine, moments_.as<const float>(), static_cast<int>(count(tiles)), width_, height_,
        static_cast<int>(terms.first_slice), data<float>(memory.reference_frames),
        data<float>(memory.moving_frames), static_cast<int>(grid_.x), static_cast<int>(groups()),
        static_cast<int>(result) * WA_COMMON_SUMS, data<float>(partials));
  }

 private:
  struct Source {
    int pitch, first;
  };
  [[nodiscard]] Source source_of(const backend::CommonSource& source) const {
    return {extent(source.pitch, site_), extent(source.first, site_)};
  }
  static dim3 grid(int width, int height, int rows) {
    return {static_cast<unsigned>(divide_up(width, COLUMNS)),
            static_cast<unsigned>(divide_up(height, rows))};
  }
  static std::size_t count(const dim3& grid) { return std::size_t{grid.x} * grid.y; }

  CallSite site_;
  int width_, height_;
  dim3 grid_;
  DeviceMemory moments_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::CommonFrames> make(const Context& context, const CommonFramesSpec& spec) {
  return std::make_unique<CommonFramesStage>(context, spec);
}

}  // namespace warpalign::cuda
