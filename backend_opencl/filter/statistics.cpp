// Stage: mean, minimum, maximum and number of non-finite pixels of an image or its gradient, by a
// two-stage reduction.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/stages/sobel.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "statistics";
constexpr std::size_t partial_bytes = 20;  // Partial in statistics.cl

static_assert(sizeof(StatisticsRecord) == 16, "the kernel writes four words");

class Statistics final : public backend::Statistics {
 public:
  Statistics(Context& context, const StatisticsSpec& spec)
      : pixels_(static_cast<cl_ulong>(spec.shape.pixels())),
        width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        of_gradient_(spec.signal == Signal::gradient),
        group_(reduction_group(context)),
        groups_(reduction_groups(context, spec.shape.pixels())),
        partials_(make_buffer(context, groups_ * partial_bytes, stage)),
        first_(context, stage, kernels::statistics,
               of_gradient_ ? "gradient_partial" : "statistics_partial", options(spec)),
        second_(context, stage, kernels::statistics, "statistics_final", options(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& record) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    const Grid grid{{groups_ * group_, 1}, {group_, 1}};
    if (of_gradient_) {
      first_.launch(commands, grid, input, width_, height_, partials_);
    } else {
      first_.launch(commands, grid, input, pixels_, partials_);
    }
    second_.launch(commands, {{group_, 1}, {group_, 1}}, partials_, static_cast<cl_uint>(groups_),
                   pixels_, record);
  }

 private:
  [[nodiscard]] std::string options(const StatisticsSpec& spec) const {
    const std::string pixels = of_gradient_
                                   ? signal_options(spec.input, spec.signal, spec.shape.width)
                                   : pixel_option(spec.input);
    return "-D GROUP=" + std::to_string(group_) + pixels;
  }

  cl_ulong pixels_;
  cl_int width_, height_;
  bool of_gradient_;
  std::size_t group_, groups_;
  Handle<cl_mem> partials_;
  Kernel first_, second_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Statistics> make(Context& context, const StatisticsSpec& spec) {
  return std::make_unique<Statistics>(context, spec);
}

}  // namespace warpalign::opencl
