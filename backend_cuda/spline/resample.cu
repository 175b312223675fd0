// Stage: prefilter and evaluation in one kernel. It exists for cubic splines in the plane, from f32
// samples, in single precision, with the exact prefilter, under affine transforms.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "spline/resample_tile.cuh"

#include <warpalign/backend/stages/spline/resample.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::cuda {
namespace {

// Whether the points of a tile all lie within the samples (lies_inside) or all lie outside them
// (lies_outside).
__device__ __forceinline__ bool lies_inside(const Evaluation& e, const ResampleSource& source,
                                            const ResampleLocation& location) {
  const int extent[2] = {source.columns, source.rows - 2 * resample_halo};
  bool inside = true;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    inside =
        inside && location.corner[i] >= 0 && location.corner[i] + extent[i] <= e.spline.samples[i];
  }
  return inside;
}

__device__ __forceinline__ bool lies_outside(const Evaluation& e, const ResampleSource& source,
                                             const ResampleLocation& location) {
  return location.corner[0] + source.columns <= 0 || location.corner[0] >= e.spline.samples[0] ||
         location.corner[1] + source.rows - 2 * resample_halo <= 0 ||
         location.corner[1] >= e.spline.samples[1];
}

__device__ __forceinline__ long long index_of(const OutputImage& output, int x, int y) {
  return static_cast<long long>(y) * output.width + x;
}

__device__ __forceinline__ bool is_in(const OutputImage& output, int x, int y) {
  return x >= 0 && x < output.width && y >= 0 && y < output.height;
}

// Whether all pixels of a tile lie in the output.
__device__ __forceinline__ bool is_whole(const OutputImage& output, const ResampleSource& source,
                                         const ResampleLocation& location) {
  const int sheared = source.shear * (resample_tile / shear_group - 1);
  return location.first[0] + resample_tile <= output.width &&
         location.first[1] + min(0, sheared) >= 0 &&
         location.first[1] + resample_tile + max(0, sheared) <= output.height;
}

template <bool floats>
__device__ __forceinline__ void evaluate_along_rows(const Evaluation& e,
                                                    const ResampleSource& source, float scale,
                                                    const float* coefficients, bool careful) {
  const ResampleLocation location(e, source);
  if (!careful && is_whole(e.output, source, location)) {
    const ResampleWalk<false> start(source, location);
    const long long first =
        index_of(e.output, location.first[0] + start.u, location.first[1] + start.v);
    const long long stride = static_cast<long long>(start.step) * e.output.width;
    if constexpr (floats) {
      float* at = static_cast<float*>(e.output.pixels) + first;
      evaluate_pixels<false, false>(e, source, location, scale, coefficients,
                                    [&](const auto&, float value) {
                                      *at = value;
                                      at += stride;
                                    });
    } else {
      long long index = first;
      evaluate_pixels<false, false>(e, source, location, scale, coefficients,
                                    [&](const auto&, float value) {
                                      store(e.output, index, value);
                                      index += stride;
                                    });
    }
  } else {
    evaluate_pixels<false, true>(
        e, source, location, scale, coefficients, [&](const auto& walk, float value) {
          const int x = location.first[0] + walk.u, y = location.first[1] + walk.v;
          if (is_in(e.output, x, y)) store_pixel<floats>(e.output, index_of(e.output, x, y), value);
        });
  }
}

// Calls visit(u, v, x, y) for the pixels (x, y) of a thread that lie in the output; each is pixel u
// of row v of the tile. Warps run along rows.
template <bool steep, class Visit>
__device__ __forceinline__ void for_pixels_of_rows(const Evaluation& e,
                                                   const ResampleSource& source,
                                                   const ResampleLocation& location, Visit visit) {
  const int u = static_cast<int>(threadIdx.x) % resample_tile;
  for (int v = static_cast<int>(threadIdx.x) / resample_tile; v < resample_tile;
       v += resample_threads / resample_tile) {
    const int x = location.first[0] + u + (steep ? source.shear * (v / shear_group) : 0);
    const int y = location.first[1] + v + (steep ? 0 : source.shear * (u / shear_group));
    if (is_in(e.output, x, y)) visit(u, v, x, y);
  }
}

