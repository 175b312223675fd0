// Stage: the number of overlapping pixels at every shift, for images of which one has no mask.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/overlap.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>

namespace warpalign::cuda {
namespace {

#define LINES 8
#define LANES 32
#define MAX_EXTENT 512
#include "shared/overlap_counts.cl"
static_assert(MAX_EXTENT == backend::max_overlap_counts_extent);

class OverlapCountsStage final : public backend::OverlapCounts {
 public:
  OverlapCountsStage(const Context& context, const OverlapCountsSpec& spec)
      : site_{context, "overlap_counts"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        is_first_(spec.rectangle_is_first ? 1 : 0),
        batch_(static_cast<unsigned>(spec.batch)),
        sums_(site_, static_cast<std::size_t>(spec.image.plane() * spec.batch) * sizeof(unsigned)),
        scratch_guard_(site_) {
    load(&overlap_columns, site_);
    load(&overlap_rows, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& weights, const Shape& rectangle,
               backend::Memory& overlaps) override {
    const auto columns = static_cast<int>(rectangle.width);
    const auto rows = static_cast<int>(rectangle.height);
    const auto scale = static_cast<float>(width_ * height_);
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_dependent(site_, queue, grid(width_), dim3(LINES, LANES), &overlap_columns,
                 data<float>(weights), width_, height_, rows, sums_.as<unsigned>());
    launch_dependent(site_, queue, grid(height_), dim3(LANES, LINES), &overlap_rows,
                 sums_.as<const unsigned>(), width_, height_, columns, rows, is_first_, scale,
                 data<float>(overlaps));
  }

 private:
  [[nodiscard]] dim3 grid(int n) const {
    return {static_cast<unsigned>(divide_up(n, LINES)), batch_};
  }

  CallSite site_;
  int width_, height_, is_first_;
  unsigned batch_;
  DeviceMemory sums_;  // over columns of the rectangle
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapCounts> make(const Context& context,
                                             const OverlapCountsSpec& spec) {
  return std::make_unique<OverlapCountsStage>(context, spec);
}

}  // namespace warpalign::cuda
