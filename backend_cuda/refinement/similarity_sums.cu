// Stage: the sums of one Gauss-Newton step of registration by a similarity or a homography.
//
// A warp covers a small tile of the reference at a time, which keeps its reads of a rotated moving
// image close together; blocks step over the tiles.
#include "device/block_sums.cuh"
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "refinement/sample_location.cuh"

#include "formulas/illumination.h"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <algorithm>

namespace warpalign::cuda {
namespace {

// One block per multiprocessor leaves few partial sums for the host. The sums of a homography take
// more registers than a thread of 512 has.
template <bool projective>
constexpr int threads_of = projective ? 256 : 512;
template <bool projective>
constexpr int warps_of = threads_of<projective> / warp_lanes;
template <bool projective>
constexpr int sums_of = projective ? WA_HOMOGRAPHY_SUMS : WA_SIMILARITY_SUMS;
constexpr int blocks_per_multiprocessor = 1;
constexpr int tile_width = 8;  // of a warp
constexpr int tile_height = warp_lanes / tile_width;
template <bool projective>
constexpr int block_width = warps_of<projective>* tile_width;
static_assert(WA_SIMILARITY_SUMS == backend::similarity_sum_count);
static_assert(WA_HOMOGRAPHY_SUMS == backend::homography_sum_count);

/// The illumination model: one gain and offset for all pixels, or those of a field of cells.
struct Illumination {
  float gain, offset;
  const float2* field;
  float inverse_side;
  int across, down;
};

/// The images that a step compares, and the state that it starts from.
template <bool projective>
struct Step {
  MatrixOf<projective> matrix;
  const float* reference;
  int reference_width, margin, columns, rows;
  MovingSpline moving;
  float centre_x, centre_y, inverse_unit, inverse_scale;
  Illumination illumination;
  PairWeights weights;
};

__device__ __forceinline__ float2 illumination_at(const Illumination& illumination, int px,
                                                  int py) {
  int left, right, top, bottom;
  const float a =
      wa_illumination_cells(px, illumination.inverse_side, illumination.across, &left, &right);
  const float b =
      wa_illumination_cells(py, illumination.inverse_side, illumination.down, &top, &bottom);
  const float2* above = illumination.field + static_cast<long long>(top) * illumination.across;
  const float2* below = illumination.field + static_cast<long long>(bottom) * illumination.across;
  const float2 p = __ldg(above + left), q = __ldg(above + right);
  const float2 r = __ldg(below + left), s = __ldg(below + right);
  return make_float2(wa_illumination_mix(p.x, q.x, r.x, s.x, a, b),
                     wa_illumination_mix(p.y, q.y, r.y, s.y, a, b));
}

template <bool projective, bool masked, bool illuminated>
__device__ __forceinline__ void add_pixel(const Step<projective>& s, int px, int py,
                                          float (&sums)[sums_of<projective>]) {
  SampleLocation location;
  if (!find_sample_location(s.matrix, px, py, s.moving, location)) return;
  const long long pixel = static_cast<long long>(py) * s.reference_width + px;
  if constexpr (masked) {
    if (!pair_counts(s.weights, pixel, s.moving, location)) return;
  }
  const ValueAndSlopes m = spline_value_and_slopes(s.moving, location);
  float2 illumination = make_float2(s.illumination.gain, s.illumination.offset);
  if constexpr (illuminated) illumination = illumination_at(s.illumination, px, py);
  const float dx = (static_cast<float>(location.x0) - s.centre_x) + location.a;
  const float dy = (static_cast<float>(location.y0) - s.centre_y) + location.b;
  const float reference = __ldg(s.reference + pixel);
  if constexpr (projective) {
    wa_homography_add(m.value, m.slope_x, m.slope_y, dx * s.inverse_unit, dy * s.inverse_unit,
                      reference, illumination.x, illumination.y, s.inverse_scale, 1.0f, sums);
  } else {
    wa_similarity_add(m.value, m.slope_x, m.slope_y, dx, dy, reference, illumination.x,
                      illumination.y, s.inverse_scale, 1.0f, sums);
  }
}

template <bool projective, bool masked, bool illuminated>
__global__ void __launch_bounds__(threads_of<projective>, blocks_per_multiprocessor)
    similarity_sums_kernel(const __grid_constant__ Step<projective> s,
                           float* __restrict__ partials) {
  await_previous();
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
  const int x = warp * tile_width + lane % tile_width;
  const int y = lane / tile_width;
  const int across = (s.columns + block_width<projective> - 1) / block_width<projective>;
  float sums[sums_of<projective>] = {};
  if (across > 0) {
    const int blocks = static_cast<int>(gridDim.x);
    int tile_x = static_cast<int>(blockIdx.x) % across;
    int tile_y = static_cast<int>(blockIdx.x) / across;
    while (tile_y * tile_height < s.rows) {
      const int column = tile_x * block_width<projective> + x;
      const int row = tile_y * tile_height + y;
      if (column < s.columns && row < s.rows) {
        add_pixel<projective, masked, illuminated>(s, s.margin + column, s.margin + row, sums);
      }
      tile_x += blocks % across;
      tile_y += blocks / across;
      if (tile_x >= across) {
        tile_x -= across;
        ++tile_y;
      }
    }
  }
  store_block_sums<warps_of<projective>>(sums, partials);
}

template <bool projective>
using Kernel = void (*)(Step<projective>, float*);

template <bool projective>
Kernel<projective> kernel_for(const SimilaritySumsSpec& spec) {
  const bool illuminated = spec.illumination_cell != 0;
  if (spec.masked) {
    return illuminated ? &similarity_sums_kernel<projective, true, true>
                       : &similarity_sums_kernel<projective, true, false>;
  }
  return illuminated ? &similarity_sums_kernel<projective, false, true>
                     : &similarity_sums_kernel<projective, false, false>;
}

template <bool projective>
class SimilaritySumsStage final : public backend::SimilaritySums {
 public:
  SimilaritySumsStage(const Context& context, const SimilaritySumsSpec& spec)
      : site_{context, "similarity_sums"},
        start_{},
        kernel_(kernel_for<projective>(spec)),
        centre_(centre_of(spec.moving)) {
    start_.reference_width = extent(spec.reference.width, site_);
    start_.margin = spec.reference_margin;
    start_.columns = without_margins(extent(spec.reference.width, site_), spec.reference_margin);
    start_.rows = without_margins(extent(spec.reference.height, site_), spec.reference_margin);
    start_.moving = moving_spline(spec.moving, spec.moving_margin, site_);
    if (spec.illumination_cell != 0) {
      const Shape field = IlluminationPlan::field_shape(spec.reference, spec.illumination_cell);
      start_.illumination.inverse_side = 1.0f / static_cast<float>(spec.illumination_cell);
      start_.illumination.across = extent(field.width, site_);
      start_.illumination.down = extent(field.height, site_);
    }
    const std::int64_t tiles =
        divide_up(start_.columns, block_width<projective>) * divide_up(start_.rows, tile_height);
    blocks_ = std::clamp<std::int64_t>(
        tiles, 1, std::int64_t{blocks_per_multiprocessor} * context.multiprocessors);
    load(kernel_, site_);
  }

  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(blocks_);
  }

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               const SimilarityState& state, backend::Memory& partials,
               std::size_t first) override {
    Step<projective> step = start_;
    step.matrix = matrix_of<projective>(state.matrix);
    const Point centre = projective ? state.centre : centre_;
    step.centre_x = static_cast<float>(centre.x);
    step.centre_y = static_cast<float>(centre.y);
    step.inverse_unit = static_cast<float>(1 / state.unit);
    step.reference = data<float>(images.reference);
    step.moving.coefficients = data<float>(images.coefficients);
    step.inverse_scale = static_cast<float>(state.scale > 0 ? 1 / state.scale : 0);
    step.illumination.gain = static_cast<float>(state.gain);
    step.illumination.offset = static_cast<float>(state.offset);
    step.illumination.field = data_or_null<float2>(images.illumination);
    step.weights = {data_or_null<float>(images.reference_weight),
                    data_or_null<float>(images.moving_weight)};
    launch_early(site_, queue, dim3(static_cast<unsigned>(blocks_)), dim3(threads_of<projective>),
                 kernel_, step, data<float>(partials) + first);
  }

 private:
  CallSite site_;
  Step<projective> start_;
  Kernel<projective> kernel_;
  Point centre_;
  std::int64_t blocks_ = 1;
};

}  // namespace

template <>
std::unique_ptr<backend::SimilaritySums> make(const Context& context,
                                              const SimilaritySumsSpec& spec) {
  if (spec.projective) return std::make_unique<SimilaritySumsStage<true>>(context, spec);
  return std::make_unique<SimilaritySumsStage<false>>(context, spec);
}

}  // namespace warpalign::cuda
