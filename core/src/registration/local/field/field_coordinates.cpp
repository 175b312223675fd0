// The places in a frame that a displacement field names, evaluated on the device.
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

// Evaluation rounds by up to 4e-7 of the largest coordinate. Without this, half of the edge pixels
// of a frame that does not move would be read a little outside of it, where there is nothing.
std::vector<float> drawn_in(const DisplacementField& field) {
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

FieldCoordinates::Maker::Maker(const Device& device, const Shape& grid, const Shape& frame)
    : shape(grid),
      plan(device, coordinate_spec(grid, frame)),
      controls(device.make_image(PixelType::f32, stacked(grid, 2, 2))) {}

FieldCoordinates::FieldCoordinates(const Device& device, const Shape& frame)
    : device_(device),
      frame_(frame),
      coordinates_(device.make_image(PixelType::f32, stacked(frame, 2, 2))) {}

void FieldCoordinates::make(Stream& stream, const DisplacementField& field) {
  const Shape& shape = field.control_shape();
  if (!maker_ || maker_->shape != shape) {
    maker_.reset();
    maker_.emplace(device_, shape, frame_);
  }
  const std::vector<float> controls = drawn_in(field);
  stream.upload(controls.data(), controls.size() * sizeof(float), maker_->controls.buffer());
  maker_->plan.execute(stream, maker_->controls, field.pixel_to_control(), coordinates_);
}

}  // namespace warpalign::detail
