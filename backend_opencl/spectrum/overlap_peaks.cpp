// Stage: the peaks of correlation surfaces, scored by overlap, by a two-stage reduction.
#include "device/kernel.hpp"
#include "device/parameter_upload.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "overlap_peaks";
constexpr std::size_t partial_bytes = 8;  // Best in lib/peaks.h

static_assert(sizeof(PeakRecord) == 48, "the kernel writes twelve words");
static_assert(sizeof(OverlapLimits) == 40, "the kernel reads ten floats");
static_assert(sizeof(backend::OutlineEdges) == 40, "the kernel reads ten floats, WaOutline");

/// How the first stage divides a surface among its work-groups.
struct Shares {
  cl_int rows;  ///< per work-item, on CPUs with vectors
  std::size_t groups;
};

Shares shares_of(const Context& context, const Shape& surface) {
  if (!context.has_vectors()) return {0, reduction_groups(context, surface.plane())};
  const std::int64_t rows =
      std::clamp<std::int64_t>(WA_PEAK_SHARE / surface.width, 1, surface.height);
  return {static_cast<cl_int>(rows), static_cast<std::size_t>((surface.height + rows - 1) / rows)};
}

/// A table on the device that is copied only if it differs from the last one: searches use the same
/// limits again and again. The caller orders the uses of the table.
template <class Entry>
class KeptTable {
 public:
  KeptTable(const Context& context, std::size_t most)
      : upload_(context, most * sizeof(Entry), stage) {
    uploaded_.reserve(most);
  }

  cl_mem of(cl_command_queue queue, std::span<const Entry> entries) {
    if (std::equal(entries.begin(), entries.end(), uploaded_.begin(), uploaded_.end())) {
      return table_;
    }
    uploaded_.clear();
    upload_.begin();
    for (std::size_t i = 0; i < entries.size(); ++i) upload_.put(i, entries[i]);
    table_ = upload_.enqueue(queue, entries.size_bytes());
    uploaded_.assign(entries.begin(), entries.end());
    return table_;
  }

 private:
  ParameterUpload upload_;
  std::vector<Entry> uploaded_;
  cl_mem table_ = nullptr;
};

class OverlapPeaks final : public backend::OverlapPeaks {
 public:
  OverlapPeaks(Context& context, const OverlapPeaksSpec& spec)
      : width_(extent(spec.surface.width, context.call_site(stage))),
        height_(extent(spec.surface.height, context.call_site(stage))),
        slices_(2 * static_cast<std::size_t>(spec.batch)),
        each_(spec.one_overlap ? 0 : 2),
        has_outlines_(spec.outlines),
        simd_(context.has_vectors()),
        group_(simd_ ? 1 : reduction_group(context)),
        shares_(shares_of(context, spec.surface)),
        limits_(context, static_cast<std::size_t>(spec.batch)),
        partials_(make_buffer(context, shares_.groups * slices_ * partial_bytes, stage)),
        first_(context, stage, source(), "overlap_peaks_partial", options()),
        second_(context, stage, source(), "overlap_peaks_final", options()) {
    if (has_outlines_) outlines_.emplace(context, static_cast<std::size_t>(spec.batch));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& records) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    launch(commands, surfaces, overlaps, each_, limits, records);
  }

  void enqueue_outlines(backend::Queue& queue, const backend::Memory& surfaces,
                        std::span<const backend::OutlineEdges> outlines,
                        std::span<const OverlapLimits> limits, backend::Memory& records) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    launch(commands, surfaces, outlines_->of(commands, outlines), cl_int{1}, limits, records);
  }

 private:
  /// `source`: overlaps or outlines, `each` per image.
  template <class Source>
  void launch(cl_command_queue commands, const backend::Memory& surfaces, const Source& source,
              cl_int each, std::span<const OverlapLimits> limits, backend::Memory& records) {
    const cl_mem table = limits_.of(commands, limits);
    const cl_int own_limits = limits.size() > 1 ? 1 : 0;
    const Grid grid{{shares_.groups * group_, slices_}, {group_, 1}};
    if (simd_) {
      first_.launch(commands, grid, surfaces, source, each, table, own_limits, width_, height_,
                    shares_.rows, partials_);
    } else {
      first_.launch(commands, grid, surfaces, source, each, table, own_limits, width_, height_,
                    partials_);
    }
    second_.launch(commands, {{group_, slices_}, {group_, 1}}, surfaces, source, each, table,
                   own_limits, width_, height_, partials_, static_cast<cl_uint>(shares_.groups),
                   records);
  }

  [[nodiscard]] std::string_view source() const {
    return simd_ ? kernels::overlap_peaks_cpu : kernels::overlap_peaks;
  }
  [[nodiscard]] std::string options() const {
    const std::string group = simd_ ? "" : "-D GROUP=" + std::to_string(group_);
    return group + (has_outlines_ ? " -D OUTLINES" : "");
  }

  cl_int width_, height_;
  std::size_t slices_;
  cl_int each_;  // the number of overlaps per image
  bool has_outlines_;
  bool simd_;
  std::size_t group_;
  Shares shares_;
  KeptTable<OverlapLimits> limits_;
  std::optional<KeptTable<backend::OutlineEdges>> outlines_;
  Handle<cl_mem> partials_;
  Kernel first_, second_;
  ScratchGuard scratch_guard_;  // also orders the uses of the tables
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapPeaks> make(Context& context, const OverlapPeaksSpec& spec) {
  return std::make_unique<OverlapPeaks>(context, spec);
}

}  // namespace warpalign::opencl
