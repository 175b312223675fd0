// Prefilter, method `fir`: convolution with the truncated closed form of the cubic prefilter
// (Champagnat and Le Sant, equation 12 and proposition 1).
//
// Filters of up to 15 taps stream as the exact filter does, those of exactly 15 taps by running
// sums. With more taps, two-dimensional real images take a single kernel: a block convolves the
// rows of a tile and the rows around it into shared memory, then its columns. Other arrays are
// convolved axis by axis. Except in a pass along x alone, a thread computes several neighbouring
// results, so that it reads each sample once for all of them.
#include "spline/prefilter_convolution.cuh"
#include "spline/prefilter_method.hpp"
#include "spline/prefilter_running.cuh"
#include "spline/prefilter_streaming.cuh"

#include <warpalign/backend/truncated_taps.hpp>

#include <array>
#include <optional>
#include <type_traits>

namespace warpalign::cuda {
namespace {

constexpr int max_taps = 64;
constexpr int tile_warps = 4;
constexpr int tile_threads = tile_warps * warp_lanes;
constexpr int results_per_lane = 4;  // along a row
constexpr int tile_columns = results_per_lane * warp_lanes;
constexpr int results_per_column = 8;  // per thread, along a column
constexpr int staged_pixels = tile_columns + max_taps;
constexpr int tallest_tile = 48;
constexpr std::size_t shared_bytes = 48 * 1024;  // the limit on every device

/// Taps b(-K) ... b(K). The window is `count` samples long, a multiple of 8; the taps are padded
/// with zeros.
struct Taps {
  float value[max_taps];
  int count;
  int half;  // K
};

struct FirPlane {
  int width, height;
  long long depth;
  int tile_rows;  // a multiple of results_per_column
  Beyond beyond;
};

// Computes result[r] = sum_t tap[t] sample(r + t): `together` results from neighbouring windows.
// The samples slide through registers; `fetch(i, values)` gives samples i ... i + together - 1.
template <int together, class Fetch>
__device__ __forceinline__ void convolve(const Taps& taps, Fetch fetch, float (&result)[together]) {
  float window[2 * together];
  fetch(0, window);
#pragma unroll
  for (int r = 0; r < together; ++r) result[r] = 0.0f;
#pragma unroll 1
  for (int first = 0; first < taps.count; first += together) {
    fetch(first + together, window + together);
#pragma unroll
    for (int t = 0; t < together; ++t) {
      const float tap = taps.value[first + t];
#pragma unroll
      for (int r = 0; r < together; ++r) result[r] = fmaf(tap, window[r + t], result[r]);
    }
#pragma unroll
    for (int r = 0; r < together; ++r) window[r] = window[r + together];
  }
}

// Copies to shared memory the samples for a row of a tile. A null `row` stands for the fill value
// throughout.
template <class Pixel>
__device__ __forceinline__ void stage_row(const Pixel* __restrict__ row, const FirPlane& p,
                                          int first, int count, float* staged) {
  for (int i = static_cast<int>(threadIdx.x) % warp_lanes; i < count; i += warp_lanes) {
    const int x = wa_extend(p.beyond.rule, first + i, p.width);
    float value[1] = {p.beyond.fill};
    if (row != nullptr && x >= 0) to_floats(row[x], value);
    staged[i] = value[0];
  }
}

// Convolves along x the rows of a tile and of its surroundings along y.
template <class Pixel>
__device__ __forceinline__ void convolve_rows(const Pixel* __restrict__ plane, const FirPlane& p,
                                              const Taps& taps, int left, int top, int rows,
                                              float* staged, float* tile) {
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
  const int x = static_cast<int>(threadIdx.x) % warp_lanes * results_per_lane;
  for (int i = warp; i < rows; i += tile_warps) {
    const int y = wa_extend(p.beyond.rule, top + i, p.height);
    const Pixel* row = y < 0 ? nullptr : plane + static_cast<long long>(y) * p.width;
    stage_row(row, p, left, tile_columns + taps.count, staged);
    __syncwarp();
    float four[results_per_lane];
    convolve<results_per_lane>(
        taps,
        [&](int k, float* values) {
          const float4 word = *reinterpret_cast<const float4*>(staged + x + k);
          values[0] = word.x;
          values[1] = word.y;
          values[2] = word.z;
          values[3] = word.w;
        },
        four);
    *reinterpret_cast<float4*>(tile + i * tile_columns + x) =
        make_float4(four[0], four[1], four[2], four[3]);
    __syncwarp();  // before the next row overwrites the same memory
  }
}

// Convolves the tile's columns, one per thread.
__device__ __forceinline__ void convolve_columns(const float* tile, const FirPlane& p,
                                                 const Taps& taps, float* __restrict__ result,
                                                 int left, int top) {
  const int column = static_cast<int>(threadIdx.x);
  const int wide = p.width + 2 * p.beyond.margin;
  const int high = p.height + 2 * p.beyond.margin;
  if (left + column >= wide) return;
  const int rows = min(p.tile_rows, high - top);
  for (int y = 0; y < rows; y += results_per_column) {
    float values[results_per_column];
    convolve<results_per_column>(
        taps,
        [&](int k, float* next) {
#pragma unroll
          for (int j = 0; j < results_per_column; ++j) {
            next[j] = tile[(y + k + j) * tile_columns + column];
          }
        },
        values);
#pragma unroll
    for (int j = 0; j < results_per_column; ++j) {
      const long long row = top + y + j;
      if (y + j < rows) result[row * wide + left + column] = values[j];
    }
  }
}

template <class Pixel>
__global__ void __launch_bounds__(tile_threads)
    fir_plane_kernel(const Pixel* __restrict__ samples, float* __restrict__ result, FirPlane p,
                     Taps taps) {
  extern __shared__ float4 shared_words[];
  float* staged = reinterpret_cast<float*>(shared_words);
  float* tile = staged + tile_warps * staged_pixels;
  staged += static_cast<int>(threadIdx.x) / warp_lanes * staged_pixels;
  const int left = static_cast<int>(blockIdx.x) * tile_columns;
  const int top = static_cast<int>(blockIdx.y) * p.tile_rows;
  const int before = p.beyond.margin + taps.half;
  const long long wide = p.width + 2 * p.beyond.margin;
  const long long high = p.height + 2 * p.beyond.margin;
  for (long long z = blockIdx.z; z < p.depth; z += gridDim.z) {
    convolve_rows(samples + z * p.height * p.width, p, taps, left - before, top - before,
                  p.tile_rows + taps.count, staged, tile);
    __syncthreads();
    convolve_columns(tile, p, taps, result + z * high * wide, left, top);
    __syncthreads();
  }
}

// Filters one axis of an array; a thread computes `together` neighbouring results along the axis.
// Along x (where `inner` is the number of components) that is one, so that neighbouring threads
// read neighbouring samples.
template <class Pixel, int together>
__global__ void __launch_bounds__(tile_threads)
    fir_axis_kernel(const Pixel* __restrict__ source, float* __restrict__ result, AxisPass pass,
                    Taps taps) {
  const int length = pass.n + 2 * pass.beyond.margin;
  const long long groups = (length + together - 1) / together;
  const long long step = static_cast<long long>(gridDim.x) * tile_threads;
  long long task = static_cast<long long>(blockIdx.x) * tile_threads + threadIdx.x;
  for (; task < pass.outer * groups * pass.inner; task += step) {
    const long long column = task % pass.inner;
    const long long outer = task / pass.inner / groups;
    const int first = static_cast<int>(task / pass.inner % groups) * together;
    const Pixel* line = source + outer * pass.n * pass.inner + column;
    const float fill = fill_value(pass, column);
    float values[together];
    convolve<together>(
        taps,
        [&](int k, float* next) {
#pragma unroll
          for (int j = 0; j < together; ++j) {
            const int i = first - pass.beyond.margin - taps.half + k + j;
            const int at = wa_extend(pass.beyond.rule, i, pass.n);
            float value[1] = {fill};
            if (at >= 0) to_floats(line[at * pass.inner], value);
            next[j] = value[0];
          }
        },
        values);
#pragma unroll
    for (int j = 0; j < together; ++j) {
      if (first + j < length) {
        result[(outer * length + first + j) * pass.inner + column] = values[j];
      }
    }
  }
}

Taps taps_of(const std::vector<double>& values) {
  Taps taps{};
  taps.half = static_cast<int>(values.size()) / 2;
  taps.count = static_cast<int>(divide_up(static_cast<std::int64_t>(values.size()), 8) * 8);
  for (std::size_t i = 0; i < values.size(); ++i) taps.value[i] = static_cast<float>(values[i]);
  return taps;
}

// As many rows as fit in shared memory together with the rows around them.
int tile_rows_for(const Taps& taps) {
  const std::size_t rest = shared_bytes - tile_warps * staged_pixels * sizeof(float);
  const int rows = static_cast<int>(rest / (tile_columns * sizeof(float))) - taps.count;
  return std::min(rows / results_per_column * results_per_column, tallest_tile);
}

/// For c32, Pixel is float, and both components are filtered in the same way.
template <class Pixel>
class FirPrefilter final : public backend::Prefilter {
 public:
  FirPrefilter(const Context& context, const PrefilterSpec& spec,
               const backend::PrefilterDetails& details)
      : site_{context, "prefilter"},
        volume_(volume_of(spec, site_)),
        beyond_(beyond_of(spec, details)),
        taps_(taps_of(details.fir_taps)),
        fused_(volume_.components == 1 && volume_.dimensions >= 2) {
    load_kernels();
    const int last = volume_.dimensions - 1;
    if (last == 2 || (!fused_ && last == 1)) {
      const long long floats = result_elements(axis_pass(volume_, beyond_, last - 1));
      scratch_.emplace(site_, static_cast<std::size_t>(floats) * sizeof(float));
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& samples,
               backend::Memory& coefficients) override {
    if (scratch_) scratch_guard_.enter(queue);
    const Pixel* input = data<Pixel>(samples);
    float* output = data<float>(coefficients);
    float* scratch = scratch_ ? scratch_->as<float>() : nullptr;
    if (volume_.dimensions == 1) {
      along(queue, &fir_axis_kernel<Pixel, 1>, input, output, 0, 1);
    } else if (volume_.dimensions == 2) {
      planes(queue, input, output, scratch);
    } else {
      planes(queue, input, scratch, output);
      along(queue, columns_kernel, scratch, output, 2, results_per_column);
    }
  }

 private:
  static constexpr auto columns_kernel = &fir_axis_kernel<float, results_per_column>;

  void load_kernels() const {
    if (fused_) {
      load(&fir_plane_kernel<Pixel>, site_);
    } else {
      load(&fir_axis_kernel<Pixel, 1>, site_);
    }
    load(columns_kernel, site_);
  }

  void planes(backend::Queue& queue, const Pixel* input, float* output, float* between) const {
    if (!fused_) {
      along(queue, &fir_axis_kernel<Pixel, 1>, input, between, 0, 1);
      along(queue, columns_kernel, between, output, 1, results_per_column);
      return;
    }
    const int wide = volume_.width + 2 * beyond_.margin;
    const int high = volume_.height + 2 * beyond_.margin;
    FirPlane p{volume_.width, volume_.height, volume_.planes(), tile_rows_for(taps_), beyond_};
    const dim3 grid(static_cast<unsigned>(divide_up(wide, tile_columns)),
                    static_cast<unsigned>(divide_up(high, p.tile_rows)),
                    grid_extent(volume_.planes()));
    const std::size_t bytes =
        (tile_warps * staged_pixels + (p.tile_rows + taps_.count) * tile_columns) * sizeof(float);
    launch_with_shared(site_, queue, grid, dim3(tile_threads), bytes, &fir_plane_kernel<Pixel>,
                       input, output, p, taps_);
  }

  template <class Kernel, class Source>
  void along(backend::Queue& queue, Kernel kernel, const Source* input, float* output, int axis,
             int together) const {
    const AxisPass pass = axis_pass(volume_, beyond_, axis);
    const int length = pass.n + 2 * beyond_.margin;
    const std::int64_t tasks = pass.outer * pass.inner * divide_up(length, together);
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(tasks, tile_threads), 1 << 30);
    launch(site_, queue, dim3(static_cast<unsigned>(blocks)), dim3(tile_threads), kernel, input,
           output, pass, taps_);
  }

