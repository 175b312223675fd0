// Stage: mean, extremes and validity of an image, by a two-stage parallel reduction.
#include "launch.hpp"
#include "memory.hpp"
#include "pixel_load.cuh"
#include "stages.hpp"

#include <cub/block/block_reduce.cuh>

#include <cstdint>

namespace warpalign::cuda {
namespace {

static_assert(sizeof(StatisticsRecord) == 16);

// The sum is double: 2^28 pixels of 3e38 do not overflow it, and it rounds less than the mean.
struct Partial {
  double sum;
  unsigned long long nonfinite;
  float minimum;
  float maximum;
};

__device__ __forceinline__ Partial nothing() {
  return {0.0, 0, __int_as_float(0x7f800000), __int_as_float(static_cast<int>(0xff800000U))};
}

__device__ __forceinline__ void include_pixel(Partial& partial, float pixel) {
  if (isfinite(pixel)) {
    partial.sum += static_cast<double>(pixel);
    partial.minimum = fminf(partial.minimum, pixel);
    partial.maximum = fmaxf(partial.maximum, pixel);
  } else {
    ++partial.nonfinite;
  }
}

struct Combine {
  __device__ Partial operator()(const Partial& a, const Partial& b) const {
    return {a.sum + b.sum, a.nonfinite + b.nonfinite, fminf(a.minimum, b.minimum),
            fmaxf(a.maximum, b.maximum)};
  }
};

using Reduce = cub::BlockReduce<Partial, reduction_threads>;

template <class Pixel>
__global__ void __launch_bounds__(reduction_threads)
    statistics_partial_kernel(const Pixel* __restrict__ input, long long pixels,
                              Partial* __restrict__ partials) {
  __shared__ typename Reduce::TempStorage scratch;
  const long long first = static_cast<long long>(blockIdx.x) * reduction_threads + threadIdx.x;
  const long long step = static_cast<long long>(gridDim.x) * reduction_threads;
  const long long quads = pixels / 4;
  Partial partial = nothing();
#pragma unroll 4  // so many loads are under way at a time
  for (long long i = first; i < quads; i += step) {
    const FourPixels<Pixel> quad = reinterpret_cast<const FourPixels<Pixel>*>(input)[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) include_pixel(partial, static_cast<float>(quad.pixel[k]));
  }
  for (long long i = 4 * quads + first; i < pixels; i += step) {
    include_pixel(partial, static_cast<float>(input[i]));
  }
  const Partial total = Reduce(scratch).Reduce(partial, Combine{});
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

// One block. The record's fields as raw words: its type is for the host.
__global__ void __launch_bounds__(reduction_threads)
    statistics_total_kernel(const Partial* __restrict__ partials, int count, long long pixels,
                            float4* __restrict__ record) {
  __shared__ typename Reduce::TempStorage scratch;
  Partial partial = nothing();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += reduction_threads) {
    partial = Combine{}(partial, partials[i]);
  }
  const Partial total = Reduce(scratch).Reduce(partial, Combine{});
  if (threadIdx.x != 0) return;
  const long long finite = pixels - static_cast<long long>(total.nonfinite);
  const double mean = finite > 0 ? total.sum / static_cast<double>(finite) : 0.0;
  const unsigned long long most = 0xffffffffULL;
  const auto nonfinite = static_cast<unsigned>(total.nonfinite < most ? total.nonfinite : most);
  *record = make_float4(static_cast<float>(mean), total.minimum, total.maximum,
                        __uint_as_float(nonfinite));
}

template <class Pixel>
class StatisticsStage final : public backend::Statistics {
 public:
  StatisticsStage(const Context& context, const StatisticsSpec& spec)
      : place_{context, "statistics"},
        pixels_(spec.shape.pixels()),
        blocks_(reduction_blocks(pixels_, context)),
        partials_(place_, static_cast<std::size_t>(blocks_) * sizeof(Partial)),
        fence_(place_) {
    load(&statistics_partial_kernel<Pixel>, place_);
    load(&statistics_total_kernel, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& record) override {
    place_.context.activate();
    fence_.enter(queue);
    launch(place_, queue, dim3(static_cast<unsigned>(blocks_)), dim3(reduction_threads),
           &statistics_partial_kernel<Pixel>, data<Pixel>(input), pixels_, partials_.as<Partial>());
    launch(place_, queue, dim3(1), dim3(reduction_threads), &statistics_total_kernel,
           partials_.as<const Partial>(), blocks_, pixels_, data<float4>(record));
  }

 private:
  Place place_;
  long long pixels_;
  int blocks_;
  DeviceMemory partials_;
  Fence fence_;
};

}  // namespace

std::unique_ptr<backend::Statistics> make_statistics(const Context& context,
                                                     const StatisticsSpec& spec) {
  switch (spec.input) {
    case PixelType::u8:
      return std::make_unique<StatisticsStage<std::uint8_t>>(context, spec);
    case PixelType::u16:
      return std::make_unique<StatisticsStage<std::uint16_t>>(context, spec);
    default:
      return std::make_unique<StatisticsStage<float>>(context, spec);
  }
}

}  // namespace warpalign::cuda