// Warps run down the columns of the output; the results are staged in shared memory and stored
// along the rows of the output.
template <bool floats>
__device__ __forceinline__ void evaluate_down_columns(const Evaluation& e,
                                                      const ResampleSource& source, float scale,
                                                      const float* coefficients, bool careful,
                                                      float* staged) {
  const ResampleLocation location(e, source);
  const auto stage = [&](const auto& walk, float value) {
    const int u = walk.u - source.shear * (walk.v / shear_group);
    staged[walk.v * staged_pitch + u] = value;
  };
  if (careful) {
    evaluate_pixels<true, true>(e, source, location, scale, coefficients, stage);
  } else {
    evaluate_pixels<true, false>(e, source, location, scale, coefficients, stage);
  }
  __syncthreads();
  for_pixels_of_rows<true>(e, source, location, [&](int u, int v, int x, int y) {
    store_pixel<floats>(e.output, index_of(e.output, x, y), staged[v * staged_pitch + u]);
  });
}

template <bool steep, bool floats>
__device__ __forceinline__ void blank(const Evaluation& e, const ResampleSource& source,
                                      const ResampleLocation& location) {
  for_pixels_of_rows<steep>(e, source, location, [&](int, int, int x, int y) {
    store_pixel<floats>(e.output, index_of(e.output, x, y), e.spline.rules.cval);
  });
}

template <int rows, bool steep>
inline constexpr int resample_blocks = rows == few_rows && !steep ? 4 : 3;  // per multiprocessor

template <int rows, bool steep, bool floats>
__global__ void __launch_bounds__(resample_threads, resample_blocks<rows, steep>)
    resample_kernel(const float* __restrict__ samples, const __grid_constant__ Evaluation e,
                    const __grid_constant__ ResampleSource source,
                    const __grid_constant__ ResampleFilter filter) {
  wait_for_previous_kernel();
  extern __shared__ float4 shared_words[];
  float* coefficients = reinterpret_cast<float*>(shared_words);
  bool careful = false;
  {
    const ResampleLocation location(e, source);
    if (e.spline.rules.points == PointRule::reject_outside) {
      if (lies_outside(e, source, location)) {
        blank<steep, floats>(e, source, location);
        return;
      }
      careful = !lies_inside(e, source, location);
    }
    filter_columns<rows>(samples, e, filter, location, coefficients);
  }
  __syncthreads();
  filter_rows<rows>(filter, source.columns, coefficients);
  __syncthreads();
  if constexpr (steep) {
    evaluate_down_columns<floats>(e, source, filter.scale, coefficients, careful,
                                  coefficients + kept_rows<rows> * resample_pitch);
  } else {
    evaluate_along_rows<floats>(e, source, filter.scale, coefficients, careful);
  }
}

struct Kernel {
  void (*function)(const float*, Evaluation, ResampleSource, ResampleFilter);
  std::size_t bytes;
};

template <int rows, bool floats>
Kernel kernel_of(bool steep) {
  return steep ? Kernel{&resample_kernel<rows, true, floats>, resample_bytes<rows, true>}
               : Kernel{&resample_kernel<rows, false, floats>, resample_bytes<rows, false>};
}

Kernel kernel_of(int rows, bool steep, bool floats) {
  if (rows == few_rows) {
    return floats ? kernel_of<few_rows, true>(steep) : kernel_of<few_rows, false>(steep);
  }
  return floats ? kernel_of<many_rows, true>(steep) : kernel_of<many_rows, false>(steep);
}

ResampleFilter filter_of(const std::vector<double>& poles) {
  const double z = backend::kernel_pole(poles.front());
  ResampleFilter filter;
  filter.z = static_cast<float>(z);
  filter.start = static_cast<float>(1 / (1 - z));
  for (int i = 0; i <= resample_halo + 1; ++i) {
    filter.powers[i] = static_cast<float>(std::pow(z, i));
  }
  filter.scale = static_cast<float>(backend::resample_scale(filter.z));
  return filter;
}

