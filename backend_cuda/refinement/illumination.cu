// Stage: the local gain and offset between two registered images. One warp per cell sums its
// moments; a second kernel then fits gain and offset.
#include "device/block_sums.cuh"
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "filter/axis_tables.hpp"
#include "refinement/sample_location.cuh"

#include <warpalign/backend/stages/refinement/illumination.hpp>

namespace warpalign::cuda {
namespace {

constexpr int moment_count = WA_ILLUMINATION_MOMENTS;
constexpr int cells_per_block = 4;

struct Cells {
  int side, across, down;
};

/// The images to compare. The values r and m are summed about the given means.
template <bool projective>
struct Comparison {
  MatrixOf<projective> matrix;
  const float* reference;
  int reference_width, reference_height, margin;
  MovingSpline moving;
  float reference_mean, moving_mean;
  PairWeights weights;
};

template <bool projective, bool masked>
__device__ __forceinline__ void add_pixel(const Comparison<projective>& pair, int px, int py,
                                          float (&sums)[moment_count]) {
  SampleLocation location;
  if (!find_sample_location(pair.matrix, px, py, pair.moving, location)) return;
  const long long pixel = static_cast<long long>(py) * pair.reference_width + px;
  if constexpr (masked) {
    if (!pair_counts(pair.weights, pixel, pair.moving, location)) return;
  }
  const float r = __ldg(pair.reference + pixel) - pair.reference_mean;
  const float m = spline_value(pair.moving, location) - pair.moving_mean;
  wa_add_illumination_pixel(r, m, 1.0f, sums);
}

// Moments of a cell: the sums of 1, r, m, r r and r m. Moment i of cell c is stored at i cells + c.
template <bool projective, bool masked>
__global__ void __launch_bounds__(warp_lanes* cells_per_block)
    illumination_moments_kernel(const __grid_constant__ Comparison<projective> pair, Cells cells,
                                float* __restrict__ moments) {
  wait_for_previous_kernel();
  const int lane = static_cast<int>(threadIdx.x);
  const int cx = static_cast<int>(blockIdx.x * cells_per_block + threadIdx.y);
  if (cx >= cells.across) return;
  const int right = min((cx + 1) * cells.side, pair.reference_width - pair.margin);
  for (int cy = static_cast<int>(blockIdx.y); cy < cells.down; cy += static_cast<int>(gridDim.y)) {
    const int bottom = min((cy + 1) * cells.side, pair.reference_height - pair.margin);
    float sums[moment_count] = {};
    for (int i = lane; i < cells.side * cells.side; i += warp_lanes) {
      const int px = cx * cells.side + i % cells.side;
      const int py = cy * cells.side + i / cells.side;
      if (px < pair.margin || py < pair.margin || px >= right || py >= bottom) continue;
      add_pixel<projective, masked>(pair, px, py, sums);
    }
    const long long cell = static_cast<long long>(cy) * cells.across + cx;
#pragma unroll
    for (int i = 0; i < moment_count; ++i) {
      const float sum = warp_sum(sums[i]);
      if (lane == 0) moments[static_cast<long long>(i) * cells.across * cells.down + cell] = sum;
    }
  }
}

// `weights` holds b(0) ... b(reach) of a Gaussian over cells.
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    illumination_fit_kernel(const float* __restrict__ moments, Cells cells,
                            const float* __restrict__ weights, int reach, float gain,
                            float strength, float reference_mean, float moving_mean,
                            float2* __restrict__ field) {
  wait_for_previous_kernel();
  const int cx = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (cx >= cells.across) return;
  const long long plane = static_cast<long long>(cells.across) * cells.down;
  for (int cy = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); cy < cells.down;
       cy += static_cast<int>(gridDim.y * row_block_height)) {
    float sums[WA_ILLUMINATION_SUMS] = {};
    for (int y = max(cy - reach, 0); y <= min(cy + reach, cells.down - 1); ++y) {
      const float* cells_of_row = moments + static_cast<long long>(y) * cells.across;
      float row[WA_ILLUMINATION_ROW_SUMS] = {};
      for (int x = max(cx - reach, 0); x <= min(cx + reach, cells.across - 1); ++x) {
        float of_cell[moment_count];
#pragma unroll
        for (int i = 0; i < moment_count; ++i) of_cell[i] = cells_of_row[i * plane + x];
        wa_add_illumination_cell(of_cell, weights[abs(x - cx)], static_cast<float>(x - cx), row);
      }
      wa_add_illumination_row(row, weights[abs(y - cy)], static_cast<float>(y - cy), sums);
    }
    float2 fitted;
    wa_local_illumination(sums, gain, strength, reference_mean, moving_mean, &fitted.x, &fitted.y);
    field[static_cast<long long>(cy) * cells.across + cx] = fitted;
  }
}

template <bool projective, bool masked>
class IlluminationStage final : public backend::Illumination {
 public:
  IlluminationStage(const Context& context, const IlluminationSpec& spec,
                    const std::vector<float>& weights)
      : site_{context, "illumination"},
        start_{},
        cells_(cells_of(spec, site_)),
        reach_(static_cast<int>(weights.size()) - 1),
        weights_(upload(site_, weights)),
        moments_(site_, static_cast<std::size_t>(cells_.across) *
                            static_cast<std::size_t>(cells_.down) * moment_count * sizeof(float)),
        scratch_guard_(site_) {
    start_.reference_width = extent(spec.reference.width, site_);
    start_.reference_height = extent(spec.reference.height, site_);
    start_.margin = spec.reference_margin;
    start_.moving = moving_spline(spec.moving, spec.moving_margin, site_);
    load(&illumination_moments_kernel<projective, masked>, site_);
    load(&illumination_fit_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               const Homography& matrix, const IlluminationPrior& prior,
               backend::Memory& field) override {
    Comparison<projective> pair = start_;
    pair.matrix = matrix_of<projective>(matrix);
    pair.reference = data<float>(images.reference);
    pair.moving.coefficients = data<float>(images.coefficients);
    pair.reference_mean = static_cast<float>(prior.reference);
    pair.moving_mean = static_cast<float>(prior.moving);
    pair.weights = {data_or_null<float>(images.reference_weight),
                    data_or_null<float>(images.moving_weight)};
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_dependent(site_, queue, tile_grid(cells_.across, cells_.down, cells_per_block, 1),
                 dim3(warp_lanes, cells_per_block),
                 &illumination_moments_kernel<projective, masked>, pair, cells_,
                 moments_.as<float>());
    launch_dependent(site_, queue, tile_grid(cells_.across, cells_.down, warp_lanes, row_block_height),
                 dim3(warp_lanes, row_block_height), &illumination_fit_kernel,
                 moments_.as<const float>(), cells_, weights_.as<float>(), reach_,
                 static_cast<float>(prior.gain), static_cast<float>(prior.strength),
                 pair.reference_mean, pair.moving_mean, data<float2>(field));
  }

 private:
  static Cells cells_of(const IlluminationSpec& spec, const CallSite& site) {
    const Shape field = IlluminationPlan::field_shape(spec.reference, spec.cell);
    return {spec.cell, extent(field.width, site), extent(field.height, site)};
  }

  CallSite site_;
  Comparison<projective> start_;
  Cells cells_;
  int reach_;
  Constants weights_;
  DeviceMemory moments_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Illumination> make(const Context& context,
                                            const backend::Illumination::Setup& setup) {
  const auto& [spec, weights] = setup;
  if (spec.projective) {
    if (spec.masked) return std::make_unique<IlluminationStage<true, true>>(context, spec, weights);
    return std::make_unique<IlluminationStage<true, false>>(context, spec, weights);
  }
  if (spec.masked) return std::make_unique<IlluminationStage<false, true>>(context, spec, weights);
  return std::make_unique<IlluminationStage<false, false>>(context, spec, weights);
}

}  // namespace warpalign::cuda
