// Stage: the maximum of each slice and the values around it, by a two-stage reduction.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/peak.hpp>

#include <limits>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "peak";
constexpr std::size_t partial_bytes = 8;  // Best in peak.cl

static_assert(sizeof(PeakRecord) == 48, "the kernel writes twelve words");

/// The number of pixels in a slice, for the kernel's 32-bit index; its largest value means "none".
cl_uint plane_of(const PeakSpec& spec, const CallSite& site) {
  if (spec.shape.plane() >= std::numeric_limits<cl_uint>::max()) {
    throw error(ErrorKind::invalid_argument,
                "an image of " + to_string(spec.shape) + " has too many pixels for a peak search",
                site, "search tiles of it");
  }
  return static_cast<cl_uint>(spec.shape.plane());
}

class Peak final : public backend::Peak {
 public:
  Peak(Context& context, const PeakSpec& spec)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        plane_(plane_of(spec, context.call_site(stage))),
        depth_(static_cast<std::size_t>(spec.shape.depth)),
        group_(reduction_group(context)),
        simd_(context.has_vectors()),
        groups_(simd_ ? (plane_ - 1) / WA_PEAK_SHARE + 1
                      : reduction_groups(context, spec.shape.plane())),
        partials_(make_buffer(context, groups_ * depth_ * partial_bytes, stage)),
        first_(context, stage, kernels::peak, "peak_partial", options()),
        second_(context, stage, kernels::peak, "peak_final", options()) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& records) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    const std::size_t items = simd_ ? 1 : group_;
    first_.launch(commands, {{groups_ * items, depth_}, {items, 1}}, input, plane_, partials_);
    second_.launch(commands, {{group_, depth_}, {group_, 1}}, input, width_, height_, partials_,
                   static_cast<cl_uint>(groups_), records);
  }

 private:
  [[nodiscard]] std::string options() const {
    return "-D GROUP=" + std::to_string(group_) + (simd_ ? " -D SIMD" : "");
  }

  cl_int width_, height_;
  cl_uint plane_;
  std::size_t depth_, group_;
  bool simd_;
  std::size_t groups_;
  Handle<cl_mem> partials_;
  Kernel first_, second_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Peak> make(Context& context, const PeakSpec& spec) {
  return std::make_unique<Peak>(context, spec);
}

}  // namespace warpalign::opencl
