// Prefilter, method `iir_line`: Ruijters and Thevenaz' two-pass recursion, one line per thread, in
// place in the memory of the coefficients. It is the baseline for the other methods: neighbouring
// threads read neighbouring columns, except in the pass along x, where they read whole rows apart.
#include "device/memory.hpp"
#include "device/pixel_load.cuh"
#include "spline/prefilter_axis.cuh"
#include "spline/prefilter_method.hpp"
#include "spline/prefilter_recursion.cuh"

#include <cmath>
#include <cstddef>
#include <vector>

namespace warpalign::cuda {
namespace {

constexpr int block_threads = 128;

/// The layout of samples in the memory of the coefficients, with the margin along filtered axes.
struct Placement {
  int width, height, depth;  // of an array's samples
  long long batch;
  int margin_x, margin_y, margin_z;
  Beyond beyond;
};

template <class Pixel>
__device__ __forceinline__ void sample_or_fill(const Pixel* __restrict__ samples,
                                               const Placement& p, int x, int y, int z,
                                               long long array,
                                               float (&value)[components_of<Pixel>]) {
  const int i = wa_extend(p.beyond.rule, x, p.width);
  const int j = wa_extend(p.beyond.rule, y, p.height);
  const int k = wa_extend(p.beyond.rule, z, p.depth);
  if (i < 0 || j < 0 || k < 0) {
#pragma unroll
    for (int c = 0; c < components_of<Pixel>; ++c) value[c] = c == 0 ? p.beyond.fill : 0.0f;
    return;
  }
  to_floats(samples[((array * p.depth + k) * p.height + j) * p.width + i], value);
}

template <class Pixel>
__global__ void place_kernel(const Pixel* __restrict__ samples, float* __restrict__ coefficients,
                             Placement p) {
  constexpr int components = components_of<Pixel>;
  const int wide = p.width + 2 * p.margin_x;
  const int high = p.height + 2 * p.margin_y;
  const int deep = p.depth + 2 * p.margin_z;
  const long long rows = p.batch * deep * high;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= wide) return;
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    const int y = static_cast<int>(row % high);
    const int z = static_cast<int>(row / high % deep);
    const long long array = row / high / deep;
    float value[components];
    sample_or_fill(samples, p, x - p.margin_x, y - p.margin_y, z - p.margin_z, array, value);
#pragma unroll
    for (int c = 0; c < components; ++c) {
      coefficients[(row * wide + x) * components + c] = value[c];
    }
  }
}

// The recursion of one pole over one line, in place (Ruijters and Thevenaz, equations 8 and 9).
//
// The values beyond the ends of the line are read before the line is overwritten: the causal run
// starts `horizon` samples early. With c+ the causal results, the anticausal run starts from
//   d[n - 1] = sum_j z^j c+[n - 1 + j] = (c+[n - 1] + sum_{i >= 1} z^i s[n - 1 + i]) / (1 - z^2),
// where c- = -z d (see prefilter_recursion.cuh).
__device__ __forceinline__ void filter_line(float* line, const AxisPass& pass, float z, float scale,
                                            int horizon) {
  const int n = pass.n;
  float before = wa_prefilter_causal_start(sample_at(line, pass, -horizon, 0.0f), z);
  for (int k = 1 - horizon; k < 0; ++k) {
    before = wa_prefilter_causal(sample_at(line, pass, k, 0.0f), z, before);
  }
  float beyond = 0.0f;
  for (int k = n - 1 + horizon; k >= n; --k) {
    beyond = z * (sample_at(line, pass, k, 0.0f) + beyond);
  }
  float* at = line;
  for (int k = 0; k < n; ++k, at += pass.inner) {
    before = wa_prefilter_causal(*at, z, before);
    *at = before;
  }
  at -= pass.inner;
  float after = (before + beyond) / fmaf(-z, z, 1.0f);
  *at = scale * after;
  for (int k = n - 2; k >= 0; --k) {
    at -= pass.inner;
    after = wa_prefilter_causal(*at, z, after);
    *at = scale * after;
  }
}

