// Stage: the double-angle representation of an image's gradient.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/parameter_upload.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "formulas/double_angle.h"

#include <warpalign/backend/stages/filter/double_angle.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "double_angle";

constexpr std::size_t group_on_cpus = 64;

static_assert(sizeof(backend::DoubleAngleFactors) == sizeof(WaDoubleAngleTerms));

class DoubleAngle final : public backend::DoubleAngle {
 public:
  DoubleAngle(Context& context, const DoubleAngleSpec& spec)
      : width_(extent(spec.image.width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        pixels_(extent(spec.image.plane() * spec.slices, context.call_site(stage))),
        epsilon_(spec.epsilon),
        columns_(context.has_vectors() ? 1 : reduction_group(context)),
        terms_(context, static_cast<std::size_t>(spec.slices) * sizeof(WaDoubleAngleTerms), stage),
        kernel_(context, stage,
                context.has_vectors() ? kernels::double_angle_cpu : kernels::double_angle,
                "double_angle",
                context.has_vectors() ? "" : int_option("COLUMNS", static_cast<int>(columns_))),
        turned_group_(context.is_cpu() ? group_on_cpus : reduction_group(context)),
        turned_(context, stage, kernels::turned_directions, "turned_directions",
                int_option("GROUP", static_cast<int>(turned_group_))) {}

  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& memory,
               std::span<const backend::DoubleAngleFactors> slices,
               std::int64_t first_slice) override {
    terms_.begin();
    for (std::size_t i = 0; i < slices.size(); ++i) terms_.put(i, slices[i]);
    const cl_mem terms = terms_.enqueue(queue_of(queue), slices.size_bytes());
    const Grid grid{{static_cast<std::size_t>(height_) * columns_, slices.size()}, {columns_, 1}};
    kernel_.launch(queue_of(queue), grid, memory.input, memory.weight, width_, height_,
                   static_cast<cl_int>(first_slice), epsilon_, terms, memory.cosines, memory.sines);
  }

  void enqueue_rotated(backend::Queue& queue, const backend::RotatedMemory& memory, float cosine,
                       float sine) override {
    const auto groups = static_cast<std::size_t>(divide_up(pixels_, turned_group_));
    turned_.launch(queue_of(queue), {{groups * turned_group_, 1}, {turned_group_, 1}},
                   memory.cosines, memory.sines, pixels_, cosine, sine, memory.rotated_cosines,
                   memory.rotated_sines);
  }

 private:
  cl_int width_, height_, pixels_;
  cl_float epsilon_;
  std::size_t columns_;
  ParameterUpload terms_;
  Kernel kernel_;
  std::size_t turned_group_;
  Kernel turned_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleAngle> make(Context& context, const DoubleAngleSpec& spec) {
  return std::make_unique<DoubleAngle>(context, spec);
}

}  // namespace warpalign::opencl
