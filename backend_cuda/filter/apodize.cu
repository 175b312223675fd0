// Stage: subtract the mean from an image, or from its gradient, apply a window, and copy the result
// to a padded frame.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/pixel_load.cuh"
#include "device/stage.hpp"
#include "filter/axis_tables.hpp"
#include "filter/gradient_rows.cuh"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cstddef>

namespace warpalign::cuda {
namespace {

struct Geometry {
  int width, height;  // of the input
  int padded_width;
  int offset_x, offset_y;  // of the input in the padded frame
};

struct Window2d {
  const float* __restrict__ x;
  const float* __restrict__ y;
};

__device__ __forceinline__ float weighted_deviation(float value, float mean, float weight) {
  return isfinite(value) ? (value - mean) * weight : 0.0f;
}

// The padded frame is already 0 outside the input. `words`: the rows of the input begin at a word
// of four pixels; `padded_words`: those of the padded frame do too.
template <bool gradient, bool words, bool padded_words, class Pixel>
__global__ void apodize_kernel(const Pixel* __restrict__ input, const float* __restrict__ mean,
                               Window2d window, float* __restrict__ padded, Geometry g) {
  wait_for_previous_kernel();
  const float average = *mean;
  const int x = block_columns * static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  const float4 wx = four_pixels<words>(window.x, x, g.width);
  for_rows_of_four<gradient, words>(input, g.width, g.height, [&](int, int y, float4 four) {
    const float wy = window.y[y];
    float* row = padded + static_cast<long long>(y + g.offset_y) * g.padded_width + g.offset_x;
    store_four<padded_words>(row, x, g.width,
                             make_float4(weighted_deviation(four.x, average, wx.x * wy),
                                         weighted_deviation(four.y, average, wx.y * wy),
                                         weighted_deviation(four.z, average, wx.z * wy),
                                         weighted_deviation(four.w, average, wx.w * wy)));
  });
}

template <class Pixel>
using Kernel = void (*)(const Pixel*, const float*, Window2d, float*, Geometry);

template <bool gradient, class Pixel>
Kernel<Pixel> kernel_for(const Geometry& g) {
  if (!rows_are_words(g.width)) return &apodize_kernel<gradient, false, false, Pixel>;
  const bool padded_words = rows_are_words(g.padded_width) && rows_are_words(g.offset_x);
  return padded_words ? &apodize_kernel<gradient, true, true, Pixel>
                      : &apodize_kernel<gradient, true, false, Pixel>;
}

Geometry geometry_of(const ApodizeSpec& spec, const CallSite& site) {
  const Shape offset = ApodizePlan::offset(spec);
  return {extent(spec.input.width, site), extent(spec.input.height, site),
          extent(spec.padded.width, site), static_cast<int>(offset.width),
          static_cast<int>(offset.height)};
}

template <class Pixel>
class ApodizeStage final : public backend::Apodize {
 public:
  ApodizeStage(const Context& context, const ApodizeSpec& spec,
               const backend::WindowWeights& window)
      : site_{context, "apodize"},
        geometry_(geometry_of(spec, site_)),
        margin_bytes_(spec.padded == spec.input
                          ? 0
                          : static_cast<std::size_t>(spec.padded.pixels()) * sizeof(float)),
        window_x_(upload(site_, window.x)),
        window_y_(upload(site_, window.y)),
        kernel_(spec.signal == Signal::gradient ? kernel_for<true, Pixel>(geometry_)
                                                : kernel_for<false, Pixel>(geometry_)) {
    load(kernel_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const backend::Memory& statistics, backend::Memory& padded) override {
    static_assert(offsetof(StatisticsRecord, mean) == 0);
    site_.context.activate();
    if (margin_bytes_ > 0) {
      check(cudaMemsetAsync(data<float>(padded), 0, margin_bytes_, stream_of(queue)),
            "cudaMemsetAsync", site_);
    }
    launch_dependent(site_, queue, gradient_grid(geometry_.width, geometry_.height), gradient_block(),
                 kernel_, data<Pixel>(input), data<float>(statistics),
                 Window2d{window_x_.as<float>(), window_y_.as<float>()}, data<float>(padded),
                 geometry_);
  }

 private:
  CallSite site_;
  Geometry geometry_;
  std::size_t margin_bytes_;  // to clear; 0 if the input covers the padded frame
  Constants window_x_, window_y_;
  Kernel<Pixel> kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Apodize> make(const Context& context,
                                       const backend::Apodize::Setup& setup) {
  const auto& [spec, window] = setup;
  return with_grey_type(spec.type, [&](auto pixel) -> std::unique_ptr<backend::Apodize> {
    return std::make_unique<ApodizeStage<decltype(pixel)>>(context, spec, window);
  });
}

}  // namespace warpalign::cuda
