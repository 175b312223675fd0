// Stage: the number of overlapping pixels at every shift, for images of which one has no mask.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "overlap_counts";
constexpr std::size_t lines = 8;       // per work-group
constexpr std::size_t max_lanes = 32;  // that work on one line
constexpr std::size_t vector = 16;

class OverlapCounts final : public backend::OverlapCounts {
 public:
  OverlapCounts(Context& context, const OverlapCountsSpec& spec)
      : width_(extent(spec.image.width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        is_first_(spec.rectangle_is_first ? 1 : 0),
        batch_(static_cast<std::size_t>(spec.batch)),
        simd_(context.has_vectors()),
        lanes_(std::clamp<std::size_t>(reduction_group(context) / lines, 1, max_lanes)),
        sums_(make_buffer(
            context, static_cast<std::size_t>(spec.image.plane() * spec.batch) * sizeof(cl_uint),
            stage)),
        down_(kernel(context, "overlap_columns")),
        along_(kernel(context, "overlap_rows")) {}

  void enqueue(backend::Queue& queue, const backend::Memory& weights, const Shape& rectangle,
               backend::Memory& overlaps) override {
    const cl_command_queue commands = queue_of(queue);
    const auto columns = static_cast<cl_int>(rectangle.width);
    const auto rows = static_cast<cl_int>(rectangle.height);
    const auto scale = static_cast<cl_float>(width_ * height_);
    scratch_guard_.enter(commands, stage);
    if (simd_) {
      const LocalMemory before{2 * (static_cast<std::size_t>(width_) + vector) * sizeof(cl_uint)};
      down_.launch(commands, grid(width_, WA_OVERLAP_VECTORS * vector), weights, width_, height_,
                   rows, sums_);
      return along_.launch(commands, grid(height_, vector), sums_, width_, height_, columns, rows,
                           is_first_, scale, before, overlaps);
    }
    down_.launch(commands, grid_of_lines(width_, {lines, lanes_}), weights, width_, height_, rows,
                 sums_);
    along_.launch(commands, grid_of_lines(height_, {lanes_, lines}), sums_, width_, height_,
                  columns, rows, is_first_, scale, overlaps);
  }

 private:
  [[nodiscard]] Kernel kernel(Context& context, const char* name) const {
    if (simd_) return {context, stage, kernels::overlap_counts_cpu, name};
    return {context, stage, kernels::overlap_counts, name,
            int_option("LINES", static_cast<int>(lines)) +
                int_option("LANES", static_cast<int>(lanes_)) +
                int_option("MAX_EXTENT", static_cast<int>(backend::max_overlap_counts_extent))};
  }

  /// One work-item for each `of_item` lines of an image.
  [[nodiscard]] Grid grid(cl_int n, std::size_t of_item) const {
    return {{rounded_up(n, of_item) / of_item, batch_}, {1, 1}};
  }
  /// One work-group for a few lines of an image.
  [[nodiscard]] Grid grid_of_lines(cl_int n, const std::array<std::size_t, 2>& group) const {
    const std::size_t groups = rounded_up(n, lines) / lines;
    return {{groups * group[0], batch_ * group[1]}, group};
  }

  cl_int width_, height_, is_first_;
  std::size_t batch_;
  bool simd_;
  std::size_t lanes_;
  Handle<cl_mem> sums_;  // over columns of the rectangle
  Kernel down_, along_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapCounts> make(Context& context, const OverlapCountsSpec& spec) {
  return std::make_unique<OverlapCounts>(context, spec);
}

}  // namespace warpalign::opencl
