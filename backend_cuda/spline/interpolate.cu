// Stage: evaluate a B-spline at the points of a transform, a coordinate field or a log-polar grid.
//
// In full precision the neighbours are loaded, through shared memory if possible. In texture
// precision the texture unit reads them: in place if the rows are aligned, otherwise from an array
// to which the stage copies the coefficients.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "device/texture.hpp"
#include "spline/interpolate_bilinear.hpp"
#include "spline/interpolate_tiled.hpp"
#include "spline/lookup_table.hpp"
#include "spline/tile_source.cuh"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <algorithm>
#include <cstddef>
#include <numbers>
#include <optional>
#include <type_traits>

namespace warpalign::cuda {
SplineGeometry geometry_of(const InterpolateSpec& spec, const backend::InterpolateDetails& details,
                           const CallSite& site) {
  SplineGeometry geometry{};
  const std::int64_t extents[3] = {spec.images.shape.width, spec.images.shape.height,
                                   spec.images.shape.depth};
  for (int i = 0; i < 3; ++i) {
    const int margin = i < spec.images.dimensions ? details.margin : 0;
    geometry.samples[i] = extent(extents[i], site);
    geometry.stored[i] = geometry.samples[i] + 2 * margin;
  }
  geometry.rules = {details.points, static_cast<int>(details.extension), details.margin,
                    details.margin + spec.spline.degree, static_cast<float>(spec.spline.cval)};
  return geometry;
}

PointSource points_of(const HomogeneousMatrix& transform) {
  PointSource source;
  source.kind = transform.is_affine() ? PointKind::affine : PointKind::projective;
  std::copy(transform.m.begin(), transform.m.end(), source.m);
  return source;
}

namespace {

// `array`: the index of an array of the batch.
PointSource points_of(const backend::SamplingPoints& points, long long pixels, std::size_t array) {
  if (!points.transforms.empty()) {
    return cuda::points_of(points.transforms[points.transforms.size() == 1 ? 0 : array]);
  }
  PointSource source;
  if (points.coordinates != nullptr) {
    source.kind = PointKind::field;
    source.field = data<float>(*points.coordinates);
    source.field_plane = pixels;
  } else {
    source.kind = PointKind::log_polar;
    source.polar = *points.log_polar;
    source.polar.angle0 /= std::numbers::pi;
    source.polar.angle_step /= std::numbers::pi;
  }
  return source;
}

// Blocks have 256 threads. In planes and volumes a warp covers 8 x 4 pixels, so that the neighbours
// that a rotated image reads lie close together.
dim3 block_for(int dimensions) { return dimensions == 1 ? dim3(256) : dim3(8, 32); }

class InterpolateStage : public backend::Interpolate {
 protected:
  InterpolateStage(const Context& context, const InterpolateSpec& spec,
                   const backend::InterpolateDetails& details)
      : site_{context, "interpolate"},
        geometry_(geometry_of(spec, details, site_)),
        width_(extent(spec.output.width, site_)),
        height_(extent(spec.output.height, site_)),
        depth_(extent(spec.output.depth, site_)),
        arrays_(static_cast<std::size_t>(spec.images.count)),
        type_(spec.output_type),
        block_(block_for(spec.images.dimensions)) {}

  /// The evaluation of one array of the batch.
  [[nodiscard]] Evaluation evaluation(const backend::SamplingPoints& points,
                                      backend::Memory& output, backend::Memory* gradient,
                                      std::size_t array) const {
    const long long pixels = static_cast<long long>(width_) * height_ * depth_;
    const std::size_t first = array * static_cast<std::size_t>(pixels);
    std::byte* values = data<std::byte>(output) + first * size_of(type_);
    float* slopes = gradient != nullptr ? data<float>(*gradient) + first : nullptr;
    return {geometry_, points_of(points, pixels, array),
            OutputImage{values, type_, width_, height_, depth_, slopes,
                        pixels * static_cast<long long>(arrays_)}};
  }

  /// The coefficients of one array of the batch.
  template <class Value>
  [[nodiscard]] const Value* coefficients_of(const backend::Memory& coefficients,
                                             std::size_t array) const {
    const auto& n = geometry_.stored;
    return data<Value>(coefficients) +
           array * (static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
                    static_cast<std::size_t>(n[2]));
  }

