// Stage: the peaks of correlation surfaces, scored by overlap, in one kernel. It computes scores,
// and overlaps from outlines, when it compares them, and never stores them. The last block of a
// surface writes its record.
#include "device/dependent_launch.cuh"
#include "device/last_block.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"
#include "spectrum/peak_search.cuh"

#include "formulas/overlap.h"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace warpalign::cuda {
namespace {

// Groups of four pixels that a thread loads at once from a surface, and as many of its overlaps;
// or, with outlines, from both surfaces of an image.
constexpr int quads_at_once = 4;
constexpr int outlined_quads_at_once = 2;

// This leaves a thread enough registers for all of these loads. With more blocks the compiler makes
// it wait for some before it begins the others.
constexpr int blocks_per_multiprocessor = 4;

// Blocks of a surface: one warp of the last block reduces their candidates, without a barrier.
constexpr int max_blocks = warp_lanes;

/// The limits that all images of a launch share, or those of each.
template <int images>
using Limits = ParameterList<OverlapLimits, images>;

// The number of images with different limits that share a launch.
constexpr int max_images = 64;

/// The parameters of an image with an outline.
struct Outlined {
  OverlapLimits limits;  // the centres are the equivalent ones nearest to shift 0
  WaOutline outline;
};
static_assert(sizeof(WaOutline) == sizeof(backend::OutlineEdges));

template <int images>
using OutlinedImages = ParameterList<Outlined, images>;

// The number of such images that share a launch: other arguments take less than 256 bytes.
constexpr int max_outlines = 48;
static_assert(sizeof(Outlined) * max_outlines <= 4096 - 256);

/// Divides numbers below 2^31 without a division (Granlund & Montgomery 1994).
struct Divisor {
  unsigned multiplier;
  int shift;

  __device__ __forceinline__ int quotient(int n) const {
    const auto number = static_cast<unsigned>(n);
    return static_cast<int>((__umulhi(number, multiplier) + number) >> shift);
  }
};

Divisor divisor(int by) {
  const int shift = std::bit_width(static_cast<unsigned>(by) - 1);
  const std::uint64_t rest = (std::uint64_t{1} << shift) - static_cast<std::uint64_t>(by);
  const std::uint64_t multiplier = (rest << 32) / static_cast<std::uint64_t>(by) + 1;
  return {static_cast<unsigned>(multiplier), shift};
}

struct Plane {
  int width, height;
  int pixels;
  // groups of four pixels, aligned in every surface; 0 if they are not. In a plane with outlines,
  // no group crosses rows
  int quads;
  Divisor quads_of_row;
  float normalization;  // 1 / the number of pixels
};

// Accurate to 1 ulp; 0 for numbers above 2^126.
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

/// Pixels that a thread processes at once: of a surface, or their overlaps.
template <int quads>
struct Pixels {
  float4 of[quads];
};

/// Estimates for some pixels, before any score is computed. Bit i belongs to pixel number i.
template <int quads>
struct Estimates {
  float squares[4 * quads];  // of scores, signed
  float largest;             // ignores NaN
  unsigned zeros = 0;        // pixels that score 0 because their overlap is too small
};

/// Stored overlaps N, multiplied by the number of pixels.
struct StoredOverlaps {
  static constexpr int quads = quads_at_once;

  const float* __restrict__ overlap;
  float normalization;

  /// The overlaps of a group of four pixels, in pixels.
  __device__ __forceinline__ float4 pixels_of(int quad) const {
    const float4 n = __ldg(reinterpret_cast<const float4*>(overlap) + quad);
    return {n.x * normalization, n.y * normalization, n.z * normalization, n.w * normalization};
  }
  __device__ __forceinline__ float pixels_at(int index) const {
    return __ldg(overlap + index) * normalization;
  }
  /// The overlap of pixel `number`, at `index`, among those that pixels_of() has returned.
  __device__ __forceinline__ float pixels_again(const Pixels<quads>&, int, int index) const {
    return pixels_at(index);
  }
};

/// Overlaps that are computed from outlines. Every computation of an overlap gives the same bits:
/// columns are always counted from that of a group's first pixel.
struct OutlineOverlaps {
  static constexpr int quads = outlined_quads_at_once;

  WaOutlinePairs pairs;
  Divisor quads_of_row;
  float x_of_zero, y_of_zero;  // the distances of shift 0
  int width;
  float turn_x, turn_y;  // width and height

