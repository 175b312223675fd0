// A prefilter whose kernels stream: planes along x and y at once, other axes one by one.
//
// Two-dimensional real images need one kernel; volumes need one more pass along z; complex images
// and volumes need one pass per axis. Every run warms up over a halo of extended samples, so the
// result is correct for every size and boundary rule, and any part of it can be computed
// independently.
#pragma once

#include "device/memory.hpp"
#include "spline/prefilter_plane.cuh"

#include <warpalign/backend/column_blocks.hpp>

#include <optional>

namespace warpalign::cuda {

inline constexpr int max_segment = 64;  // in chunks, of a pass along one axis

/// The kernels of one filter. Complex planes are filtered axis by axis.
template <class Pixel, class Coefficients>
struct StreamingKernels {
  using OfPlane = void (*)(const Pixel*, float*, Plane, Coefficients);
  using OfAxis = void (*)(const float*, float*, AxisPass, Coefficients, int, float);
  OfPlane plane = nullptr;
  OfPlane row = nullptr;
  OfAxis axis = nullptr;
  int chunk = 1;
  int useful_columns = 1;
  int plane_blocks = 1, axis_blocks = 1;  // per multiprocessor
};

template <class Pixel, class Filter>
[[nodiscard]] StreamingKernels<Pixel, typename Filter::Coefficients> streaming_kernels() {
  StreamingKernels<Pixel, typename Filter::Coefficients> kernels;
  if constexpr (components_of<Pixel> == 1) kernels.plane = &plane_kernel<Pixel, Filter>;
  kernels.row = &row_kernel<Pixel, Filter>;
  kernels.axis = &axis_kernel<Filter>;
  kernels.chunk = Filter::chunk;
  kernels.useful_columns = useful_columns<Filter>;
  kernels.plane_blocks = Filter::blocks_per_multiprocessor;
  kernels.axis_blocks = Filter::axis_blocks_per_multiprocessor;
  return kernels;
}

template <class Pixel, class Coefficients>
class StreamingPrefilter final : public backend::Prefilter {
  static constexpr bool is_complex = components_of<Pixel> == 2;

 public:
  StreamingPrefilter(const Context& context, const PrefilterSpec& spec,
                     const backend::PrefilterDetails& details,
                     const StreamingKernels<Pixel, Coefficients>& kernels,
                     const Coefficients& coefficients, double scale)
      : site_{context, "prefilter"},
        volume_(volume_of(spec, site_)),
        beyond_(beyond_of(spec, details)),
        kernels_(kernels),
        coefficients_(coefficients),
        scale_(scale) {
    load_kernels();
    // Scratch memory for the input of the last pass, which never runs in place.
    const int last = volume_.dimensions - 1;
    if (last == 2 || (is_complex && last == 1)) {
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
      rows(queue, input, output);
    } else if (volume_.dimensions == 2) {
      planes(queue, input, output, scratch);
    } else {
      // The result is at least as large as the intermediate array before it, so its memory can hold
      // that array meanwhile.
      planes(queue, input, scratch, output);
      along(queue, scratch, output, 2);
    }
  }

 private:
  void load_kernels() const {
    const bool by_rows = is_complex || volume_.dimensions == 1;
    load(by_rows ? kernels_.row : kernels_.plane, site_);
    if (volume_.dimensions == 3 || is_complex) load(kernels_.axis, site_);
  }

  // Filters along x and y; complex planes by way of `between`.
  void planes(backend::Queue& queue, const Pixel* input, float* output, float* between) const {
    if constexpr (is_complex) {
      rows(queue, input, between);
      along(queue, between, output, 1);
    } else {
      const int wide = volume_.width + 2 * beyond_.margin;
      const int high = volume_.height + 2 * beyond_.margin;
      const std::int64_t across = divide_up(wide, kernels_.useful_columns);
      Plane p = plane_of(volume_.height, volume_.planes(), scale_ * scale_);
      p.column_block = column_block_for(high, across * volume_.planes(), kernels_.plane_blocks, 2,
                                        max_column_block);
      const dim3 grid(static_cast<unsigned>(across), grid_extent(divide_up(high, p.column_block)),
                      grid_extent(volume_.planes()));
      launch_dependent(site_, queue, grid, dim3(block_threads), kernels_.plane, input, output, p,
                   coefficients_);
    }
  }

  void rows(backend::Queue& queue, const Pixel* input, float* output) const {
    const long long lines = volume_.height * volume_.planes();
    const int wide = volume_.width + 2 * beyond_.margin;
    const std::int64_t tasks = lines * divide_up(wide, kernels_.useful_columns);
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(tasks, block_warps), 1 << 24);
    launch_dependent(site_, queue, dim3(static_cast<unsigned>(blocks)), dim3(block_threads),
                 kernels_.row, input, output, plane_of(1, lines, scale_), coefficients_);
  }

  void along(backend::Queue& queue, const float* input, float* output, int axis) const {
    const AxisPass pass = axis_pass(volume_, beyond_, axis);
    const int length = pass.n + 2 * beyond_.margin;
    const std::int64_t across = divide_up(pass.inner, block_threads);
    const int minimum = segment_length(length, kernels_.chunk, kernels_.chunk) / kernels_.chunk;
    const int segment =
        column_block_for(length, across * pass.outer, kernels_.axis_blocks, minimum, max_segment);
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>(divide_up(length, segment)), grid_extent(pass.outer));
    launch_dependent(site_, queue, grid, dim3(block_threads), kernels_.axis, input, output, pass,
                 coefficients_, segment, static_cast<float>(scale_));
  }

  [[nodiscard]] int column_block_for(int length, std::int64_t column_blocks_abreast,
                                     int blocks_per_multiprocessor, int minimum,
                                     int maximum) const {
    const std::int64_t slots =
        std::int64_t{site_.context.multiprocessors} * blocks_per_multiprocessor;
    const int chunk = kernels_.chunk;
    return chunk * backend::chunks_per_column_block({length, column_blocks_abreast, chunk, slots},
                                                    minimum, maximum);
  }

  [[nodiscard]] Plane plane_of(int height, long long depth, double scale) const {
    return {volume_.width,
            height,
            depth,
            0,
            volume_.width % lane_pixels == 0,
            static_cast<float>(scale),
            beyond_};
  }

  CallSite site_;
  Volume volume_;
  Beyond beyond_;
  StreamingKernels<Pixel, Coefficients> kernels_;
  Coefficients coefficients_;
  double scale_;
  std::optional<DeviceMemory> scratch_;
  ScratchGuard scratch_guard_{site_};
};

}  // namespace warpalign::cuda