  [[nodiscard]] std::size_t arrays() const { return arrays_; }

  template <class Kernel, class... Arguments>
  void run(const backend::Queue& queue, Kernel kernel, Arguments... arguments) const {
    dim3 grid = tile_grid(width_, height_, static_cast<int>(block_.x), static_cast<int>(block_.y));
    grid.z = static_cast<unsigned>(std::min(depth_, 65535));
    launch(site_, queue, grid, block_, kernel, arguments...);
  }

  CallSite site_;
  SplineGeometry geometry_;

 private:
  int width_, height_, depth_;
  std::size_t arrays_;
  PixelType type_;
  dim3 block_;
};

template <class Value>
InterpolateKernel<Value> value_kernel(int dimensions, int degree) {
  switch (dimensions) {
    case 1:
      return interpolate_kernel_1d<Value>(degree);
    case 2:
      return interpolate_kernel_2d<Value>(degree);
    default:
      return interpolate_kernel_3d<Value>(degree);
  }
}

template <class Value>
class FullInterpolate final : public InterpolateStage {
 public:
  FullInterpolate(const Context& context, const InterpolateSpec& spec,
                  const backend::InterpolateDetails& details)
      : InterpolateStage(context, spec, details),
        dimensions_(spec.images.dimensions),
        degree_(spec.spline.degree),
        value_(value_kernel<Value>(spec.images.dimensions, spec.spline.degree)) {
    load(value_, site_);
    if constexpr (std::is_same_v<Value, float>) {
      load_tiled_kernels(site_, spec.images.dimensions, spec.spline.degree);
      if (spec.spline.degree == 0) return;
      gradient_ = gradient_kernel(spec.images.dimensions, spec.spline.degree);
      load(gradient_, site_);
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::SamplingPoints& points, backend::Memory& output,
               backend::Memory* gradient) override {
    for (std::size_t i = 0; i < arrays(); ++i) {
      enqueue_array(queue, coefficients_of<Value>(coefficients, i),
                    evaluation(points, output, gradient, i));
    }
  }

 private:
  void enqueue_array(const backend::Queue& queue, const Value* coefficients,
                     const Evaluation& all) const {
    const bool with_gradient = all.output.gradient != nullptr;
    if constexpr (std::is_same_v<Value, float>) {
      if (!with_gradient && evaluate_tiled(site_, queue, coefficients, all, dimensions_, degree_)) {
        return;
      }
    }
    run(queue, with_gradient ? gradient_ : value_, coefficients, all);
  }

  int dimensions_, degree_;
  InterpolateKernel<Value> value_;
  InterpolateKernel<Value> gradient_ = nullptr;
};

TextureArray::Size texture_size(const InterpolateSpec& spec,
                                const backend::InterpolateDetails& details) {
  const auto stored = [&](std::int64_t n) {
    return static_cast<std::size_t>(n + 2 * details.margin);
  };
  return {stored(spec.images.shape.width), stored(spec.images.shape.height),
          spec.images.dimensions == 3 ? stored(spec.images.shape.depth) : 0};
}

bool wants_short_tiles(const Shape& output, const Context& context) {
  constexpr std::int64_t tall_tiles_per_multiprocessor = 16;
  const std::int64_t tall =
      divide_up(output.width, PlaneTile::width) * divide_up(output.height, PlaneTile::height);
  return tall < tall_tiles_per_multiprocessor * context.multiprocessors;
}

class TextureInterpolate final : public InterpolateStage {
 public:
  TextureInterpolate(const Context& context, const InterpolateSpec& spec,
                     const backend::InterpolateDetails& details)
      : InterpolateStage(context, spec, details), size_(texture_size(spec, details)) {
    if (spec.images.count > 1 || size_.depth > 0 ||
        !fits_linear(context, size_.width, size_.height, sizeof(float))) {
      array_.emplace(site_, size_, 1, TextureReading{.linear = true, .border = false});
    }
    const bool by_table = spec.spline.precision == Precision::texture_lut;
    kernel_ = texture_kernel(spec.images.dimensions, spec.spline.degree, by_table);
    load(kernel_, site_);
    const bool floats = spec.output_type == PixelType::f32;
    if (spec.images.dimensions == 2 && spec.spline.degree == 3) {
      by_short_tiles_ = wants_short_tiles(spec.output, context);
      tile_kernel_ = by_short_tiles_ ? texture_tile_kernel_of<ShortTile>(by_table, floats)
                                     : texture_tile_kernel_of<PlaneTile>(by_table, floats);
      load(tile_kernel_, site_);
    } else if (spec.images.dimensions == 2 && details.margin == 0) {
      bilinear_kernel_ = bilinear_kernel_of(floats);
      load(bilinear_kernel_, site_);
    }
    if (by_table) table_.emplace(site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::SamplingPoints& points, backend::Memory& output,
               backend::Memory* gradient) override {
    if (array_) scratch_guard_.enter(queue);
    for (std::size_t i = 0; i < arrays(); ++i) {
      enqueue_array(queue, texture_of(queue, coefficients, i),
                    coefficients_of<float>(coefficients, i),
                    evaluation(points, output, gradient, i));
    }
  }

 private:
  void enqueue_array(const backend::Queue& queue, cudaTextureObject_t texture,
                     const float* coefficients, const Evaluation& all) const {
    const TextureSources sources{texture, table_ ? table_->texture() : 0};
    if (bilinear_kernel_ != nullptr && bilinear_serves(all)) {
      launch_bilinear(site_, queue, bilinear_kernel_, sources.coefficients, coefficients, all);
      return;
    }
    if (tile_kernel_ != nullptr && enqueue_tiles(queue, sources, coefficients, all)) return;
    run(queue, kernel_, sources, coefficients, all);
  }

  bool enqueue_tiles(const backend::Queue& queue, const TextureSources& sources,
                     const float* coefficients, const Evaluation& all) const {
    const auto tiles =
        plane_source(all, 3, by_short_tiles_ ? ShortTile::height : PlaneTile::height);
    if (!tiles) return false;
    const dim3 grid =
        by_short_tiles_ ? grid_of_tiles<ShortTile>(all.output) : grid_of_tiles(all.output);
    launch_dependent(site_, queue, grid, dim3(tile_threads), tile_kernel_, sources, coefficients, all,
                 *tiles);
    return true;
  }

  cudaTextureObject_t texture_of(const backend::Queue& queue, const backend::Memory& coefficients,
                                 std::size_t array) const {
    site_.context.activate();
    if (!array_) {
      return static_cast<const DeviceMemory&>(coefficients)
          .texture({size_.width, size_.height}, site_);
    }
    array_->copy_from(coefficients_of<float>(coefficients, array), queue);
    return array_->texture();
  }

  TextureArray::Size size_;
  /// Empty if coefficients are read in place. The arrays of a batch pass through it one by one,
  /// because not every array begins at an address that a texture over linear memory allows.
  std::optional<TextureArray> array_;
  std::optional<LookupTable> table_;
  TextureKernel kernel_ = nullptr;
  TextureTileKernel tile_kernel_ = nullptr;  // for planes of degree 3
  bool by_short_tiles_ = false;
  BilinearKernel bilinear_kernel_ = nullptr;  // for planes of degree 1
  ScratchGuard scratch_guard_{site_};
};

// Volumes of degree 1 are faster by loads than by texture lookups, which need a copy to an array.
bool wants_lookups(const InterpolateSpec& spec) {
  return spec.spline.precision != Precision::full &&
         (spec.images.dimensions == 2 || spec.spline.degree == 3);
}

}  // namespace

template <>
std::unique_ptr<backend::Interpolate> make(const Context& context,
                                           const backend::Interpolate::Setup& setup) {
  const auto& [spec, details] = setup;
  if (spec.coefficients == PixelType::c32) {
    return std::make_unique<FullInterpolate<float2>>(context, spec, details);
  }
  if (wants_lookups(spec) && context.texture_filtering &&
      fits_array(context, texture_size(spec, details))) {
    return std::make_unique<TextureInterpolate>(context, spec, details);
  }
  return std::make_unique<FullInterpolate<float>>(context, spec, details);
}

}  // namespace warpalign::cuda