  struct Row {
    WaEdgeHeights first, second;
  };

  __device__ __forceinline__ Row row_of(int y) const {
    const float dy = wa_wrapped_distance(static_cast<float>(y) + y_of_zero, turn_y);
    return {wa_edge_heights(pairs.first, dy), wa_edge_heights(pairs.second, dy)};
  }
  /// The overlap of number k of a group's pixels; the first is in column x.
  __device__ __forceinline__ float pixels_in(const Row& row, int x, float k) const {
    const float dx = wa_wrapped_distance(static_cast<float>(x) + x_of_zero + k, turn_x);
    return wa_outline_overlap(pairs, row.first, row.second, dx);
  }
  __device__ __forceinline__ float4 pixels_of(int quad) const {
    const int y = quads_of_row.quotient(quad);
    const int x = 4 * quad - y * width;
    const Row row = row_of(y);
    return {pixels_in(row, x, 0.0f), pixels_in(row, x, 1.0f), pixels_in(row, x, 2.0f),
            pixels_in(row, x, 3.0f)};
  }
  __device__ __forceinline__ float pixels_at(int index) const {
    const int y = index / width;
    const int x = index - y * width;
    return pixels_in(row_of(y), x & ~3, static_cast<float>(x & 3));
  }
  // A selection takes less time than another computation.
  __device__ __forceinline__ float pixels_again(const Pixels<quads>& pixels, int number,
                                                int) const {
    float again = 0.0f;
#pragma unroll
    for (int k = 0; k < quads; ++k) {
      const float4& of = pixels.of[k];
      const int place = number - 4 * k;
      again = place == 0 ? of.x : again;
      again = place == 1 ? of.y : again;
      again = place == 2 ? of.z : again;
      again = place == 3 ? of.w : again;
    }
    return again;
  }
};

/// One surface C, straight or mirrored, multiplied by the number of pixels, and its overlaps.
///
/// A score takes a root and a division, one after the other and with a branch for rare numbers. So
/// the kernel first estimates the squares of scores of many pixels at once, and computes the score
/// only where it may be the highest of a warp's: mostly for one pixel.
template <class Overlaps>
struct ScoredSurface {
  static constexpr int quads = Overlaps::quads;

  const float* __restrict__ surface;
  Overlaps overlaps;
  Plane plane;
  float min_overlap;
  float reach2;  // wa_reach_square(): 0 if every shift is allowed
  float centre_x, centre_y;
  float first_x, first_y, second_x, second_y;  // bands

  __device__ __forceinline__ bool is_within_reach(int index) const {
    const int y = index / plane.width;
    const int x = index - y * plane.width;
    const float dx =
        wa_shift_distance(static_cast<float>(x), centre_x, static_cast<float>(plane.width));
    const float dy =
        wa_shift_distance(static_cast<float>(y), centre_y, static_cast<float>(plane.height));
    return wa_shift_square(dx, dy) <= reach2 &&
           wa_band_distance(dx, dy, first_x, first_y) <= 1.0f &&
           wa_band_distance(dx, dy, second_x, second_y) <= 1.0f;
  }

  __device__ __forceinline__ float score_of(int index, float pixels) const {
    return wa_score_over(__ldg(surface + index), pixels, plane.normalization, min_overlap);
  }

  __device__ __forceinline__ float score_at(int index) const {
    if (reach2 > 0.0f && !is_within_reach(index)) return 0.0f;
    return score_of(index, overlaps.pixels_at(index));
  }

  __device__ __forceinline__ void estimate(Estimates<quads>& estimates, int number, float c,
                                           float pixels) const {
    const bool may_score = pixels >= min_overlap;
    const float square = wa_signed_square(c * plane.normalization) * approximate_reciprocal(pixels);
    estimates.squares[number] = may_score ? square : 0.0f;
    if (!may_score) estimates.zeros |= 1U << number;
    const float so_far = number == 0 ? -INFINITY : estimates.largest;
    estimates.largest = fmaxf(so_far, estimates.squares[number]);
  }

  // The index of group number k among those that are loaded at once.
  __device__ __forceinline__ int quad_of(int first, int k) const {
    const int step = static_cast<int>(gridDim.x) * reduction_threads;
    return min(first + k * step, plane.quads - 1);
  }

