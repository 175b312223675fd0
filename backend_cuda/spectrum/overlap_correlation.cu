// Stages: the products of spectra and the scores of surfaces for the correlation that is judged by
// its overlap.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"

#include "formulas/overlap.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

constexpr int threads = 256;
constexpr int blocks_per_multiprocessor = 16;

struct Spectra {
  const float2 *a, *b;
  const float2 *a_second, *b_second;  // null where the images have one channel
};

struct Products {
  float2 straight, mirrored;  // A conj(B), and A B
};

__device__ __forceinline__ Products both_products(float2 p, float2 q) {
  return {make_float2(fmaf(p.x, q.x, p.y * q.y), fmaf(p.y, q.x, -p.x * q.y)),
          make_float2(fmaf(p.x, q.x, -p.y * q.y), fmaf(p.y, q.x, p.x * q.y))};
}

__device__ __forceinline__ float2 sum(float2 p, float2 q) {
  return make_float2(p.x + q.x, p.y + q.y);
}

// Writes the products to one slice and the next.
template <bool second_channel>
__global__ void __launch_bounds__(threads)
    overlap_products_kernel(Spectra s, long long plane, float2* __restrict__ products) {
  await_previous();
  const long long image = blockIdx.y;
  s.b += image * plane;
  if constexpr (second_channel) s.b_second += image * plane;
  products += image * 2 * plane;
  const long long step = static_cast<long long>(gridDim.x) * threads;
  for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < plane;
       i += step) {
    Products both = both_products(__ldg(s.a + i), __ldg(s.b + i));
    if constexpr (second_channel) {
      const Products more = both_products(__ldg(s.a_second + i), __ldg(s.b_second + i));
      both = {sum(both.straight, more.straight), sum(both.mirrored, more.mirrored)};
    }
    products[i] = both.straight;
    products[plane + i] = both.mirrored;
  }
}

/// The limits of all images of a launch, or of each.
template <int images>
using Limits = ParameterList<OverlapLimits, images>;

// How many images with limits of their own share a launch.
constexpr int max_images = 64;

// The surfaces are C and C mirrored, the overlaps N and N mirrored, each of them times `plane`.
// `each` is how many overlaps an image has of its own, 2 or 0.
template <int images>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    overlap_score_kernel(const float* __restrict__ surfaces, const float* __restrict__ overlaps,
                         int each, int width, int height,
                         const __grid_constant__ Limits<images> all, float* __restrict__ scores) {
  await_previous();
  const OverlapLimits& limits = all.entries[images == 1 ? 0 : blockIdx.z];
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= width) return;
  const long long plane = static_cast<long long>(width) * height;
  surfaces += blockIdx.z * 2 * plane;
  overlaps += blockIdx.z * each * plane;
  scores += blockIdx.z * 2 * plane;
  const float reach2 = limits.reach * limits.reach;
  for (int y = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); y < height;
       y += static_cast<int>(gridDim.y * row_block_height)) {
    const long long i = static_cast<long long>(y) * width + x;
#pragma unroll
    for (int mirrored = 0; mirrored < 2; ++mirrored) {
      const float dx = wa_shift_distance(static_cast<float>(x),
                                         mirrored != 0 ? limits.mirrored_centre_x : limits.centre_x,
                                         static_cast<float>(width));
      const float dy = wa_shift_distance(static_cast<float>(y),
                                         mirrored != 0 ? limits.mirrored_centre_y : limits.centre_y,
                                         static_cast<float>(height));
      const bool allowed = reach2 <= 0.0f || wa_shift_square(dx, dy) <= reach2;
      scores[mirrored * plane + i] =
          allowed ? wa_overlap_score(surfaces[mirrored * plane + i], overlaps[mirrored * plane + i],
                                     1.0f / static_cast<float>(plane), limits.min_overlap)
                  : 0.0f;
    }
  }
}

class OverlapProductsStage final : public backend::OverlapProducts {
 public:
  OverlapProductsStage(const Context& context, const OverlapProductsSpec& spec)
      : site_{context, "overlap_products"},
        plane_(RealFftPlan::half_spectrum(spec.image).plane()),
        blocks_(std::min<std::int64_t>(
            divide_up(plane_, threads),
            std::int64_t{blocks_per_multiprocessor} * context.multiprocessors)),
        batch_(static_cast<unsigned>(spec.batch)),
        kernel_(spec.second_channel ? &overlap_products_kernel<true>
                                    : &overlap_products_kernel<false>) {
    load(kernel_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::OverlapSpectra& spectra,
               backend::Memory& products) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(blocks_), batch_), dim3(threads), kernel_,
                 Spectra{data<float2>(spectra.a), data<float2>(spectra.b), second(spectra.a_second),
                         second(spectra.b_second)},
                 plane_, data<float2>(products));
  }

 private:
  static const float2* second(const backend::Memory* spectrum) {
    return spectrum != nullptr ? data<float2>(*spectrum) : nullptr;
  }

  CallSite site_;
  long long plane_;
  std::int64_t blocks_;
  unsigned batch_;
  void (*kernel_)(Spectra, long long, float2*);
};

class OverlapScoreStage final : public backend::OverlapScore {
 public:
  OverlapScoreStage(const Context& context, const OverlapScoreSpec& spec)
      : site_{context, "overlap_score"},
        width_(extent(spec.surface.width, site_)),
        height_(extent(spec.surface.height, site_)),
        batch_(static_cast<unsigned>(spec.batch)),
        each_(spec.one_overlap ? 0 : 2) {
    load(&overlap_score_kernel<1>, site_);
    if (batch_ > 1) load(&overlap_score_kernel<max_images>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& scores) override {
    const std::size_t plane = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
    launch_for_entries<OverlapLimits, max_images>(
        limits.size(), [&](std::size_t i) { return limits[i]; },
        [&]<int images>(const Limits<images>& list, std::size_t first, std::size_t count) {
          dim3 grid = tile_grid(width_, height_, warp_lanes, row_block_height);
          grid.z = images == 1 ? batch_ : static_cast<unsigned>(count);
          launch_early(site_, queue, grid, dim3(warp_lanes, row_block_height),
                       &overlap_score_kernel<images>, data<float>(surfaces) + 2 * first * plane,
                       data<float>(overlaps) + static_cast<std::size_t>(each_) * first * plane,
                       each_, width_, height_, list, data<float>(scores) + 2 * first * plane);
        });
  }

 private:
  CallSite site_;
  int width_, height_;
  unsigned batch_;
  int each_;  // overlaps that an image has of its own
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapProducts> make(const Context& context,
                                               const OverlapProductsSpec& spec) {
  return std::make_unique<OverlapProductsStage>(context, spec);
}

template <>
std::unique_ptr<backend::OverlapScore> make(const Context& context, const OverlapScoreSpec& spec) {
  return std::make_unique<OverlapScoreStage>(context, spec);
}

}  // namespace warpalign::cuda