class ResampleStage final : public backend::Resample {
 public:
  ResampleStage(const Context& context, const ResampleSpec& spec,
                const backend::PrefilterDetails& filter, const backend::InterpolateDetails& details)
      : site_{context, "resample"},
        filter_(filter_of(filter.poles)),
        batch_(static_cast<std::size_t>(spec.images.count)),
        max_shared_(max_shared(site_)) {
    InterpolateSpec evaluation;
    evaluation.images.shape = spec.images.shape;
    evaluation.spline.degree = spec.spline.degree;
    evaluation.spline.cval = spec.spline.cval;
    evaluation_.spline = geometry_of(evaluation, details, site_);
    evaluation_.output.type = spec.output_type;
    evaluation_.output.width = extent(spec.output.width, site_);
    evaluation_.output.height = extent(spec.output.height, site_);
    for (const int rows : {few_rows, many_rows}) {
      for (const bool steep : {false, true}) {
        const Kernel kernel = kernel_for(rows, steep);
        if (kernel.bytes > max_shared_) continue;
        load(kernel.function, site_);
        allow_shared(kernel.function, kernel.bytes, site_);
      }
    }
  }

  bool enqueue(backend::Queue& queue, const backend::Memory& samples,
               std::span<const HomogeneousMatrix> transforms, backend::Memory& output) override {
    const auto all = transforms.size() == 1 ? launch_under(transforms[0]) : std::nullopt;
    const auto served = [&](const HomogeneousMatrix& t) { return launch_under(t).has_value(); };
    if (!all && !std::all_of(transforms.begin(), transforms.end(), served)) return false;
    for (std::size_t i = 0; i < batch_; ++i) {
      Launch launch = all ? *all : *launch_under(transforms[i]);
      launch.evaluation.output.pixels = data<std::byte>(output) + i * output_bytes();
      enqueue(queue, data<float>(samples) + i * input_pixels(), launch);
    }
    return true;
  }

 private:
  struct Launch {
    Evaluation evaluation;
    ResampleSource source;
    Kernel kernel;
  };

  // Empty if the kernel does not serve the transform.
  [[nodiscard]] std::optional<Launch> launch_under(const HomogeneousMatrix& transform) const {
    Evaluation e = evaluation_;
    e.points = points_of(transform);
    const auto source = resample_source(e);
    if (!source) return std::nullopt;
    const Kernel kernel = kernel_for(source->rows, source->steep);
    if (kernel.bytes > max_shared_ || grid_of(*source).y > 65535) return std::nullopt;
    return Launch{e, *source, kernel};
  }

  void enqueue(const backend::Queue& queue, const float* samples, const Launch& launch) const {
    launch_dependent_with_shared(site_, queue, grid_of(launch.source), dim3(resample_threads),
                             launch.kernel.bytes, launch.kernel.function, samples,
                             launch.evaluation, launch.source, filter_);
  }

  [[nodiscard]] std::size_t input_pixels() const {
    return static_cast<std::size_t>(evaluation_.spline.samples[0]) *
           static_cast<std::size_t>(evaluation_.spline.samples[1]);
  }
  [[nodiscard]] std::size_t output_bytes() const {
    return static_cast<std::size_t>(evaluation_.output.width) *
           static_cast<std::size_t>(evaluation_.output.height) * size_of(evaluation_.output.type);
  }

  [[nodiscard]] Kernel kernel_for(int rows, bool steep) const {
    return kernel_of(rows, steep, evaluation_.output.type == PixelType::f32);
  }

  [[nodiscard]] dim3 grid_of(const ResampleSource& source) const {
    const auto [across, down] = backend::resample_grid(
        {evaluation_.output.width, evaluation_.output.height, 1}, source.steep, source.shear);
    return dim3(static_cast<unsigned>(across), static_cast<unsigned>(down));
  }

  CallSite site_;
  ResampleFilter filter_;
  std::size_t batch_;
  std::size_t max_shared_;
  Evaluation evaluation_{};
};

}  // namespace

template <>
std::unique_ptr<backend::Resample> make(const Context& context,
                                        const backend::Resample::Setup& setup) {
  const auto& [spec, filter, details] = setup;
  if (spec.images.dimensions != 2 || spec.spline.degree != 3 || spec.input != PixelType::f32)
    return nullptr;
  return std::make_unique<ResampleStage>(context, spec, filter, details);
}

}  // namespace warpalign::cuda
