// Stage: the peaks of correlation surfaces that are scored by the overlap, by a two-stage
// reduction.
#include "device/kernel.hpp"
#include "device/parameter_upload.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "overlap_peaks";
constexpr std::size_t partial_bytes = 8;  // Best in lib/peaks.h

static_assert(sizeof(PeakRecord) == 48, "the kernel writes twelve words");
static_assert(sizeof(OverlapLimits) == 24, "the kernel reads six floats");

/// How the first stage divides a surface.
struct Shares {
  cl_int rows;  ///< of a work-item on CPUs with vectors
  std::size_t groups;
};

Shares shares_of(const Context& context, const Shape& surface) {
  if (!context.has_vectors()) return {0, reduction_groups(context, surface.plane())};
  const std::int64_t rows =
      std::clamp<std::int64_t>(WA_PEAK_SHARE / surface.width, 1, surface.height);
  return {static_cast<cl_int>(rows), static_cast<std::size_t>((surface.height + rows - 1) / rows)};
}

class OverlapPeaks final : public backend::OverlapPeaks {
 public:
  OverlapPeaks(Context& context, const OverlapPeaksSpec& spec)
      : width_(extent(spec.surface.width, context.call_site(stage))),
        height_(extent(spec.surface.height, context.call_site(stage))),
        slices_(2 * static_cast<std::size_t>(spec.batch)),
        each_(spec.one_overlap ? 0 : 2),
        simd_(context.has_vectors()),
        group_(simd_ ? 1 : reduction_group(context)),
        shares_(shares_of(context, spec.surface)),
        limits_(context, static_cast<std::size_t>(spec.batch) * sizeof(OverlapLimits), stage),
        partials_(make_buffer(context, shares_.groups * slices_ * partial_bytes, stage)),
        first_(context, stage, source(), "overlap_peaks_partial", options()),
        second_(context, stage, source(), "overlap_peaks_final", options()) {
    uploaded_.reserve(static_cast<std::size_t>(spec.batch));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& records) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    upload(commands, limits);
    const cl_int own_limits = limits.size() > 1 ? 1 : 0;
    const Grid grid{{shares_.groups * group_, slices_}, {group_, 1}};
    if (simd_) {
      first_.launch(commands, grid, surfaces, overlaps, each_, table_, own_limits, width_, height_,
                    shares_.rows, partials_);
    } else {
      first_.launch(commands, grid, surfaces, overlaps, each_, table_, own_limits, width_, height_,
                    partials_);
    }
    second_.launch(commands, {{group_, slices_}, {group_, 1}}, surfaces, overlaps, each_, table_,
                   own_limits, width_, height_, partials_, static_cast<cl_uint>(shares_.groups),
                   records);
  }

 private:
  [[nodiscard]] std::string_view source() const {
    return simd_ ? kernels::overlap_peaks_cpu : kernels::overlap_peaks;
  }
  [[nodiscard]] std::string options() const {
    return simd_ ? "" : "-D GROUP=" + std::to_string(group_);
  }

  // Searches use the same limits again and again. The guard of the scratch memory orders the
  // table's uses, too.
  void upload(cl_command_queue queue, std::span<const OverlapLimits> limits) {
    if (std::equal(limits.begin(), limits.end(), uploaded_.begin(), uploaded_.end())) return;
    uploaded_.clear();
    limits_.begin();
    for (std::size_t i = 0; i < limits.size(); ++i) limits_.put(i, limits[i]);
    table_ = limits_.enqueue(queue, limits.size_bytes());
    uploaded_.assign(limits.begin(), limits.end());
  }

  cl_int width_, height_;
  std::size_t slices_;
  cl_int each_;  // overlaps that an image has of its own
  bool simd_;
  std::size_t group_;
  Shares shares_;
  ParameterUpload limits_;
  std::vector<OverlapLimits> uploaded_;
  cl_mem table_ = nullptr;
  compute::buffer partials_;
  Kernel first_, second_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapPeaks> make(Context& context, const OverlapPeaksSpec& spec) {
  return std::make_unique<OverlapPeaks>(context, spec);
}

}  // namespace warpalign::opencl