  __device__ __forceinline__ Pixels<quads> load(int first) const {
    Pixels<quads> loaded;
#pragma unroll
    for (int k = 0; k < quads; ++k) {
      loaded.of[k] = __ldg(reinterpret_cast<const float4*>(surface) + quad_of(first, k));
    }
    return loaded;
  }

  __device__ __forceinline__ void begin_load(int first,
                                             float4 (&staged)[quads][reduction_threads]) const {
#pragma unroll
    for (int k = 0; k < quads; ++k) {
      __pipeline_memcpy_async(&staged[k][threadIdx.x],
                              reinterpret_cast<const float4*>(surface) + quad_of(first, k),
                              sizeof(float4));
    }
  }

  __device__ __forceinline__ Pixels<quads> find_overlaps(int first) const {
    Pixels<quads> found;
#pragma unroll
    for (int k = 0; k < quads; ++k) found.of[k] = overlaps.pixels_of(quad_of(first, k));
    return found;
  }

  __device__ __forceinline__ Estimates<quads> estimates_of(const Pixels<quads>& c,
                                                           const Pixels<quads>& pixels) const {
    Estimates<quads> estimates;
#pragma unroll
    for (int k = 0; k < quads; ++k) {
      estimate(estimates, 4 * k, c.of[k].x, pixels.of[k].x);
      estimate(estimates, 4 * k + 1, c.of[k].y, pixels.of[k].y);
      estimate(estimates, 4 * k + 2, c.of[k].z, pixels.of[k].z);
      estimate(estimates, 4 * k + 3, c.of[k].w, pixels.of[k].w);
    }
    return estimates;
  }

  /// Compares the possible best among some pixels; `largest` is the largest estimate so far.
  __device__ __forceinline__ void consider_some(Candidate& best, float& largest, int first,
                                                const Pixels<quads>& c,
                                                const Pixels<quads>& pixels) const {
    const Estimates<quads> estimates = estimates_of(c, pixels);
    const auto index_of = [&](int number) { return 4 * quad_of(first, number / 4) + number % 4; };
    largest = fmaxf(largest, largest_of_warp(estimates.largest));
    const float bound = wa_score_bound(largest, min_overlap);
    unsigned hopeful = 0;
#pragma unroll
    for (int number = 0; number < 4 * quads; ++number) {
      if (!(estimates.squares[number] < bound)) hopeful |= 1U << number;
    }
    if (estimates.zeros != 0) consider(best, 0.0f, index_of(__ffs(estimates.zeros) - 1));
    for (hopeful &= ~estimates.zeros; hopeful != 0; hopeful &= hopeful - 1) {
      const int number = __ffs(hopeful) - 1;
      const int index = index_of(number);
      consider(best, score_of(index, overlaps.pixels_again(pixels, number, index)), index);
    }
  }

  // Searches rarely limit the distance, which takes longer to compute than the score.
  __device__ __forceinline__ int quads_to_estimate() const {
    return reach2 > 0.0f ? 0 : plane.quads;
  }

  /// Compares the pixels of this thread's share for which there is no estimate.
  __device__ __forceinline__ void consider_rest(Candidate& best) const {
    const int step = static_cast<int>(gridDim.x) * reduction_threads;
    const int first = static_cast<int>(blockIdx.x * reduction_threads + threadIdx.x);
    for (int i = 4 * quads_to_estimate() + first; i < plane.pixels; i += step) {
      consider(best, score_at(i), i);
    }
  }
};

/// Calls consider_at(i) for each i, a thread's first group of those that it processes at once. All
/// threads of a block iterate as long as one does, because they exchange estimates.
template <class Overlaps, class Consider>
__device__ __forceinline__ void for_share(const ScoredSurface<Overlaps>& scored,
                                          const Consider& consider_at) {
  const int step = static_cast<int>(gridDim.x) * reduction_threads;
  const int quads = scored.quads_to_estimate();
  for (int i = static_cast<int>(blockIdx.x * reduction_threads); i < quads;
       i += Overlaps::quads * step) {
    consider_at(i + static_cast<int>(threadIdx.x));
  }
}

/// The best pixel of this thread's share, or none if another thread of the warp has a better one.
__device__ __forceinline__ Candidate best_of_share(const ScoredSurface<StoredOverlaps>& scored) {
  Candidate best = nobody();
  float largest = -INFINITY;
  for_share(scored, [&](int first) {
    scored.consider_some(best, largest, first, scored.load(first), scored.find_overlaps(first));
  });
  scored.consider_rest(best);
  return best;
}

/// Pixels of both surfaces that are loaded asynchronously while a block computes their overlaps:
/// the compiler would load them afterwards, and wait. A thread reads only its own copies.
struct StagedPixels {
  float4 straight[outlined_quads_at_once][reduction_threads];
  float4 mirrored[outlined_quads_at_once][reduction_threads];
};

/// Both surfaces of an image.
struct OutlinedSurfaces {
  ScoredSurface<OutlineOverlaps> straight, mirrored;

