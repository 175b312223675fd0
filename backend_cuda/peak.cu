// Stage: the maximum of an image with its coordinates and neighbours, in two stages
// (registration paper, section 4).
#include "launch.hpp"
#include "memory.hpp"
#include "stages.hpp"

#include <cub/block/block_reduce.cuh>

#include <cstdint>

namespace warpalign::cuda {
namespace {

// PeakRecord with a plain array, which device code can index.
struct Record {
  float value;
  std::int32_t x;
  std::int32_t y;
  float neighbours[9];
};
static_assert(sizeof(Record) == sizeof(PeakRecord) && sizeof(Record) == 48);

struct Candidate {
  float value;
  long long index;  // row-major in its slice
};

constexpr long long no_index = 0x7fffffffffffffffLL;

// NaN is neither greater than nor equal to anything, so it never wins.
__device__ __forceinline__ bool beats(float value, long long index, const Candidate& best) {
  return value > best.value || (value == best.value && index < best.index);
}

struct Better {
  __device__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    return beats(b.value, b.index, a) ? b : a;
  }
};

__device__ __forceinline__ Candidate nobody() {
  return {__int_as_float(static_cast<int>(0xff800000U)), no_index};
}

__device__ __forceinline__ void consider(Candidate& best, float value, long long index) {
  if (beats(value, index, best)) best = {value, index};
}

// The same for indices that rise from call to call; pixels of -infinity are left to consider().
__device__ __forceinline__ void consider_next(Candidate& best, float value, long long index) {
  if (value > best.value) best = {value, index};
}

using Reduce = cub::BlockReduce<Candidate, reduction_threads>;

// The best of each block's share of one slice. `quads`: groups of four pixels that can be loaded
// at once, from the slice's start.
__device__ __forceinline__ Candidate scan(const float* slice, long long plane, long long quads) {
  const long long first = static_cast<long long>(blockIdx.x) * reduction_threads + threadIdx.x;
  const long long step = static_cast<long long>(gridDim.x) * reduction_threads;
  Candidate best = nobody();
#pragma unroll 4  // so many loads are under way at a time
  for (long long i = first; i < quads; i += step) {
    const float4 quad = reinterpret_cast<const float4*>(slice)[i];
    consider_next(best, quad.x, 4 * i);
    consider_next(best, quad.y, 4 * i + 1);
    consider_next(best, quad.z, 4 * i + 2);
    consider_next(best, quad.w, 4 * i + 3);
  }
  for (long long i = 4 * quads + first; i < plane; i += step) consider_next(best, slice[i], i);
  if (best.index != no_index) return best;
  for (long long i = 4 * first; i < plane; i += 4 * step) {
    for (long long k = i; k < min(i + 4, plane); ++k) consider(best, slice[k], k);
  }
  return best;
}

__global__ void __launch_bounds__(reduction_threads)
    peak_partial_kernel(const float* __restrict__ input, long long plane, long long quads,
                        int depth, Candidate* __restrict__ partials) {
  __shared__ typename Reduce::TempStorage scratch;
  for (int slice = static_cast<int>(blockIdx.y); slice < depth;
       slice += static_cast<int>(gridDim.y)) {
    const Candidate mine = scan(input + slice * plane, plane, quads);
    const Candidate best = Reduce(scratch).Reduce(mine, Better{});
    if (threadIdx.x == 0) {
      partials[static_cast<long long>(slice) * gridDim.x + blockIdx.x] = best;
    }
    __syncthreads();  // before the next slice uses the scratch memory
  }
}

__device__ __forceinline__ int wrap(int i, int n) { return i < 0 ? i + n : (i >= n ? i - n : i); }

// One block a slice.
__global__ void __launch_bounds__(reduction_threads)
    peak_total_kernel(const float* __restrict__ input, const Candidate* __restrict__ partials,
                      int count, int width, int height, Record* __restrict__ records) {
  __shared__ typename Reduce::TempStorage scratch;
  __shared__ Candidate peak;
  const long long slice = blockIdx.x;
  Candidate best = nobody();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += reduction_threads) {
    best = Better{}(best, partials[slice * count + i]);
  }
  best = Reduce(scratch).Reduce(best, Better{});
  if (threadIdx.x == 0) {
    if (best.index == no_index) best.index = 0;  // every pixel is NaN
    peak = best;
  }
  __syncthreads();
  const int x = static_cast<int>(peak.index % width);
  const int y = static_cast<int>(peak.index / width);
  Record& record = records[slice];
  if (threadIdx.x == 0) {
    record.value = peak.value;
    record.x = x;
    record.y = y;
  }
  if (threadIdx.x < 9) {
    const int k = static_cast<int>(threadIdx.x);
    const long long column = wrap(x + k % 3 - 1, width);
    const long long row = slice * height + wrap(y + k / 3 - 1, height);
    record.neighbours[k] = input[row * width + column];
  }
}

class PeakStage final : public backend::Peak {
 public:
  PeakStage(const Context& context, const PeakSpec& spec)
      : place_{context, "peak"},
        width_(extent(spec.shape.width, place_)),
        height_(extent(spec.shape.height, place_)),
        depth_(extent(spec.shape.depth, place_)),
        plane_(spec.shape.plane()),
        blocks_(reduction_blocks(plane_, context)),
        partials_(place_, static_cast<std::size_t>(blocks_) * static_cast<std::size_t>(depth_) *
                              sizeof(Candidate)),
        fence_(place_) {
    load(&peak_partial_kernel, place_);
    load(&peak_total_kernel, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& records) override {
    place_.context.activate();
    fence_.enter(queue);
    const bool aligned_slices = depth_ == 1 || plane_ % 4 == 0;
    const long long quads = aligned_slices ? plane_ / 4 : 0;
    const dim3 grid(static_cast<unsigned>(blocks_), static_cast<unsigned>(std::min(depth_, 65535)));
    launch(place_, queue, grid, dim3(reduction_threads), &peak_partial_kernel, data<float>(input),
           plane_, quads, depth_, partials_.as<Candidate>());
    launch(place_, queue, dim3(static_cast<unsigned>(depth_)), dim3(reduction_threads),
           &peak_total_kernel, data<float>(input), partials_.as<const Candidate>(), blocks_, width_,
           height_, data<Record>(records));
  }

 private:
  Place place_;
  int width_;
  int height_;
  int depth_;
  long long plane_;
  int blocks_;
  DeviceMemory partials_;
  Fence fence_;
};

}  // namespace

std::unique_ptr<backend::Peak> make_peak(const Context& context, const PeakSpec& spec) {
  return std::make_unique<PeakStage>(context, spec);
}

}  // namespace warpalign::cuda
