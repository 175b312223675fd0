// Stage: the sums from which the mean and the energy of a field of orientations follow.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/direction_sums.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "direction_sums";
constexpr std::size_t groups = backend::direction_sum_groups;

class DirectionSums final : public backend::DirectionSums {
 public:
  explicit DirectionSums(Context& context)
      : simd_(context.has_vectors()),
        group_(simd_ ? 1 : reduction_group(context)),
        kernel_(context, stage, simd_ ? kernels::direction_sums_cpu : kernels::direction_sums,
                stage, simd_ ? "" : int_option("GROUP", static_cast<int>(group_))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& cosines, const backend::Memory& sines,
               std::int64_t pixels, std::int64_t result, backend::Memory& partials) override {
    const auto first =
        static_cast<cl_int>(result) * static_cast<cl_int>(backend::direction_sum_count);
    const Grid grid{{groups * group_, 1}, {group_, 1}};
    const auto launch = [&](auto... sizes) {
      kernel_.launch(queue_of(queue), grid, cosines, sines, static_cast<cl_int>(pixels), sizes...,
                     static_cast<cl_int>(groups), first, partials);
    };
    if (simd_) {
      launch(static_cast<cl_int>(rounded_up(divide_up(pixels, groups), 16)));
    } else {
      launch();
    }
  }

 private:
  bool simd_;
  std::size_t group_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::DirectionSums> make(Context& context, const DirectionSumsSpec&) {
  return std::make_unique<DirectionSums>(context);
}

}  // namespace warpalign::opencl
