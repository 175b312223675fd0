// Stage: the peaks of correlation surfaces that are scored by the overlap, in one kernel: scores
// are computed where they are compared, and never stored. The last block of a surface writes its
// record.
#include "device/early_launch.cuh"
#include "device/last_block.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"
#include "spectrum/peak_search.cuh"

#include "formulas/overlap.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace warpalign::cuda {
namespace {

// Groups of four pixels that a thread loads at once of a surface, and as many of its overlaps.
constexpr int quads_at_once = 4;

// This leaves a thread registers for all of these loads: with more blocks the compiler makes it
// wait for some before it begins the others.
constexpr int blocks_per_multiprocessor = 4;

// Blocks of a surface: its last block reduces their candidates by one warp, without a barrier.
constexpr int max_blocks = warp_lanes;

/// The limits of all images of a launch, or of each.
template <int images>
using Limits = ParameterList<OverlapLimits, images>;

// How many images with limits of their own share a launch.
constexpr int max_images = 64;

struct Plane {
  int width, height;
  int pixels;
  int quads;            // groups of four pixels, aligned in every surface; 0 where they are not
  float normalization;  // one over the number of pixels
};

// Accurate to 1 ulp; 0 of numbers above 2^126.
__device__ __forceinline__ float approximate_reciprocal(float x) {
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
  return reciprocal;
}

__device__ __forceinline__ float largest_of_warp(float value) {
#pragma unroll
  for (int distance = warp_lanes / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, distance));
  }
  return value;
}

/// What is known of some pixels before any score is computed. A pixel's bit has its number.
struct Estimates {
  float squares[4 * quads_at_once];  // of scores, with their signs
  float largest;                     // ignores NaN
  unsigned zeros = 0;                // pixels that score 0 as they overlap too little
};

/// One surface C, straight or mirrored, and its overlap N, both times the number of pixels.
///
/// A score takes a root and a division, one after the other and with a branch for rare numbers. So
/// squares of scores are estimated first, of many pixels at once, and only what may be the highest
/// of a warp's is computed: mostly one pixel.
struct ScoredSurface {
  const float* __restrict__ surface;
  const float* __restrict__ overlap;
  Plane plane;
  float min_overlap;
  float reach2;  // the square of the maximum distance from the centre; 0: any
  float centre_x, centre_y;

  __device__ __forceinline__ bool is_within_reach(int index) const {
    const int y = index / plane.width;
    const int x = index - y * plane.width;
    const float dx =
        wa_shift_distance(static_cast<float>(x), centre_x, static_cast<float>(plane.width));
    const float dy =
        wa_shift_distance(static_cast<float>(y), centre_y, static_cast<float>(plane.height));
    return wa_shift_square(dx, dy) <= reach2;
  }

  __device__ __forceinline__ float score_at(int index) const {
    if (reach2 > 0.0f && !is_within_reach(index)) return 0.0f;
    return wa_overlap_score(__ldg(surface + index), __ldg(overlap + index), plane.normalization,
                            min_overlap);
  }

  __device__ __forceinline__ void estimate(Estimates& estimates, int number, float c,
                                           float n) const {
    const float pixels = n * plane.normalization;
    const bool may_score = pixels >= min_overlap;
    const float square = wa_signed_square(c * plane.normalization) * approximate_reciprocal(pixels);
    estimates.squares[number] = may_score ? square : 0.0f;
    if (!may_score) estimates.zeros |= 1U << number;
    const float so_far = number == 0 ? -INFINITY : estimates.largest;
    estimates.largest = fmaxf(so_far, estimates.squares[number]);
  }

  // The group of four pixels, number k of those that are loaded at once.
  __device__ __forceinline__ int quad_of(int first, int k) const {
    const int step = static_cast<int>(gridDim.x) * reduction_threads;
    return min(first + k * step, plane.quads - 1);
  }

