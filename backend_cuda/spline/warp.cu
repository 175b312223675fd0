// Stage: resample an image under an affine transform, bilinearly.
//
// Each plan chooses one of three ways to read the input: a texture over the input's own memory, if
// its rows are aligned as the texture unit requires; a texture over an array to which the stage
// copies the input; or loads, if the texture unit failed its test or the image exceeds its limits.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"
#include "device/texture.hpp"

#include "formulas/bilinear.h"

#include <warpalign/backend/stages/spline/warp.hpp>

namespace warpalign::cuda {
namespace {

// The point of an output pixel. No other function applies the transform to pixels. It computes in
// double precision, because in single precision the products of a 16384-pixel image would be off by
// 0.002 pixels.
__device__ __forceinline__ double2 locate(const Affine& t, int x, int y) {
  return make_double2(fma(t.a, static_cast<double>(x), fma(t.b, static_cast<double>(y), t.c)),
                      fma(t.d, static_cast<double>(x), fma(t.e, static_cast<double>(y), t.f)));
}

struct Size {
  int width, height;
};

// The number of slices that a launch writes at once, one per layer of its grid, each with its
// transform.
constexpr int max_slices_at_once = 64;
template <int slices>
using Transforms = ParameterList<Affine, slices>;

__device__ __forceinline__ float* slice_of(float* output, Size size) {
  return output + static_cast<long long>(blockIdx.z) * size.width * size.height;
}

// Whether any of the four neighbours of (u, v) lies in the image. False for NaN.
template <class Real>
__device__ __forceinline__ bool touches(Real u, Real v, Size size) {
  return u > Real(-1) && u < static_cast<Real>(size.width) && v > Real(-1) &&
         v < static_cast<Real>(size.height);
}

// Only the first pixel of a thread is located in double precision. Single precision suffices for
// the few steps to the others, and for the 8 fractional bits of the texture unit.
template <int slices>
__global__ void warp_texture_kernel(cudaTextureObject_t input, Size input_size,
                                    float* __restrict__ output, Size output_size,
                                    const __grid_constant__ Transforms<slices> transforms) {
  wait_for_previous_kernel();
  const Affine& t = transforms.entries[slices == 1 ? 0 : blockIdx.z];
  float* slice = slice_of(output, output_size);
  const int left =
      static_cast<int>(blockIdx.x) * LookupBlock::tile_width + static_cast<int>(threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * LookupBlock::height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * LookupBlock::height);
  const float du = static_cast<float>(t.a);
  const float dv = static_cast<float>(t.d);
  for (int y = top; y < output_size.height; y += step) {
    const double2 first = locate(t, left, y);
    const float u0 = static_cast<float>(first.x);
    const float v0 = static_cast<float>(first.y);
    float* row = slice + static_cast<long long>(y) * output_size.width;
#pragma unroll
    for (int k = 0; k < LookupBlock::pixels_per_thread; ++k) {
      const int x = left + k * LookupBlock::width;
      const float u = fmaf(static_cast<float>(k * LookupBlock::width), du, u0);
      const float v = fmaf(static_cast<float>(k * LookupBlock::width), dv, v0);
      // In texture coordinates, texel centres are at half-integers.
      const float value =
          touches(u, v, input_size) ? tex2D<float>(input, u + 0.5f, v + 0.5f) : 0.0f;
      if (x < output_size.width) row[x] = value;
    }
  }
}

__device__ __forceinline__ float pixel_or_zero(const float* __restrict__ input, Size size, int x,
                                               int y) {
  if (x < 0 || x >= size.width || y < 0 || y >= size.height) return 0.0f;
  return input[static_cast<long long>(y) * size.width + x];
}

__device__ __forceinline__ float interpolate(const float* __restrict__ input, Size size,
                                             double2 at) {
  if (!touches(at.x, at.y, size)) return 0.0f;
  const double whole_x = floor(at.x);
  const double whole_y = floor(at.y);
  const int x = static_cast<int>(whole_x);
  const int y = static_cast<int>(whole_y);
  return wa_bilinear(pixel_or_zero(input, size, x, y), pixel_or_zero(input, size, x + 1, y),
                     pixel_or_zero(input, size, x, y + 1), pixel_or_zero(input, size, x + 1, y + 1),
                     static_cast<float>(at.x - whole_x), static_cast<float>(at.y - whole_y));
}

template <int slices>
__global__ void warp_loads_kernel(const float* __restrict__ input, Size input_size,
                                  float* __restrict__ output, Size output_size,
                                  const __grid_constant__ Transforms<slices> transforms) {
  wait_for_previous_kernel();
  const Affine& t = transforms.entries[slices == 1 ? 0 : blockIdx.z];
  float* slice = slice_of(output, output_size);
  const int left =
      static_cast<int>(blockIdx.x) * LookupBlock::tile_width + static_cast<int>(threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * LookupBlock::height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * LookupBlock::height);
  for (int y = top; y < output_size.height; y += step) {
    float* row = slice + static_cast<long long>(y) * output_size.width;
    for (int x = left; x < min(left + LookupBlock::tile_width, output_size.width);
         x += LookupBlock::width) {
      row[x] = interpolate(input, input_size, locate(t, x, y));
    }
  }
}

class WarpStage : public backend::Warp {
 protected:
  WarpStage(const Context& context, const WarpSpec& spec)
      : site_{context, "warp"},
        input_{extent(spec.input.width, site_), extent(spec.input.height, site_)},
        output_{extent(spec.output.width, site_), extent(spec.output.height, site_)} {}