__global__ void __launch_bounds__(block_threads)
    line_kernel(float* coefficients, AxisPass pass, float z, float scale, int horizon) {
  const long long line = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (line >= pass.outer * pass.inner) return;
  const long long start = line / pass.inner * pass.n * pass.inner + line % pass.inner;
  filter_line(coefficients + start, pass, z, scale, horizon);
}

template <class Pixel>
class LinePrefilter final : public backend::Prefilter {
 public:
  LinePrefilter(const Context& context, const PrefilterSpec& spec,
                const backend::PrefilterDetails& details)
      : site_{context, "prefilter"},
        volume_(volume_of(spec, site_)),
        beyond_(beyond_of(spec, details)),
        poles_(details.poles),
        horizon_(details.horizon) {
    load(&place_kernel<Pixel>, site_);
    load(&line_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& samples,
               backend::Memory& coefficients) override {
    place_samples(queue, samples, coefficients);
    for (int axis = 0; axis < volume_.dimensions; ++axis) {
      const AxisPass pass = pass_along(axis);
      const auto blocks = static_cast<unsigned>(divide_up(pass.outer * pass.inner, block_threads));
      for (std::size_t i = 0; i < poles_.size(); ++i) {
        // Each run omits its factor (1 - z)^2; the last one applies all of them.
        const bool last = axis + 1 == volume_.dimensions && i + 1 == poles_.size();
        const double scale =
            last ? std::pow(backend::recursion_gain(poles_), volume_.dimensions) : 1.0;
        launch(site_, queue, dim3(blocks), dim3(block_threads), &line_kernel,
               data<float>(coefficients), pass, static_cast<float>(poles_[i]),
               static_cast<float>(scale), horizon_);
      }
    }
  }

 private:
  [[nodiscard]] int margin_along(int axis) const {
    return axis < volume_.dimensions ? beyond_.margin : 0;
  }

  // With the margin in place the lines are longer and have their own extension rule. If samples are
  // filled or clamped, the coefficients are constant by the end of the margin.
  [[nodiscard]] AxisPass pass_along(int axis) const {
    Beyond own = beyond_;
    own.margin = 0;
    if (own.rule == WA_FILL) own.rule = WA_CLAMP;
    const Volume whole{volume_.width + 2 * margin_along(0),
                       volume_.height + 2 * margin_along(1),
                       volume_.depth + 2 * margin_along(2),
                       volume_.components,
                       volume_.dimensions,
                       volume_.batch};
    return axis_pass(whole, own, axis);
  }

  void place_samples(backend::Queue& queue, const backend::Memory& samples,
                     backend::Memory& coefficients) const {
    const Placement placement{volume_.width,   volume_.height,  volume_.depth,   volume_.batch,
                              margin_along(0), margin_along(1), margin_along(2), beyond_};
    const int wide = volume_.width + 2 * margin_along(0);
    const std::int64_t rows = (std::int64_t{volume_.height} + 2 * margin_along(1)) *
                              (std::int64_t{volume_.depth} + 2 * margin_along(2)) * volume_.batch;
    const dim3 grid(static_cast<unsigned>(divide_up(wide, block_threads)), grid_extent(rows));
    launch(site_, queue, grid, dim3(block_threads), &place_kernel<Pixel>, data<Pixel>(samples),
           data<float>(coefficients), placement);
  }

  CallSite site_;
  Volume volume_;
  Beyond beyond_;
  std::vector<double> poles_;
  int horizon_;
};

}  // namespace

std::unique_ptr<backend::Prefilter> make_prefilter_iir(const Context& context,
                                                       const PrefilterSpec& spec,
                                                       const backend::PrefilterDetails& details) {
  return with_pixel_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Prefilter> {
    return std::make_unique<LinePrefilter<decltype(pixel)>>(context, spec, details);
  });
}

}  // namespace warpalign::cuda
