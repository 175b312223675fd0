// Stage: the sums for one Gauss-Newton step on the similarity of each of many frames.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "frame_sums";

// On CPUs with vectors a work-item does what a group does on GPUs.
std::size_t group_for(const Context& context) { return context.has_vectors() ? 1 : 64; }

std::string options_for(const Context& context) {
  if (context.has_vectors()) return {};
  return int_option("GROUP", static_cast<int>(group_for(context)));
}

class FrameSums final : public backend::FrameSums {
 public:
  FrameSums(Context& context, const FrameSumsSpec& spec)
      : width_(extent(spec.frame.width, context.call_site(stage))),
        height_(extent(spec.frame.height, context.call_site(stage))),
        cells_(extent(spec.cells, context.call_site(stage))),
        group_(group_for(context)),
        items_(group_ * static_cast<std::size_t>(spec.cells * spec.frames)),
        kernel_(context, stage,
                context.has_vectors() ? kernels::frame_sums_cpu : kernels::frame_sums, "frame_sums",
                options_for(context)) {}

  void enqueue(backend::Queue& queue, const backend::FrameSumsMemory& memory,
               backend::Memory& partials) override {
    kernel_.launch(queue_of(queue), {{items_, 1}, {group_, 1}}, memory.frames, memory.reference,
                   width_, height_, cells_, memory.states, partials);
  }

 private:
  cl_int width_, height_, cells_;
  std::size_t group_, items_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::FrameSums> make(Context& context, const FrameSumsSpec& spec) {
  return std::make_unique<FrameSums>(context, spec);
}

}  // namespace warpalign::opencl
