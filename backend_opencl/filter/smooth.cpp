// Stage: separable Gaussian smoothing, sampled on a separate output grid.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "filter/axis_tables.hpp"
#include "filter/cpu/separable_simd.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "smooth";

std::string options_for(const SmoothSpec& spec) {
  const std::string type = spec.input == PixelType::u8    ? "-D PIXEL_U8"
                           : spec.input == PixelType::u16 ? "-D PIXEL_U16"
                                                          : "-D PIXEL_F32";
  return spec.masked ? type + " -D MASKED" : type;
}

class Smooth final : public backend::Smooth {
 public:
  Smooth(Context& context, const SmoothSpec& spec, const backend::PlaneWeights& weights)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        height_(extent(spec.shape.height, context.call_site(stage))),
        columns_(extent(spec.output.width, context.call_site(stage))),
        rows_(extent(spec.output.height, context.call_site(stage))),
        x_(context, weights.x, stage),
        y_(context, weights.y, stage),
        between_(make_buffer(context,
                             static_cast<std::size_t>(spec.output.width * spec.shape.height) *
                                 (spec.masked ? sizeof(cl_float2) : sizeof(cl_float)),
                             stage)),
        row_grid_(covering(context, columns_, height_)),
        column_grid_(covering(context, columns_, rows_)),
        along_rows_(context, stage, kernels::smooth, "smooth_rows", options_for(spec)),
        along_columns_(context, stage, kernels::smooth, "smooth_columns", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    along_rows_.launch(commands, row_grid_, input, width_, height_, x_.first, x_.weights, x_.taps,
                       columns_, between_);
    along_columns_.launch(commands, column_grid_, between_, columns_, rows_, y_.first, y_.weights,
                          y_.taps, output);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory& mask,
               backend::Memory& output, backend::Memory& weight) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    along_rows_.launch(commands, row_grid_, input, mask, width_, height_, x_.first, x_.weights,
                       x_.taps, columns_, between_);
    along_columns_.launch(commands, column_grid_, between_, columns_, rows_, y_.first, y_.weights,
                          y_.taps, output, weight);
  }

 private:
  cl_int width_, height_, columns_, rows_;
  AxisTable x_, y_;
  Handle<cl_mem> between_;
  Grid row_grid_, column_grid_;
  Kernel along_rows_, along_columns_;
  ScratchGuard scratch_guard_;
};

// The form for CPUs with vectors: sixteen numbers at a time, columns first.
class SmoothCpu final : public backend::Smooth {
 public:
  SmoothCpu(Context& context, const SmoothSpec& spec, const backend::PlaneWeights& weights)
      : width_(extent(spec.shape.width, context.call_site(stage))),
        columns_(extent(spec.output.width, context.call_site(stage))),
        rows_(extent(spec.output.height, context.call_site(stage))),
        x_(context, weights.x, stage),
        y_(context, weights.y, stage),
        between_(make_buffer(context, separable_bytes(width_, rows_, spec.masked ? 2 : 1), stage)),
        down_(context, stage, kernels::smooth_cpu, "smooth_columns", options_for(spec)),
        along_(context, stage, kernels::smooth_cpu, "smooth_rows", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    down_.launch(commands, separable_column_blocks(width_, rows_), input, width_, y_.first,
                 y_.weights, y_.taps, rows_, between_);
    along_.launch(commands, separable_column_blocks(columns_, rows_), between_, width_, x_.first,
                  x_.weights, x_.taps, columns_, rows_, output);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory& mask,
               backend::Memory& output, backend::Memory& weight) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    down_.launch(commands, separable_column_blocks(width_, rows_), input, mask, width_, y_.first,
                 y_.weights, y_.taps, rows_, between_);
    along_.launch(commands, separable_column_blocks(columns_, rows_), between_, width_, x_.first,
                  x_.weights, x_.taps, columns_, rows_, output, weight);
  }

 private:
  cl_int width_, columns_, rows_;
  AxisTable x_, y_;
  Handle<cl_mem> between_;
  Kernel down_, along_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Smooth> make(Context& context, const backend::Smooth::Setup& setup) {
  const auto& [spec, weights] = setup;
  if (context.has_vectors()) return std::make_unique<SmoothCpu>(context, spec, weights);
  return std::make_unique<Smooth>(context, spec, weights);
}

}  // namespace warpalign::opencl