  /// `kernel_for` returns the kernel for a given number of slices.
  template <class Source, class KernelFor>
  void run(backend::Queue& queue, const KernelFor& kernel_for, Source source,
           std::span<const Affine> transforms, backend::Memory& output,
           std::int64_t first_slice) const {
    float* slices = data<float>(output) + first_slice * output_.width * output_.height;
    dim3 grid =
        tile_grid(output_.width, output_.height, LookupBlock::tile_width, LookupBlock::height);
    launch_for_entries<Affine, max_slices_at_once>(
        transforms.size(), [&](std::size_t i) { return transforms[i]; },
        [&](const auto& list, std::size_t first, std::size_t count) {
          grid.z = static_cast<unsigned>(count);
          launch_dependent(site_, queue, grid, dim3(LookupBlock::width, LookupBlock::height),
                       kernel_for(list), source, input_,
                       slices + static_cast<std::int64_t>(first) * output_.width * output_.height,
                       output_, list);
        });
  }

  [[nodiscard]] std::size_t input_width() const { return static_cast<std::size_t>(input_.width); }
  [[nodiscard]] std::size_t input_height() const { return static_cast<std::size_t>(input_.height); }

  CallSite site_;
  Size input_;
  Size output_;
};

constexpr auto texture_kernel = []<int slices>(const Transforms<slices>&) {
  return &warp_texture_kernel<slices>;
};
constexpr auto loads_kernel = []<int slices>(const Transforms<slices>&) {
  return &warp_loads_kernel<slices>;
};

class PitchedTextureWarp final : public WarpStage {
 public:
  PitchedTextureWarp(const Context& context, const WarpSpec& spec) : WarpStage(context, spec) {
    load(&warp_texture_kernel<1>, site_);
    if (spec.slices > 1) load(&warp_texture_kernel<max_slices_at_once>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               std::span<const Affine> transforms, backend::Memory& output,
               std::int64_t first_slice) override {
    site_.context.activate();
    const cudaTextureObject_t texture =
        static_cast<const DeviceMemory&>(input).texture({input_width(), input_height()}, site_);
    run(queue, texture_kernel, texture, transforms, output, first_slice);
  }
};

class CopiedTextureWarp final : public WarpStage {
 public:
  CopiedTextureWarp(const Context& context, const WarpSpec& spec)
      : WarpStage(context, spec),
        copy_(site_, {input_width(), input_height(), 0}, 1, {}),
        scratch_guard_(site_) {
    load(&warp_texture_kernel<1>, site_);
    if (spec.slices > 1) load(&warp_texture_kernel<max_slices_at_once>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               std::span<const Affine> transforms, backend::Memory& output,
               std::int64_t first_slice) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    copy_.copy_from(data<float>(input), queue);
    run(queue, texture_kernel, copy_.texture(), transforms, output, first_slice);
  }

 private:
  TextureArray copy_;
  ScratchGuard scratch_guard_;
};

class LoadsWarp final : public WarpStage {
 public:
  LoadsWarp(const Context& context, const WarpSpec& spec) : WarpStage(context, spec) {
    load(&warp_loads_kernel<1>, site_);
    if (spec.slices > 1) load(&warp_loads_kernel<max_slices_at_once>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               std::span<const Affine> transforms, backend::Memory& output,
               std::int64_t first_slice) override {
    run(queue, loads_kernel, data<float>(input), transforms, output, first_slice);
  }
};

}  // namespace

template <>
std::unique_ptr<backend::Warp> make(const Context& context, const WarpSpec& spec) {
  const auto width = static_cast<std::size_t>(spec.input.width);
  const auto height = static_cast<std::size_t>(spec.input.height);
  if (context.texture_filtering && fits_linear(context, width, height, sizeof(float))) {
    return std::make_unique<PitchedTextureWarp>(context, spec);
  }
  if (context.texture_filtering && fits_array(context, {width, height, 0})) {
    return std::make_unique<CopiedTextureWarp>(context, spec);
  }
  return std::make_unique<LoadsWarp>(context, spec);
}

}  // namespace warpalign::cuda