  __device__ __forceinline__ Estimates estimates_of(int first) const {
    const float4* surface_quads = reinterpret_cast<const float4*>(surface);
    const float4* overlap_quads = reinterpret_cast<const float4*>(overlap);
    float4 c[quads_at_once];
    float4 n[quads_at_once];
#pragma unroll
    for (int k = 0; k < quads_at_once; ++k) {
      c[k] = __ldg(surface_quads + quad_of(first, k));
      n[k] = __ldg(overlap_quads + quad_of(first, k));
    }
    Estimates estimates;
#pragma unroll
    for (int k = 0; k < quads_at_once; ++k) {
      estimate(estimates, 4 * k, c[k].x, n[k].x);
      estimate(estimates, 4 * k + 1, c[k].y, n[k].y);
      estimate(estimates, 4 * k + 2, c[k].z, n[k].z);
      estimate(estimates, 4 * k + 3, c[k].w, n[k].w);
    }
    return estimates;
  }

  /// Considers what may be the best of some pixels; `largest` is the largest estimate so far.
  __device__ __forceinline__ void consider_some(Candidate& best, float& largest, int first) const {
    const Estimates estimates = estimates_of(first);
    const auto index_of = [&](int number) { return 4 * quad_of(first, number / 4) + number % 4; };
    largest = fmaxf(largest, largest_of_warp(estimates.largest));
    const float bound = wa_score_bound(largest, min_overlap);
    unsigned hopeful = 0;
#pragma unroll
    for (int number = 0; number < 4 * quads_at_once; ++number) {
      if (!(estimates.squares[number] < bound)) hopeful |= 1U << number;
    }
    if (estimates.zeros != 0) consider(best, 0.0f, index_of(__ffs(estimates.zeros) - 1));
    for (hopeful &= ~estimates.zeros; hopeful != 0; hopeful &= hopeful - 1) {
      const int index = index_of(__ffs(hopeful) - 1);
      consider(best, score_at(index), index);
    }
  }

  /// The best pixel of this thread's share, or nobody where another of the warp has a better one.
  __device__ __forceinline__ Candidate best_of_share() const {
    const int first = static_cast<int>(blockIdx.x * reduction_threads);
    const int step = static_cast<int>(gridDim.x) * reduction_threads;
    const int thread = static_cast<int>(threadIdx.x);
    Candidate best = nobody();
    float largest = -INFINITY;
    // Searches rarely have a limit of the distance, which takes longer to compute than the score.
    const int quads = reach2 > 0.0f ? 0 : plane.quads;
    // All threads of a block go on as long as one does: they exchange estimates.
    for (int i = first; i < quads; i += quads_at_once * step) {
      consider_some(best, largest, i + thread);
    }
    for (int i = 4 * quads + first + thread; i < plane.pixels; i += step) {
      consider(best, score_at(i), i);
    }
    return best;
  }
};

// Surfaces are straight and mirrored in turn. `each` is how many overlaps an image has of its own,
// 2 or 0.
__device__ __forceinline__ ScoredSurface scored_surface(const float* surfaces,
                                                        const float* overlaps, int each,
                                                        const Plane& plane,
                                                        const OverlapLimits& limits) {
  const long long image = blockIdx.y / 2;
  const bool mirrored = blockIdx.y % 2 == 1;
  return {surfaces + static_cast<long long>(blockIdx.y) * plane.pixels,
          overlaps + (image * each + (mirrored ? 1 : 0)) * plane.pixels,
          plane,
          limits.min_overlap,
          limits.reach * limits.reach,
          mirrored ? limits.mirrored_centre_x : limits.centre_x,
          mirrored ? limits.mirrored_centre_y : limits.centre_y};
}

/// The best of a warp's candidates, in every lane.
__device__ __forceinline__ Candidate best_of_warp(Candidate best) {
#pragma unroll
  for (int distance = warp_lanes / 2; distance > 0; distance /= 2) {
    const Candidate other{__shfl_xor_sync(0xffffffffU, best.value, distance),
                          __shfl_xor_sync(0xffffffffU, best.index, distance)};
    best = Better{}(best, other);
  }
  return best;
}

