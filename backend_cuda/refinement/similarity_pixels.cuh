// The sums of one Gauss-Newton step over the pixels of a reference, for the kernels that compute
// one step per launch and for those that take all steps of a fit.
//
// A warp covers a small tile of the reference at a time, so that its reads of a rotated moving
// image lie close together; blocks step over the tiles.
#pragma once

#include "refinement/sample_location.cuh"

#include "formulas/illumination.h"
#include "formulas/resident_state.h"

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

namespace warpalign::cuda {

// One block per multiprocessor leaves few partial sums for the host; if many states share a launch,
// each gets a quarter of that. The sums of a homography need more registers than a thread of a
// 512-thread block has.
template <bool projective>
constexpr int threads_of = projective ? 256 : 512;
template <bool projective>
constexpr int warps_of = threads_of<projective> / warp_lanes;
template <bool projective>
constexpr int sums_of = projective ? WA_HOMOGRAPHY_SUMS : WA_SIMILARITY_SUMS;
constexpr int blocks_per_multiprocessor = 1;
constexpr int states_to_fill_device = 4;
// Where a block would have more pixels than this, its sum is long, and a state gets more blocks.
constexpr int most_pixels_of_shared_block = 8192;
constexpr int tile_width = 8;  // of a warp
constexpr int tile_height = warp_lanes / tile_width;
template <bool projective>
constexpr int block_width = warps_of<projective>* tile_width;
static_assert(WA_SIMILARITY_SUMS == backend::similarity_sum_count);
static_assert(WA_HOMOGRAPHY_SUMS == backend::homography_sum_count);
static_assert(sizeof(WaSumsState) == sizeof(ResidentState));

/// An illumination model with a gain and an offset for each cell of a field.
struct LocalIllumination {
  const float2* field;
  float inverse_side;
  int across, down;
};

/// The images to compare.
struct ComparedImages {
  const float* reference;
  int reference_width, margin, columns, rows;
  MovingSpline moving;
  LocalIllumination illumination;
  PairWeights weights;
};

/// A transform in single precision, row by row: each number is the sum of two.
template <bool projective>
struct SingleMatrix {
  float h[projective ? 9 : 6], rest[projective ? 9 : 6];
};

template <bool projective>
__device__ __forceinline__ float row_of(const SingleMatrix<projective>& m, int row, float x,
                                        float y) {
  const float* h = m.h + 3 * row;
  const float* rest = m.rest + 3 * row;
  return fmaf(h[0], x, fmaf(h[1], y, h[2])) + fmaf(rest[0], x, fmaf(rest[1], y, rest[2]));
}

// 1.5 2^23: a float that exceeds this by less than 2^22 has an integer in its low bits. Additions
// convert to such a float and back; conversions run at a quarter of their rate.
constexpr float whole_numbers = 12582912.0f;
constexpr int bits_of_whole_numbers = 0x4b400000;

// Converts an integer with a magnitude below 2^22 to a float.
__device__ __forceinline__ float whole_as_float(int n) {
  return __int_as_float(bits_of_whole_numbers + n) - whole_numbers;
}

// Like cell_of() of a double, for numbers with a magnitude below 2^22.
__device__ __forceinline__ int cell_of(float x, float& part) {
  const float shifted = x + whole_numbers;
  return cell_near(__float_as_int(shifted) - bits_of_whole_numbers, x - (shifted - whole_numbers),
                   part);
}

// Maps the pixels of images 256 wide to 3e-5 pixels. The errors of the pixels are independent, so
// they nearly cancel in the sums. Fits that stay on the device use images of this size.
template <bool projective>
__device__ __forceinline__ bool find_sample_location(const SingleMatrix<projective>& m, int px,
                                                     int py, const MovingSpline& moving,
                                                     SampleLocation& location) {
  const float x = whole_as_float(px);
  const float y = whole_as_float(py);
  float u = row_of(m, 0, x, y);
  float v = row_of(m, 1, x, y);
  if constexpr (projective) {
    const float divisor = row_of(m, 2, x, y);
    const float about = __fdividef(1.0f, divisor);
    const float inverse = fmaf(fmaf(-divisor, about, 1.0f), about, about);
    u *= inverse;
    v *= inverse;
  }
  constexpr float far = 1048576.0f;
  if (!(fabsf(u) < far) || !(fabsf(v) < far)) return false;
  location.x0 = cell_of(u, location.a);
  location.y0 = cell_of(v, location.b);
  return counts_in(moving, location);
}

/// The state at which a step begins.
template <bool projective, class Matrix = MatrixOf<projective>>
struct State {
  Matrix matrix;
  float centre_x, centre_y, inverse_unit, inverse_scale;
  float gain, offset;  ///< for all pixels
};

/// The state of a fit that stays on the device.
template <bool projective>
__device__ __forceinline__ State<projective, SingleMatrix<projective>> state_in(
    const WaSumsState& kept) {
  State<projective, SingleMatrix<projective>> s;
#pragma unroll
  for (int i = 0; i < (projective ? 9 : 6); ++i) {
    s.matrix.h[i] = kept.matrix[i];
    s.matrix.rest[i] = kept.rest[i];
  }
  s.centre_x = kept.centre_x;
  s.centre_y = kept.centre_y;
  s.inverse_unit = kept.inverse_unit;
  s.inverse_scale = kept.inverse_scale;
  s.gain = kept.gain;
  s.offset = kept.offset;
  return s;
}

__device__ __forceinline__ float2 illumination_at(const LocalIllumination& illumination, int px,
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

// The nearest valid location of a moving image that has some.
__device__ __forceinline__ void bring_inside(const MovingSpline& moving, SampleLocation& location) {
  location.x0 = min(max(location.x0, moving.margin), moving.margin + moving.cells_x - 1);
  location.y0 = min(max(location.y0, moving.margin), moving.margin + moving.cells_y - 1);
}

// All lanes of a warp call this, each with a pixel that is added if it is valid and `counts` is
// set. The function loads all data of a pixel before it knows whether the pixel is valid: with a
// branch after each load, a step took twice as long, because few warps share a multiprocessor.
template <bool projective, bool masked, bool illuminated, class Matrix>
__device__ __forceinline__ void add_pixel(const ComparedImages& images,
                                          const State<projective, Matrix>& s, int px, int py,
                                          bool counts, float (&sums)[sums_of<projective>]) {
  SampleLocation location{};
  counts = find_sample_location(s.matrix, px, py, images.moving, location) && counts;
  if (!__any_sync(0xffffffffU, counts)) return;
  bring_inside(images.moving, location);
  const long long pixel = static_cast<long long>(py) * images.reference_width + px;
  const float reference = __ldg(images.reference + pixel);
  if constexpr (masked) {
    const bool has_weights = images.weights.reference != nullptr;
    if (has_weights) counts = pair_counts(images.weights, pixel, images.moving, location) && counts;
  }
  const ValueAndSlopes m = spline_value_and_slopes(images.moving, location);
  float2 illumination = make_float2(s.gain, s.offset);
  if constexpr (illuminated) illumination = illumination_at(images.illumination, px, py);
  const float dx = (static_cast<float>(location.x0) - s.centre_x) + location.a;
  const float dy = (static_cast<float>(location.y0) - s.centre_y) + location.b;
  const auto counted = [counts](float number) { return counts ? number : 0.0f; };
  const auto add = [&](auto add_to, float u, float v) {
    add_to(counted(m.value), counted(m.slope_x), counted(m.slope_y), u, v, counted(reference),
           illumination.x, counted(illumination.y), s.inverse_scale, counts ? 1.0f : 0.0f, sums);
  };
  if constexpr (projective) {
    add(wa_homography_add, dx * s.inverse_unit, dy * s.inverse_unit);
  } else {
    add(wa_similarity_add, dx, dy);
  }
}

/// Adds the pixels of one of several blocks to the sums of each thread. Without `masked` the images
/// have no weights.
template <bool projective, bool masked, bool illuminated, class Matrix>
__device__ __forceinline__ void add_pixels(const ComparedImages& images,
                                           const State<projective, Matrix>& s, int block,
                                           int blocks, float (&sums)[sums_of<projective>]) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
  const int x = warp * tile_width + lane % tile_width;
  const int y = lane / tile_width;
  const int across = (images.columns + block_width<projective> - 1) / block_width<projective>;
  if (across <= 0 || images.moving.cells_x <= 0 || images.moving.cells_y <= 0) return;
  int tile_x = block % across;
  int tile_y = block / across;
  while (tile_y * tile_height < images.rows) {
    const int column = tile_x * block_width<projective> + x;
    const int row = tile_y * tile_height + y;
    add_pixel<projective, masked, illuminated>(images, s,
                                               images.margin + min(column, images.columns - 1),
                                               images.margin + min(row, images.rows - 1),
                                               column < images.columns && row < images.rows, sums);
    tile_x += blocks % across;
    tile_y += blocks / across;
    if (tile_x >= across) {
      tile_x -= across;
      ++tile_y;
    }
  }
}

/// The parameters of a stage of sums that all images share.
class SimilarityImagesStage : public backend::SimilaritySums {
 public:
  [[nodiscard]] ComparedImages images_in(const backend::SimilarityMemory& memory) const {
    ComparedImages images = images_;
    images.reference = data<float>(memory.reference);
    images.moving.coefficients = data<float>(memory.coefficients);
    images.illumination.field = data_or_null<float2>(memory.illumination);
    images.weights = {data_or_null<float>(memory.reference_weight),
                      data_or_null<float>(memory.moving_weight)};
    return images;
  }
  /// The maximum number of reference pixels that are compared.
  [[nodiscard]] int pixels() const noexcept { return images_.columns * images_.rows; }

 protected:
  ComparedImages images_{};
};

}  // namespace warpalign::cuda
