// Stage: the maximum of an image with its coordinates and neighbours, by a reduction in two steps
// (registration paper, section 4); the last block to finish does the second step.
#include "device/dependent_launch.cuh"
#include "device/last_block.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "spectrum/peak_search.cuh"

#include <warpalign/backend/stages/spectrum/peak.hpp>

#include <cstdint>

namespace warpalign::cuda {
namespace {

__device__ __forceinline__ void consider_next_four(Candidate& best, float4 four, int index) {
  const float highest = fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w));  // ignores NaN
  if (!(highest > best.value)) return;
  consider_next(best, four.x, index);
  consider_next(best, four.y, index + 1);
  consider_next(best, four.z, index + 2);
  consider_next(best, four.w, index + 3);
}

constexpr int quads_at_once = 8;  // to have that many loads in flight at a time

// The best pixel of this thread's share of one slice. `quads` is the number of groups of four
// pixels, from the start of the slice, that can be loaded as one word.
__device__ __forceinline__ Candidate scan(const float* slice, int pixels, int quads) {
  const int first = static_cast<int>(blockIdx.x * reduction_threads + threadIdx.x);
  const int step = static_cast<int>(gridDim.x) * reduction_threads;
  const float4* words = reinterpret_cast<const float4*>(slice);
  Candidate best = nobody();
  for (int i = first; i < quads; i += quads_at_once * step) {
    float4 four[quads_at_once];
#pragma unroll
    for (int k = 0; k < quads_at_once; ++k) four[k] = words[min(i + k * step, quads - 1)];
#pragma unroll
    for (int k = 0; k < quads_at_once; ++k) {
      consider_next_four(best, four[k], 4 * min(i + k * step, quads - 1));
    }
  }
  for (int k = 4 * quads + first; k < pixels; k += step) consider_next(best, slice[k], k);
  if (best.index != no_index) return best;
  for (int k = first; k < pixels; k += step) consider(best, slice[k], k);
  return best;
}

struct Plane {
  int width, height;
  int quads;  // groups of four pixels, aligned in every slice
};

// `partials` holds a candidate of every block for each slice, one slice after the other; `counters`
// holds one counter per slice.
__global__ void __launch_bounds__(reduction_threads)
    peak_kernel(const float* __restrict__ input, Plane plane, int depth,
                Candidate* __restrict__ partials, unsigned* __restrict__ counters,
                DevicePeakRecord* __restrict__ records) {
  wait_for_previous_kernel();
  __shared__ typename BestOfBlock::TempStorage scratch;
  __shared__ Candidate peak;
  const int pixels = plane.width * plane.height;
  for (int slice = static_cast<int>(blockIdx.y); slice < depth;
       slice += static_cast<int>(gridDim.y)) {
    const float* pixels_of_slice = input + static_cast<long long>(slice) * pixels;
    Candidate* partials_of_slice = partials + static_cast<long long>(slice) * gridDim.x;
    Candidate best =
        BestOfBlock(scratch).Reduce(scan(pixels_of_slice, pixels, plane.quads), Better{});
    if (threadIdx.x == 0) partials_of_slice[blockIdx.x] = best;
    if (!is_last_block(counters + slice, gridDim.x)) continue;
    best = nobody();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduction_threads) {
      best = Better{}(best, load_fresh(partials_of_slice + i));
    }
    best = BestOfBlock(scratch).Reduce(best, Better{});
    if (threadIdx.x == 0) peak = best;
    __syncthreads();
    const auto value_at = [&](long long column, long long row) {
      return pixels_of_slice[row * plane.width + column];
    };
    write_record(peak, plane.width, plane.height, value_at, records[slice],
                 static_cast<int>(threadIdx.x));
    __syncthreads();  // before the next slice overwrites the peak
  }
}

Plane plane_of(const PeakSpec& spec, const CallSite& site) {
  const int pixels = extent(spec.shape.plane(), site);
  const bool aligned_slices = spec.shape.depth == 1 || pixels % 4 == 0;
  return {extent(spec.shape.width, site), extent(spec.shape.height, site),
          aligned_slices ? pixels / 4 : 0};
}

class PeakStage final : public backend::Peak {
 public:
  PeakStage(const Context& context, const PeakSpec& spec)
      : site_{context, "peak"},
        plane_(plane_of(spec, site_)),
        depth_(extent(spec.shape.depth, site_)),
        blocks_(reduction_blocks(spec.shape.plane(), context)),
        partials_(site_, static_cast<std::size_t>(blocks_) * static_cast<std::size_t>(depth_) *
                             sizeof(Candidate)),
        counters_(site_, static_cast<std::size_t>(depth_)),
        scratch_guard_(site_) {
    load(&peak_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& records) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    const dim3 grid(static_cast<unsigned>(blocks_), static_cast<unsigned>(std::min(depth_, 65535)));
    launch_dependent(site_, queue, grid, dim3(reduction_threads), &peak_kernel, data<float>(input),
                 plane_, depth_, partials_.as<Candidate>(), counters_.get(),
                 data<DevicePeakRecord>(records));
  }

 private:
  CallSite site_;
  Plane plane_;
  int depth_;
  int blocks_;
  DeviceMemory partials_;
  Counters counters_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Peak> make(const Context& context, const PeakSpec& spec) {
  return std::make_unique<PeakStage>(context, spec);
}

}  // namespace warpalign::cuda