  CallSite site_;
  Volume volume_;
  Beyond beyond_;
  Taps taps_;
  bool fused_;
  std::optional<DeviceMemory> scratch_;
  ScratchGuard scratch_guard_{site_};
};

}  // namespace

std::unique_ptr<backend::Prefilter> make_prefilter_fir(const Context& context,
                                                       const PrefilterSpec& spec,
                                                       const backend::PrefilterDetails& details) {
  if (details.fir_taps.size() == running_taps) {
    return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
      using Pixel = decltype(pixel);
      const double pole = details.poles.front();
      return std::make_unique<StreamingPrefilter<Pixel, PolePowers>>(
          context, spec, details, streaming_kernels<Pixel, RunningSums>(), pole_powers(pole),
          backend::truncated_gain(static_cast<float>(pole), running_taps));
    });
  }
  if (details.fir_taps.size() < running_taps) {
    return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
      using Pixel = decltype(pixel);
      return std::make_unique<StreamingPrefilter<Pixel, SymmetricTaps>>(
          context, spec, details, streaming_kernels<Pixel, Convolution<8, 8>>(),
          symmetric(details.fir_taps), 1.0);
    });
  }
  return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
    // For c32, both components are filtered in the same way.
    using Pixel = decltype(pixel);
    using Sample = std::conditional_t<std::is_same_v<Pixel, float2>, float, Pixel>;
    return std::make_unique<FirPrefilter<Sample>>(context, spec, details);
  });
}

}  // namespace warpalign::cuda