  static __device__ __forceinline__ Pixels<outlined_quads_at_once> loaded(
      const float4 (&staged)[outlined_quads_at_once][reduction_threads]) {
    Pixels<outlined_quads_at_once> pixels;
#pragma unroll
    for (int k = 0; k < outlined_quads_at_once; ++k) pixels.of[k] = staged[k][threadIdx.x];
    return pixels;
  }

  /// Whether both surfaces have the same overlaps because they have the same centre, as for frames
  /// with even sides.
  __device__ __forceinline__ bool are_alike() const {
    return straight.overlaps.x_of_zero == mirrored.overlaps.x_of_zero &&
           straight.overlaps.y_of_zero == mirrored.overlaps.y_of_zero;
  }

  /// One of the surfaces, in registers: a reference would keep both in memory.
  __device__ __forceinline__ ScoredSurface<OutlineOverlaps> on(bool is_mirrored) const {
    ScoredSurface<OutlineOverlaps> one = straight;
    if (!is_mirrored) return one;
    one.surface = mirrored.surface;
    one.centre_x = mirrored.centre_x;
    one.centre_y = mirrored.centre_y;
    one.overlaps.x_of_zero = mirrored.overlaps.x_of_zero;
    one.overlaps.y_of_zero = mirrored.overlaps.y_of_zero;
    return one;
  }

