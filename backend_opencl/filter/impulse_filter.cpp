// Stage: detect impulse noise and replace it.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "impulse_filter";

class ImpulseFilter final : public backend::ImpulseFilter {
 public:
  ImpulseFilter(Context& context, const ImpulseFilterSpec& spec)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        group_(reduction_group(context)),
        grid_(covering(context, width_, height_)),
        extremes_(context, stage, kernels::impulse_filter, "row_extremes", options(spec)),
        isolated_(context, stage, kernels::impulse_filter, "row_isolated", options(spec)),
        fill_(context, stage, kernels::impulse_filter, "impulse_filter", options(spec)) {}

  void enqueue_extremes(backend::Queue& queue, const backend::Memory& input, int step,
                        backend::Memory& rows) override {
    extremes_.launch(queue_of(queue), rows_grid(step), input, width_, cl_int{step}, rows);
  }

  void enqueue_isolated(backend::Queue& queue, const backend::Memory& input, int step,
                        const ImpulseStatistics& impulse_statistics,
                        backend::Memory& rows) override {
    isolated_.launch(queue_of(queue), rows_grid(step), input, width_, height_, cl_int{step},
                     impulse_statistics.lowest, impulse_statistics.highest, rows);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const ImpulseStatistics& impulse_statistics, backend::Memory& output) override {
    fill_.launch(queue_of(queue), grid_, input, width_, height_, impulse_statistics.lowest,
                 impulse_statistics.highest, output);
  }

 private:
  [[nodiscard]] std::string options(const ImpulseFilterSpec& spec) const {
    const std::string type = spec.input == PixelType::u8    ? "-D PIXEL_U8"
                             : spec.input == PixelType::u16 ? "-D PIXEL_U16"
                                                            : "-D PIXEL_F32";
    return type + " -D GROUP=" + std::to_string(group_);
  }
  [[nodiscard]] Grid rows_grid(int step) const {
    const auto rows = static_cast<std::size_t>((height_ + step - 1) / step);
    return {{rows * group_, 1}, {group_, 1}};
  }

  cl_int width_, height_;
  std::size_t group_;
  Grid grid_;
  Kernel extremes_, isolated_, fill_;
};

}  // namespace

template <>
std::unique_ptr<backend::ImpulseFilter> make(Context& context, const ImpulseFilterSpec& spec) {
  return std::make_unique<ImpulseFilter>(context, spec);
}

}  // namespace warpalign::opencl
