// Stage: bilinear interpolation of complex data at given points, in the three forms of the
// interview text (equations 1 to 4).
//
// A texture covers the input's own memory if its rows are aligned as the texture unit requires, and
// otherwise an array to which the stage copies the input. Texels outside the image are 0.
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "device/texture.hpp"

#include "formulas/bilinear.h"

#include <warpalign/backend/stages/spline/complex_bilinear.hpp>

#include <optional>

namespace warpalign::cuda {
namespace {

struct Sizes {
  int width, height;  // M1, M2
  long long points;   // N1 N2
};

// Whether any of the four neighbours lies in the image. False for NaN and infinity.
__device__ __forceinline__ bool touches(float x, float y, const Sizes& size) {
  return x > -1.0f && x < static_cast<float>(size.width) && y > -1.0f &&
         y < static_cast<float>(size.height);
}

// Equations 1 to 4 for both components; neighbour(i, j) is 0 outside the image.
template <class Neighbour>
__device__ __forceinline__ float2 bilinear(float x, float y, Neighbour neighbour) {
  const float whole_x = WA_FLOOR(x);
  const float whole_y = WA_FLOOR(y);
  const float a = x - whole_x;
  const float b = y - whole_y;
  const int i = static_cast<int>(whole_x);
  const int j = static_cast<int>(whole_y);
  const float2 h00 = neighbour(i, j);
  const float2 h10 = neighbour(i + 1, j);
  const float2 h01 = neighbour(i, j + 1);
  const float2 h11 = neighbour(i + 1, j + 1);
  return make_float2(wa_bilinear(h00.x, h10.x, h01.x, h11.x, a, b),
                     wa_bilinear(h00.y, h10.y, h01.y, h11.y, a, b));
}

struct FromMemory {
  using Source = const float2*;
  static __device__ __forceinline__ float2 value(Source image, const Sizes& size, float x,
                                                 float y) {
    return bilinear(x, y, [&](int i, int j) {
      if (i < 0 || i >= size.width || j < 0 || j >= size.height) return make_float2(0.0f, 0.0f);
      return image[static_cast<long long>(j) * size.width + i];
    });
  }
};

// In texture coordinates, texel centres are at half-integers.
struct ByFetches {
  using Source = cudaTextureObject_t;
  static __device__ __forceinline__ float2 value(Source image, const Sizes&, float x, float y) {
    return bilinear(x, y, [&](int i, int j) {
      return tex2D<float2>(image, static_cast<float>(i) + 0.5f, static_cast<float>(j) + 0.5f);
    });
  }
};

struct ByFilter {
  using Source = cudaTextureObject_t;
  static __device__ __forceinline__ float2 value(Source image, const Sizes&, float x, float y) {
    return tex2D<float2>(image, x + 0.5f, y + 0.5f);
  }
};

template <class Form>
__global__ void __launch_bounds__(256)
    complex_bilinear_kernel(typename Form::Source image, Sizes size, const float* __restrict__ xs,
                            const float* __restrict__ ys, float2* __restrict__ output) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; k < size.points; k += step) {
    const float x = xs[k];
    const float y = ys[k];
    output[k] = touches(x, y, size) ? Form::value(image, size, x, y) : make_float2(0.0f, 0.0f);
  }
}

template <class Form>
class ComplexBilinearStage : public backend::ComplexBilinear {
 public:
  ComplexBilinearStage(const Context& context, const ComplexBilinearSpec& spec)
      : site_{context, "complex_bilinear"},
        size_{extent(spec.image.width, site_), extent(spec.image.height, site_),
              static_cast<long long>(extent(spec.output.width, site_)) *
                  extent(spec.output.height, site_)} {
    load(&complex_bilinear_kernel<Form>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& image, const backend::Memory& x,
               const backend::Memory& y, backend::Memory& output) override {
    constexpr int threads = 256;
    site_.context.activate();
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(size_.points, threads), 1 << 30);
    launch(site_, queue, dim3(static_cast<unsigned>(blocks)), dim3(threads),
           &complex_bilinear_kernel<Form>, source(queue, image), size_, data<float>(x),
           data<float>(y), data<float2>(output));
  }

 protected:
  virtual typename Form::Source source(const backend::Queue& queue,
                                       const backend::Memory& image) = 0;

  CallSite site_;
  Sizes size_;
};

class MemoryForm final : public ComplexBilinearStage<FromMemory> {
 public:
  using ComplexBilinearStage::ComplexBilinearStage;

 private:
  const float2* source(const backend::Queue& /*queue*/, const backend::Memory& image) override {
    return data<float2>(image);
  }
};

template <class Form, bool linear>
class TextureForm final : public ComplexBilinearStage<Form> {
  using Base = ComplexBilinearStage<Form>;

 public:
  TextureForm(const Context& context, const ComplexBilinearSpec& spec)
      : Base(context, spec), scratch_guard_(this->site_) {
    if (fits_linear(context, width(), height(), sizeof(float2))) return;
    copy_.emplace(this->site_, TextureArray::Size{width(), height(), 0}, 2,
                  TextureReading{.linear = linear, .border = true});
  }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(this->size_.width); }
  [[nodiscard]] std::size_t height() const { return static_cast<std::size_t>(this->size_.height); }

  cudaTextureObject_t source(const backend::Queue& queue, const backend::Memory& image) override {
    if (!copy_) {
      return static_cast<const DeviceMemory&>(image).texture({width(), height(), 2, linear},
                                                             this->site_);
    }
    scratch_guard_.enter(queue);
    copy_->copy_from(data<float2>(image), queue);
    return copy_->texture();
  }

  std::optional<TextureArray> copy_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::ComplexBilinear> make(const Context& context,
                                               const ComplexBilinearSpec& spec) {
  const auto width = static_cast<std::size_t>(spec.image.width);
  const auto height = static_cast<std::size_t>(spec.image.height);
  const bool readable =
      context.texture_filtering && (fits_linear(context, width, height, sizeof(float2)) ||
                                    fits_array(context, {width, height, 0}));
  if (readable && spec.form == BilinearForm::texture_fetch) {
    return std::make_unique<TextureForm<ByFetches, false>>(context, spec);
  }
  if (readable && spec.form == BilinearForm::texture_filter) {
    return std::make_unique<TextureForm<ByFilter, true>>(context, spec);
  }
  return std::make_unique<MemoryForm>(context, spec);
}

}  // namespace warpalign::cuda