// The second index of a block is the number of a surface. `partials` holds a candidate of every
// block for each surface, one surface after the other; `counters` holds one counter per surface.
template <int images>
__global__ void __launch_bounds__(reduction_threads, blocks_per_multiprocessor)
    overlap_peaks_kernel(const float* __restrict__ surfaces, const float* __restrict__ overlaps,
                         int each, Plane plane, const __grid_constant__ Limits<images> all,
                         Candidate* __restrict__ partials, unsigned* __restrict__ counters,
                         DevicePeakRecord* __restrict__ records) {
  await_previous();
  __shared__ typename BestOfBlock::TempStorage scratch;
  const ScoredSurface scored = scored_surface(surfaces, overlaps, each, plane,
                                              all.entries[images == 1 ? 0 : blockIdx.y / 2]);
  partials += static_cast<long long>(blockIdx.y) * gridDim.x;
  Candidate best = BestOfBlock(scratch).Reduce(scored.best_of_share(), Better{});
  if (threadIdx.x == 0) partials[blockIdx.x] = best;
  if (!is_last_block(counters + blockIdx.y, gridDim.x) || threadIdx.x >= warp_lanes) return;
  best = threadIdx.x < gridDim.x ? load_fresh(partials + threadIdx.x) : nobody();
  const auto value_at = [&](int column, int row) {
    return scored.score_at(row * plane.width + column);
  };
  write_record(best_of_warp(best), plane.width, plane.height, value_at, records[blockIdx.y]);
}

Plane plane_of(const Shape& surface, const CallSite& site) {
  const int pixels = extent(surface.plane(), site);
  return {extent(surface.width, site), extent(surface.height, site), pixels,
          pixels % 4 == 0 ? pixels / 4 : 0, 1.0F / static_cast<float>(pixels)};
}

class OverlapPeaksStage final : public backend::OverlapPeaks {
 public:
  OverlapPeaksStage(const Context& context, const OverlapPeaksSpec& spec)
      : site_{context, "overlap_peaks"},
        plane_(plane_of(spec.surface, site_)),
        surfaces_(2 * static_cast<unsigned>(spec.batch)),
        each_(spec.one_overlap ? 0 : 2),
        blocks_(static_cast<unsigned>(std::min<std::int64_t>(
            divide_up(plane_.pixels, 4 * quads_at_once * reduction_threads), max_blocks))),
        partials_(site_, std::size_t{blocks_} * surfaces_ * sizeof(Candidate)),
        counters_(site_, surfaces_),
        scratch_guard_(site_) {
    load(&overlap_peaks_kernel<1>, site_);
    if (spec.batch > 1) load(&overlap_peaks_kernel<max_images>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& records) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_for_entries<OverlapLimits, max_images>(
        limits.size(), [&](std::size_t i) { return limits[i]; },
        [&]<int images>(const Limits<images>& list, std::size_t image, std::size_t count) {
          const std::size_t first = 2 * image;
          const unsigned here = images == 1 ? surfaces_ : 2 * static_cast<unsigned>(count);
          const auto pixels = static_cast<std::size_t>(plane_.pixels);
          launch_early(site_, queue, dim3(blocks_, here), dim3(reduction_threads),
                       &overlap_peaks_kernel<images>, data<float>(surfaces) + first * pixels,
                       data<float>(overlaps) + static_cast<std::size_t>(each_) * image * pixels,
                       each_, plane_, list, partials_.as<Candidate>() + first * blocks_,
                       counters_.get() + first, data<DevicePeakRecord>(records) + first);
        });
  }

 private:
  CallSite site_;
  Plane plane_;
  unsigned surfaces_;
  int each_;  // overlaps that an image has of its own
  unsigned blocks_;
  DeviceMemory partials_;
  Counters counters_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::OverlapPeaks> make(const Context& context, const OverlapPeaksSpec& spec) {
  return std::make_unique<OverlapPeaksStage>(context, spec);
}

}  // namespace warpalign::cuda
