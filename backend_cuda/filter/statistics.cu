// Stage: mean, extremes and number of non-finite pixels of an image or its gradient, by a parallel
// reduction within blocks and then over the results of the blocks.
#include "device/dependent_launch.cuh"
#include "device/last_block.cuh"
#include "device/memory.hpp"
#include "device/pixel_load.cuh"
#include "device/stage.hpp"
#include "filter/gradient_rows.cuh"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <cstdint>

namespace warpalign::cuda {
namespace {

static_assert(sizeof(StatisticsRecord) == 16);

// The sum is a double: 2^28 pixels of 3e38 do not overflow it, and its rounding error is smaller
// than that of the mean.
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

// If the sum of four pixels is finite, so are its terms. Its rounding error is smaller than that of
// the mean.
__device__ __forceinline__ void include_four(Partial& partial, float4 four) {
  const float sum = (four.x + four.y) + (four.z + four.w);
  if (isfinite(sum)) {
    partial.sum += static_cast<double>(sum);
    partial.minimum = fminf(partial.minimum, fminf(fminf(four.x, four.y), fminf(four.z, four.w)));
    partial.maximum = fmaxf(partial.maximum, fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
    return;
  }
  include_pixel(partial, four.x);
  include_pixel(partial, four.y);
  include_pixel(partial, four.z);
  include_pixel(partial, four.w);
}

struct Combine {
  __device__ Partial operator()(const Partial& a, const Partial& b) const {
    return {a.sum + b.sum, a.nonfinite + b.nonfinite, fminf(a.minimum, b.minimum),
            fmaxf(a.maximum, b.maximum)};
  }
};

constexpr int reduction_rows = reduction_threads / warp_lanes;
static_assert(reduction_rows == row_block_height);

// Blocks have 32 x 8 threads, numbered by x + 32 y.
using Reduce =
    cub::BlockReduce<Partial, warp_lanes, cub::BLOCK_REDUCE_WARP_REDUCTIONS, reduction_rows>;

__device__ __forceinline__ int thread_number() {
  return static_cast<int>(threadIdx.y * warp_lanes + threadIdx.x);
}

template <class Pixel>
__device__ __forceinline__ Partial partial_of_pixels(const Pixel* __restrict__ input,
                                                     long long pixels) {
  const long long first = static_cast<long long>(blockIdx.x) * reduction_threads + thread_number();
  const long long step = static_cast<long long>(gridDim.x) * reduction_threads;
  const long long quads = pixels / 4;
  Partial partial = nothing();
#pragma unroll 4  // to have that many loads in flight at a time
  for (long long i = first; i < quads; i += step) {
    include_four(partial, load_four(input + 4 * i));
  }
  for (long long i = 4 * quads + first; i < pixels; i += step) {
    include_pixel(partial, static_cast<float>(input[i]));
  }
  return partial;
}

template <bool words, class Pixel>
__device__ __forceinline__ Partial partial_of_gradient(const Pixel* __restrict__ input, int width,
                                                       int height) {
  Partial partial = nothing();
  for_rows_of_four<true, words>(input, width, height, [&](int x, int, float4 four) {
    if (x + 3 < width) return include_four(partial, four);
    if (x < width) include_pixel(partial, four.x);
    if (x + 1 < width) include_pixel(partial, four.y);
    if (x + 2 < width) include_pixel(partial, four.z);
  });
  return partial;
}

struct Scratch {
  Partial* partials;  // from every block
  unsigned* counter;
};

// The fields of the record as raw words, because the record's type is only for the host.
__device__ __forceinline__ float4 record_of(const Partial& total, long long pixels) {
  const long long finite = pixels - static_cast<long long>(total.nonfinite);
  const double mean = finite > 0 ? total.sum / static_cast<double>(finite) : 0.0;
  const unsigned long long maximum = 0xffffffffULL;
  const auto nonfinite =
      static_cast<unsigned>(total.nonfinite < maximum ? total.nonfinite : maximum);
  return make_float4(static_cast<float>(mean), total.minimum, total.maximum,
                     __uint_as_float(nonfinite));
}

__device__ __forceinline__ void reduce_grid(const Partial& mine, const Scratch& scratch,
                                            long long pixels, float4* record) {
  __shared__ typename Reduce::TempStorage storage;
  const unsigned blocks = gridDim.x * gridDim.y;
  const Partial of_block = Reduce(storage).Reduce(mine, Combine{});
  if (thread_number() == 0) scratch.partials[blockIdx.y * gridDim.x + blockIdx.x] = of_block;
  if (!is_last_block(scratch.counter, blocks)) return;
  Partial partial = nothing();
  for (unsigned i = static_cast<unsigned>(thread_number()); i < blocks; i += reduction_threads) {
    partial = Combine{}(partial, load_fresh(scratch.partials + i));
  }
  const Partial total = Reduce(storage).Reduce(partial, Combine{});
  if (thread_number() == 0) *record = record_of(total, pixels);
}

template <class Pixel>
__global__ void __launch_bounds__(reduction_threads)
    statistics_kernel(const Pixel* __restrict__ input, long long pixels, Scratch scratch,
                      float4* __restrict__ record) {
  wait_for_previous_kernel();
  reduce_grid(partial_of_pixels(input, pixels), scratch, pixels, record);
}

template <bool words, class Pixel>
__global__ void __launch_bounds__(reduction_threads)
    gradient_statistics_kernel(const Pixel* __restrict__ input, int width, int height,
                               Scratch scratch, float4* __restrict__ record) {
  wait_for_previous_kernel();
  reduce_grid(partial_of_gradient<words>(input, width, height), scratch,
              static_cast<long long>(width) * height, record);
}

unsigned blocks_in(const dim3& grid) { return grid.x * grid.y; }

// For gradients, the number of blocks is limited so that each thread has several rows, as in
// reduction_blocks().
dim3 grid_for(const StatisticsSpec& spec, const CallSite& site) {
  const int blocks = reduction_blocks(spec.shape.pixels(), site.context);
  if (spec.signal == Signal::pixels) return dim3(static_cast<unsigned>(blocks));
  const dim3 whole = gradient_grid(extent(spec.shape.width, site), extent(spec.shape.height, site));
  return dim3(whole.x, std::clamp(static_cast<unsigned>(blocks) / whole.x, 1U, whole.y));
}

class StatisticsBase : public backend::Statistics {
 protected:
  StatisticsBase(const Context& context, const StatisticsSpec& spec)
      : site_{context, "statistics"},
        grid_(grid_for(spec, site_)),
        partials_(site_, blocks_in(grid_) * sizeof(Partial)),
        counter_(site_, 1),
        scratch_guard_(site_) {}

  template <class... Parameters, class... Arguments>
  void run(backend::Queue& queue, void (*kernel)(Parameters...), Arguments... arguments) {
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_dependent(site_, queue, grid_, gradient_block(), kernel, arguments...);
  }
  [[nodiscard]] Scratch scratch() const { return {partials_.as<Partial>(), counter_.get()}; }

  CallSite site_;

 private:
  dim3 grid_;
  DeviceMemory partials_;
  Counters counter_;
  ScratchGuard scratch_guard_;
};

template <class Pixel>
class PixelStatistics final : public StatisticsBase {
 public:
  PixelStatistics(const Context& context, const StatisticsSpec& spec)
      : StatisticsBase(context, spec), pixels_(spec.shape.pixels()) {
    load(&statistics_kernel<Pixel>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& record) override {
    run(queue, &statistics_kernel<Pixel>, data<Pixel>(input), pixels_, scratch(),
        data<float4>(record));
  }

 private:
  long long pixels_;
};

template <class Pixel>
class GradientStatistics final : public StatisticsBase {
 public:
  GradientStatistics(const Context& context, const StatisticsSpec& spec)
      : StatisticsBase(context, spec),
        width_(extent(spec.shape.width, site_)),
        height_(extent(spec.shape.height, site_)),
        kernel_(rows_are_words(width_) ? &gradient_statistics_kernel<true, Pixel>
                                       : &gradient_statistics_kernel<false, Pixel>) {
    load(kernel_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& record) override {
    run(queue, kernel_, data<Pixel>(input), width_, height_, scratch(), data<float4>(record));
  }

 private:
  int width_, height_;
  void (*kernel_)(const Pixel*, int, int, Scratch, float4*);
};

template <class Pixel>
std::unique_ptr<backend::Statistics> make_typed(const Context& context,
                                                const StatisticsSpec& spec) {
  if (spec.signal == Signal::gradient) {
    return std::make_unique<GradientStatistics<Pixel>>(context, spec);
  }
  return std::make_unique<PixelStatistics<Pixel>>(context, spec);
}

}  // namespace

template <>
std::unique_ptr<backend::Statistics> make(const Context& context, const StatisticsSpec& spec) {
  return with_grey_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Statistics> {
    return make_typed<decltype(pixel)>(context, spec);
  });
}

}  // namespace warpalign::cuda
