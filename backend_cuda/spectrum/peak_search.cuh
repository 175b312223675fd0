// The common part of the searches for the maximum of a slice: candidates, their comparison, and the
// record of the winner.
#pragma once

#include "device/launch.hpp"

#include <warpalign/backend/stages/spectrum/peak.hpp>

#include <cub/block/block_reduce.cuh>

#include <cstdint>

namespace warpalign::cuda {

// PeakRecord with a plain array, which device code can index.
struct DevicePeakRecord {
  float value;
  std::int32_t x;
  std::int32_t y;
  float neighbours[9];
};
static_assert(sizeof(DevicePeakRecord) == sizeof(PeakRecord) && sizeof(DevicePeakRecord) == 48);

struct alignas(8) Candidate {
  float value;
  int index;  // row-major in its slice, which has at most 2^28 pixels
};

inline constexpr int no_index = 0x7fffffff;

// NaN is neither greater than nor equal to anything, so it never wins. The code avoids && and ||,
// which would compile to branches.
__device__ __forceinline__ bool beats(float value, int index, const Candidate& best) {
  const bool is_greater = value > best.value;
  const bool is_equal = value == best.value;
  const bool is_earlier = index < best.index;
  return static_cast<bool>(is_greater | (is_equal & is_earlier));
}

struct Better {
  __device__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    return beats(b.value, b.index, a) ? b : a;
  }
};

__device__ __forceinline__ Candidate nobody() {
  return {__int_as_float(static_cast<int>(0xff800000U)), no_index};
}

__device__ __forceinline__ void consider(Candidate& best, float value, int index) {
  if (beats(value, index, best)) best = {value, index};
}

// Like consider(), for indices that increase from call to call. Leaves pixels of -infinity to
// consider().
__device__ __forceinline__ void consider_next(Candidate& best, float value, int index) {
  if (value > best.value) best = {value, index};
}

using BestOfBlock = cub::BlockReduce<Candidate, reduction_threads>;

__device__ __forceinline__ int wrap(int i, int n) { return i < 0 ? i + n : (i >= n ? i - n : i); }

// Threads number 0 to 8, of a block or a warp, execute this. value_at(column, row) is the value of
// a pixel. If every pixel is NaN, the record names the first one.
template <class ValueAt>
__device__ __forceinline__ void write_record(const Candidate& peak, int width, int height,
                                             const ValueAt& value_at, DevicePeakRecord& record,
                                             int thread) {
  const int index = peak.index != no_index ? peak.index : 0;
  const int x = index % width;
  const int y = index / width;
  if (thread == 0) {
    record.value = peak.value;
    record.x = x;
    record.y = y;
  }
  if (thread < 9) {
    record.neighbours[thread] =
        value_at(wrap(x + thread % 3 - 1, width), wrap(y + thread / 3 - 1, height));
  }
}

}  // namespace warpalign::cuda
