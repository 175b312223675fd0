// Evaluates on the device the coordinates to which a displacement field maps each pixel.
#include "registration/local/field/field_coordinates.hpp"

#include <vector>

namespace warpalign::detail {

namespace {

InterpolateSpec coordinate_spec(const Shape& controls, const Shape& frame) {
  InterpolateSpec spec;
  spec.images.shape = controls;
  spec.output = frame;
  spec.spline.prefilter = std::nullopt;
  spec.images.count = 2;
  return spec;
}

// Shrinks the coordinates towards the centre by 1e-6. Evaluation has rounding errors of up to 4e-7
// of the largest coordinate, so without this, half of the edge pixels of a frame without motion
// would be read slightly outside of the frame, where it is 0.
std::vector<float> shrunk_controls(const DisplacementField& field) {
  constexpr double scale = 1 - 1e-6;
  const Point centre = centre_of(field.frame());
  std::vector<float> controls = field.control_coordinates();
  for (std::size_t i = 0; i < controls.size(); ++i) {
    const double middle = i < controls.size() / 2 ? centre.x : centre.y;
    controls[i] = static_cast<float>(middle + scale * (controls[i] - middle));
  }
  return controls;
}

}  // namespace

FieldCoordinates::Evaluator::Evaluator(const Device& device, const Shape& grid, const Shape& frame)
    : shape(grid),
      plan(device, coordinate_spec(grid, frame)),
      controls(device.make_image(PixelType::f32, stacked(grid, 2, 2))) {}

FieldCoordinates::FieldCoordinates(const Device& device, const Shape& frame)
    : device_(device),
      frame_(frame),
      coordinates_(device.make_image(PixelType::f32, stacked(frame, 2, 2))) {}

void FieldCoordinates::make(Stream& stream, const DisplacementField& field) {
  const Shape& shape = field.control_shape();
  if (!evaluator_ || evaluator_->shape != shape) {
    evaluator_.reset();
    evaluator_.emplace(device_, shape, frame_);
  }
  const std::vector<float> controls = shrunk_controls(field);
  stream.upload(controls.data(), controls.size() * sizeof(float), evaluator_->controls.buffer());
  evaluator_->plan.execute(stream, evaluator_->controls, field.pixel_to_control(), coordinates_);
}

}  // namespace warpalign::detail
