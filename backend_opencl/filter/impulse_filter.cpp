// Stage: impulse noise found and filled.
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "despeckle";

class Despeckle final : public backend::Despeckle {
 public:
  Despeckle(OpenedDevice& device, const DespeckleSpec& spec)
      : width_(to_int(spec.shape.width, device.place(stage))),
        height_(to_int(spec.shape.height, device.place(stage))),
        group_(reduction_group(device)),
        grid_(covering(device, width_, height_)),
        extremes_(device, stage, kernels::impulse_filter, "row_extremes", options(spec)),
        isolated_(device, stage, kernels::impulse_filter, "row_isolated", options(spec)),
        fill_(device, stage, kernels::impulse_filter, "despeckle", options(spec)) {}

  void enqueue_extremes(backend::Queue& queue, const backend::Memory& input, int step,
                        backend::Memory& rows) override {
    extremes_.launch(queue_of(queue), rows_grid(step), input, width_, cl_int{step}, rows);
  }

  void enqueue_isolated(backend::Queue& queue, const backend::Memory& input, int step,
                        const SpeckleCensus& census, backend::Memory& rows) override {
    isolated_.launch(queue_of(queue), rows_grid(step), input, width_, height_, cl_int{step},
                     census.lowest, census.highest, rows);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const SpeckleCensus& census,
               backend::Memory& output) override {
    fill_.launch(queue_of(queue), grid_, input, width_, height_, census.lowest, census.highest,
                 output);
  }

 private:
  [[nodiscard]] std::string options(const DespeckleSpec& spec) const {
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
std::unique_ptr<backend::Despeckle> make(OpenedDevice& device, const DespeckleSpec& spec) {
  return std::make_unique<Despeckle>(device, spec);
}

}  // namespace warpalign::opencl
