// Warping of images on a device by a transform whose fields lie there.
#include <warpalign/transform_warp.hpp>

#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/evaluation_spec.hpp"

#include <warpalign/backend/stages/spline/warp_by_field.hpp>
#include <warpalign/stages/convert.hpp>

#include <optional>
#include <string>

namespace warpalign {

namespace {

constexpr const char* warp_stage = "warp_by_field";

// Without a value where coordinates always pass through memory. On CPUs the kernels that evaluate
// at given coordinates compute sixteen neighbouring pixels at once, and are faster.
std::optional<WarpByFieldPlan> by_field(const Device& device, const ResampleSpec& spec) {
  const InterpolateSpec inner = detail::evaluation_of(spec);
  if (device.info().kind == DeviceKind::cpu || !WarpByFieldPlan::serves(inner)) return std::nullopt;
  return WarpByFieldPlan(device, inner);
}

/// The memory through which coordinates pass.
struct CoordinateMemory {
  CoordinateMemory(const Device& device, const Shape& shape)
      : positions(device.make_image(PixelType::f64, shape)),
        rounded(device.make_image(PixelType::f32, shape)),
        round(device, {shape, PixelType::f64, PixelType::f32}) {}

  Image positions, rounded;
  ConvertPlan round;
};

}  // namespace

struct TransformWarpPlan::State {
  State(const Device& device_, const ResampleSpec& spec_)
      : device(device_), spec(spec_), resample(device_, spec_), kernel(by_field(device_, spec_)) {}

  bool in_one_kernel(Stream& stream, const Image& image, const DeviceTransform& transform,
                     Image& output, OutsideField outside) {
    if (!kernel || !kernel->supports(transform)) return false;
    const auto& converted = resample.converted_output_;
    const Image& coefficients = resample.coefficients_of(stream, resample.loaded(stream, image));
    kernel->execute(stream, coefficients, transform, converted ? converted->pixels() : output,
                    outside);
    if (converted) converted->convert(stream, output);
    return true;
  }

  void through_coordinates(Stream& stream, const Image& image, const DeviceTransform& transform,
                           Image& output, OutsideField outside) {
    if (!coordinates) {
      coordinates.emplace(device, InterpolatePlan::coordinates_shape(detail::evaluation_of(spec)));
    }
    transform.positions(stream, PointGrid{.shape = spec.output}, coordinates->positions, outside);
    coordinates->round.execute(stream, coordinates->positions, coordinates->rounded);
    resample.execute(stream, image, coordinates->rounded, output);
  }

  Device device;
  ResampleSpec spec;
  ResamplePlan resample;
  std::optional<WarpByFieldPlan> kernel;
  std::optional<CoordinateMemory> coordinates;
};

TransformWarpPlan::TransformWarpPlan(const Device& device, const ResampleSpec& spec)
    : state_(std::make_unique<State>(device, spec)) {}
TransformWarpPlan::~TransformWarpPlan() = default;
TransformWarpPlan::TransformWarpPlan(TransformWarpPlan&&) noexcept = default;
TransformWarpPlan& TransformWarpPlan::operator=(TransformWarpPlan&&) noexcept = default;

void TransformWarpPlan::execute(Stream& stream, const Image& image,
                                const DeviceTransform& transform, Image& output,
                                OutsideField outside) {
  State& own = *state_;
  if (transform.dimensions() != own.spec.images.dimensions) {
    detail::refuse(warp_stage, "the transform has " + std::to_string(transform.dimensions()) +
                                   " dimensions, but the images have " +
                                   std::to_string(own.spec.images.dimensions));
  }
  detail::check_same_device(warp_stage, "the transform", own.device, transform.device());
  own.resample.check(stream, image, output);
  if (own.in_one_kernel(stream, image, transform, output, outside)) return;
  own.through_coordinates(stream, image, transform, output, outside);
}

std::size_t TransformWarpPlan::coordinate_bytes() const noexcept {
  if (!state_->coordinates) return 0;
  const auto pixels = static_cast<std::size_t>(state_->coordinates->rounded.shape().pixels());
  return pixels * (sizeof(double) + sizeof(float));
}

}  // namespace warpalign
