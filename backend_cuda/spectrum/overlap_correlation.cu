// Stage: the products of spectra for the correlation that is scored by overlap.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

constexpr int threads = 256;
constexpr int blocks_per_multiprocessor = 16;

struct Spectra {
  const float2 *a, *b;
  const float2 *a_second, *b_second;  // null for images with one channel
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
  wait_for_previous_kernel();
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
    launch_dependent(site_, queue, dim3(static_cast<unsigned>(blocks_), batch_), dim3(threads), kernel_,
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

}  // namespace

template <>
std::unique_ptr<backend::OverlapProducts> make(const Context& context,
                                               const OverlapProductsSpec& spec) {
  return std::make_unique<OverlapProductsStage>(context, spec);
}

}  // namespace warpalign::cuda
