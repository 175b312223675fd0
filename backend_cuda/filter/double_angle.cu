// Stage: the double-angle representation of an image's gradient.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"

#include "shared/double_angle_row.h"

#include <warpalign/backend/stages/filter/double_angle.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 256
#include "shared/turned_directions.cl"

constexpr int columns = 256;
constexpr int max_slices_at_once = 32;

template <int slices>
using Slices = ParameterList<WaDoubleAngleTerms, slices>;

// A block processes a row of a slice.
template <int slices>
__global__ void __launch_bounds__(columns)
    double_angle_kernel(const float* input, const float* weight, int width, int height,
                        int first_slice, float epsilon,
                        const __grid_constant__ Slices<slices> terms, float* cosines,
                        float* sines) {
  wait_for_previous_kernel();
  const int slice = slices == 1 ? 0 : static_cast<int>(blockIdx.y);
  wa_double_angle_row(input, weight, width, height, first_slice + slice,
                      static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), columns, epsilon,
                      terms.entries[slice], cosines, sines);
}

WaDoubleAngleTerms terms_of(const backend::DoubleAngleFactors& f) {
  return {f.mean_cosine, f.mean_sine, f.gain};
}

class DoubleAngleStage final : public backend::DoubleAngle {
 public:
  DoubleAngleStage(const Context& context, const DoubleAngleSpec& spec)
      : site_{context, "double_angle"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        pixels_(extent(spec.image.plane() * spec.slices, site_)),
        epsilon_(spec.epsilon) {
    load(&turned_directions, site_);
    load(&double_angle_kernel<1>, site_);
    if (spec.slices > 1) load(&double_angle_kernel<max_slices_at_once>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& memory,
               std::span<const backend::DoubleAngleFactors> slices,
               std::int64_t first_slice) override {
    launch_for_entries<WaDoubleAngleTerms, max_slices_at_once>(
        slices.size(), [&](std::size_t i) { return terms_of(slices[i]); },
        [&]<int most>(const Slices<most>& list, std::size_t first, std::size_t count) {
          const dim3 grid(static_cast<unsigned>(height_), static_cast<unsigned>(count));
          launch_dependent(site_, queue, grid, dim3(columns), &double_angle_kernel<most>,
                       data<float>(memory.input), data<float>(memory.weight), width_, height_,
                       static_cast<int>(first_slice) + static_cast<int>(first), epsilon_, list,
                       data<float>(memory.cosines), data<float>(memory.sines));
        });
  }

  void enqueue_rotated(backend::Queue& queue, const backend::RotatedMemory& memory, float cosine,
                      float sine) override {
    launch_dependent(site_, queue, dim3(static_cast<unsigned>(divide_up(pixels_, GROUP))), dim3(GROUP),
                 &turned_directions, data<float>(memory.cosines), data<float>(memory.sines),
                 pixels_, cosine, sine, data<float>(memory.rotated_cosines),
                 data<float>(memory.rotated_sines));
  }

 private:
  CallSite site_;
  int width_;
  int height_;
  int pixels_;  // in all slices
  float epsilon_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleAngle> make(const Context& context, const DoubleAngleSpec& spec) {
  return std::make_unique<DoubleAngleStage>(context, spec);
}

}  // namespace warpalign::cuda