  /// The best of this thread's share of both surfaces. Overlaps take most of the time: if they are
  /// the same for both, they are computed once.
  __device__ __forceinline__ void find_best(StagedPixels& staged, Candidate& best,
                                            Candidate& mirrored_best) const {
    const bool alike = are_alike();
    best = mirrored_best = nobody();
    float largest = -INFINITY;
    float mirrored_largest = -INFINITY;
    for_share(straight, [&](int first) {
      straight.begin_load(first, staged.straight);
      mirrored.begin_load(first, staged.mirrored);
      __pipeline_commit();
      auto pixels = straight.find_overlaps(first);
      __pipeline_wait_prior(0);
      straight.consider_some(best, largest, first, loaded(staged.straight), pixels);
      if (!alike) pixels = mirrored.find_overlaps(first);
      mirrored.consider_some(mirrored_best, mirrored_largest, first, loaded(staged.mirrored),
                             pixels);
    });
    straight.consider_rest(best);
    mirrored.consider_rest(mirrored_best);
  }
};

// Surface number `slice`: straight and mirrored surfaces alternate.
template <class Overlaps>
__device__ __forceinline__ ScoredSurface<Overlaps> scored_surface(const float* surfaces,
                                                                  unsigned slice,
                                                                  const Overlaps& overlaps,
                                                                  const Plane& plane,
                                                                  const OverlapLimits& limits) {
  const bool mirrored = slice % 2 == 1;
  return {surfaces + static_cast<long long>(slice) * plane.pixels,
          overlaps,
          plane,
          limits.min_overlap,
          wa_reach_square(limits.reach, limits.first_x, limits.first_y, limits.second_x,
                          limits.second_y),
          mirrored ? limits.mirrored_centre_x : limits.centre_x,
          mirrored ? limits.mirrored_centre_y : limits.centre_y,
          limits.first_x,
          limits.first_y,
          limits.second_x,
          limits.second_y};
}

// `each` is the number of overlaps per image, 2, or 0 if all images share two.
__device__ __forceinline__ StoredOverlaps stored_overlaps(const float* overlaps, unsigned slice,
                                                          int each, const Plane& plane) {
  const long long image = slice / 2;
  return {overlaps + (image * each + slice % 2) * plane.pixels, plane.normalization};
}

__device__ __forceinline__ OutlineOverlaps outline_overlaps(const WaOutlinePairs& pairs,
                                                            const Plane& plane, float centre_x,
                                                            float centre_y) {
  const auto width = static_cast<float>(plane.width);
  const auto height = static_cast<float>(plane.height);
  return {pairs, plane.quads_of_row, -centre_x, -centre_y, plane.width, width, height};
}

// The surfaces of image number `image`.
__device__ __forceinline__ OutlinedSurfaces outlined_surfaces(const float* surfaces, unsigned image,
                                                              const Outlined& outlined,
                                                              const Plane& plane) {
  const OverlapLimits& limits = outlined.limits;
  const WaOutlinePairs pairs = wa_outline_pairs(outlined.outline);
  return {scored_surface(surfaces, 2 * image,
                         outline_overlaps(pairs, plane, limits.centre_x, limits.centre_y), plane,
                         limits),
          scored_surface(
              surfaces, 2 * image + 1,
              outline_overlaps(pairs, plane, limits.mirrored_centre_x, limits.mirrored_centre_y),
              plane, limits)};
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

/// The memory that the blocks of a launch share.
struct Results {
  Candidate* __restrict__ partials;  // of every block for each surface, one surface after the other
  unsigned* __restrict__ counters;   // at least one for each second index of a block
  DevicePeakRecord* __restrict__ records;
};

// A warp writes the record of a surface from the candidates of all blocks.
template <class Overlaps>
__device__ __forceinline__ void write_peak(const ScoredSurface<Overlaps>& scored, unsigned slice,
                                           const Results& results) {
  const unsigned lane = threadIdx.x % warp_lanes;
  const Candidate* partials = results.partials + static_cast<long long>(slice) * gridDim.x;
  const Candidate best = lane < gridDim.x ? load_fresh(partials + lane) : nobody();
  const int width = scored.plane.width;
  const auto value_at = [&](int column, int row) { return scored.score_at(row * width + column); };
  write_record(best_of_warp(best), width, scored.plane.height, value_at, results.records[slice],
               static_cast<int>(lane));
}

// The second index of a block is the number of a surface.
template <int images>
__global__ void __launch_bounds__(reduction_threads, blocks_per_multiprocessor)
    overlap_peaks_kernel(const float* __restrict__ surfaces, const float* __restrict__ overlaps,
                         int each, Plane plane, const __grid_constant__ Limits<images> all,
                         Results results) {
  wait_for_previous_kernel();
  __shared__ typename BestOfBlock::TempStorage scratch;
  const unsigned slice = blockIdx.y;
  const auto scored = scored_surface(surfaces, slice, stored_overlaps(overlaps, slice, each, plane),
                                     plane, all.entries[images == 1 ? 0 : slice / 2]);
  const Candidate best = BestOfBlock(scratch).Reduce(best_of_share(scored), Better{});
  if (threadIdx.x == 0) results.partials[slice * gridDim.x + blockIdx.x] = best;
  if (!is_last_block(results.counters + slice, gridDim.x) || threadIdx.x >= warp_lanes) return;
  write_peak(scored, slice, results);
}

// The second index of a block is the number of an image, both of whose surfaces it reads. The first
// two warps of the last block write their records.
template <int images>
__global__ void __launch_bounds__(reduction_threads, blocks_per_multiprocessor)
    outlined_peaks_kernel(const float* __restrict__ surfaces, Plane plane,
                          const __grid_constant__ OutlinedImages<images> all, Results results) {
  wait_for_previous_kernel();
  __shared__ typename BestOfBlock::TempStorage scratch, mirrored_scratch;
  __shared__ StagedPixels staged;
  const unsigned image = blockIdx.y;
  const OutlinedSurfaces both =
      outlined_surfaces(surfaces, image, all.entries[images == 1 ? 0 : image], plane);
  Candidate best, mirrored_best;
  both.find_best(staged, best, mirrored_best);
  best = BestOfBlock(scratch).Reduce(best, Better{});
  mirrored_best = BestOfBlock(mirrored_scratch).Reduce(mirrored_best, Better{});
  if (threadIdx.x == 0) {
    results.partials[2 * image * gridDim.x + blockIdx.x] = best;
    results.partials[(2 * image + 1) * gridDim.x + blockIdx.x] = mirrored_best;
  }
  const unsigned warp = threadIdx.x / warp_lanes;
  if (!is_last_block(results.counters + image, gridDim.x) || warp > 1) return;
  write_peak(both.on(warp == 1), 2 * image + warp, results);
}

Plane plane_of(const OverlapPeaksSpec& spec, const CallSite& site) {
  const int pixels = extent(spec.surface.plane(), site);
  const int width = extent(spec.surface.width, site);
  const bool has_quads = (spec.outlines ? width : pixels) % 4 == 0;
  return {width,
          extent(spec.surface.height, site),
          pixels,
          has_quads ? pixels / 4 : 0,
          divisor(std::max(width / 4, 1)),
          1.0F / static_cast<float>(pixels)};
}

OverlapLimits with_near_centres(OverlapLimits limits, const Plane& plane) {
  const auto width = static_cast<float>(plane.width);
  const auto height = static_cast<float>(plane.height);
  limits.centre_x = std::remainder(limits.centre_x, width);
  limits.centre_y = std::remainder(limits.centre_y, height);
  limits.mirrored_centre_x = std::remainder(limits.mirrored_centre_x, width);
  limits.mirrored_centre_y = std::remainder(limits.mirrored_centre_y, height);
  return limits;
}

// The blocks for a surface, or for both surfaces of an image.
unsigned blocks_for(const OverlapPeaksSpec& spec, const CallSite& site) {
  const int quads = spec.outlines ? outlined_quads_at_once : quads_at_once;
  const int pixels = extent(spec.surface.plane(), site);
  return static_cast<unsigned>(
      std::min<std::int64_t>(divide_up(pixels, 4 * quads * reduction_threads), max_blocks));
}

class OverlapPeaksStage final : public backend::OverlapPeaks {
 public:
  OverlapPeaksStage(const Context& context, const OverlapPeaksSpec& spec)
      : site_{context, "overlap_peaks"},
        plane_(plane_of(spec, site_)),
        surfaces_(2 * static_cast<unsigned>(spec.batch)),
        each_(spec.one_overlap ? 0 : 2),
        blocks_(blocks_for(spec, site_)),
        partials_(site_, std::size_t{blocks_} * surfaces_ * sizeof(Candidate)),
        counters_(site_, surfaces_),
        scratch_guard_(site_) {
    if (spec.outlines) {
      load(&outlined_peaks_kernel<1>, site_);
      if (spec.batch > 1) load(&outlined_peaks_kernel<max_outlines>, site_);
    } else {
      load(&overlap_peaks_kernel<1>, site_);
      if (spec.batch > 1) load(&overlap_peaks_kernel<max_images>, site_);
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& records) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_for_entries<OverlapLimits, max_images>(
        limits.size(), [&](std::size_t i) { return limits[i]; },
        [&]<int images>(const Limits<images>& list, std::size_t image, std::size_t count) {
          const unsigned here = images == 1 ? surfaces_ : 2 * static_cast<unsigned>(count);
          const auto pixels = static_cast<std::size_t>(plane_.pixels);
          launch_dependent(site_, queue, dim3(blocks_, here), dim3(reduction_threads),
                       &overlap_peaks_kernel<images>, data<float>(surfaces) + 2 * image * pixels,
                       data<float>(overlaps) + static_cast<std::size_t>(each_) * image * pixels,
                       each_, plane_, list, results_from(2 * image, records));
        });
  }

  void enqueue_outlines(backend::Queue& queue, const backend::Memory& surfaces,
                        std::span<const backend::OutlineEdges> outlines,
                        std::span<const OverlapLimits> limits, backend::Memory& records) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    const auto outlined = [&](std::size_t i) -> Outlined {
      return {with_near_centres(limits[limits.size() == 1 ? 0 : i], plane_),
              std::bit_cast<WaOutline>(outlines[i])};
    };
    launch_for_entries<Outlined, max_outlines>(
        outlines.size(), outlined,
        [&]<int images>(const OutlinedImages<images>& list, std::size_t image, std::size_t count) {
          const dim3 grid(blocks_, static_cast<unsigned>(count));
          const auto pixels = static_cast<std::size_t>(plane_.pixels);
          launch_dependent(site_, queue, grid, dim3(reduction_threads), &outlined_peaks_kernel<images>,
                       data<float>(surfaces) + 2 * image * pixels, plane_, list,
                       results_from(2 * image, records));
        });
  }

 private:
  /// The results from surface number `first` on.
  [[nodiscard]] Results results_from(std::size_t first, backend::Memory& records) const {
    return {partials_.as<Candidate>() + first * blocks_, counters_.get() + first,
            data<DevicePeakRecord>(records) + first};
  }

  CallSite site_;
  Plane plane_;
  unsigned surfaces_;
  int each_;  // the number of overlaps per image
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
