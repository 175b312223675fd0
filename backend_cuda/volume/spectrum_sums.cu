// Stage: how much of the power of two volumes' spectra falls on the same frequencies. Each warp
// processes rows, and the second index of a block is the number of a pair.
#include "device/block_sums.cuh"
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/spectrum.h"

#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

static_assert(WA_SPECTRUM_SUMS == backend::spectrum_sum_count);

struct Rows {
  int width, columns, rows;
  float scale;
};

__global__ void __launch_bounds__(row_threads)
    spectrum_sums_kernel(const float2* __restrict__ a, const float2* __restrict__ b, Rows g,
                         float* __restrict__ partials) {
  float sums[WA_SPECTRUM_SUMS] = {};
  const long long pair = static_cast<long long>(blockIdx.y) * g.rows * g.columns;
  a += pair;
  b += pair;
  partials += blockIdx.y * gridDim.x * WA_SPECTRUM_SUMS;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
  for (int row = static_cast<int>(blockIdx.x) * row_warps + warp; row < g.rows;
       row += static_cast<int>(gridDim.x) * row_warps) {
    const long long start = static_cast<long long>(row) * g.columns;
    for (int u = lane; u < g.columns; u += warp_lanes) {
      if (row == 0 && u == 0) continue;
      const float2 p = __ldg(a + start + u);
      const float2 q = __ldg(b + start + u);
      wa_spectrum_add(p.x, p.y, q.x, q.y, wa_column_weight(u, g.width), g.scale, sums);
    }
  }
  store_block_sums<row_warps>(sums, partials);
}

class SpectrumSumsStage final : public backend::SpectrumSums {
 public:
  SpectrumSumsStage(const Context& context, const SpectrumSumsSpec& spec)
      : site_{context, "spectrum_sums"},
        rows_{extent(spec.volume.width, site_),
              extent(RealFftPlan::half_spectrum(spec.volume).width, site_),
              extent(spec.volume.height * spec.volume.depth, site_),
              static_cast<float>(1.0 / static_cast<double>(spec.volume.pixels()))},
        blocks_(row_blocks(rows_.rows, context)),
        pairs_(static_cast<unsigned>(spec.at_once)) {
    load(&spectrum_sums_kernel, site_);
  }

  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(blocks_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               std::int64_t result, backend::Memory& partials) override {
    float* sums = data<float>(partials) +
                  static_cast<std::size_t>(result) * backend::spectrum_sum_count * groups();
    launch(site_, queue, dim3(static_cast<unsigned>(blocks_), pairs_), dim3(row_threads),
           &spectrum_sums_kernel, data<float2>(a), data<float2>(b), rows_, sums);
  }

 private:
  CallSite site_;
  Rows rows_;
  std::int64_t blocks_;
  unsigned pairs_;
};

}  // namespace

template <>
std::unique_ptr<backend::SpectrumSums> make(const Context& context, const SpectrumSumsSpec& spec) {
  return std::make_unique<SpectrumSumsStage>(context, spec);
}

}  // namespace warpalign::cuda
