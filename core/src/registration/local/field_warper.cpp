// Resamples frames through displacement fields that the device evaluates.
#include <warpalign/local_motion.hpp>

#include "device/check.hpp"
#include "device/host_rows.hpp"

#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/resample.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* stage = "field warper";

Shape checked(const Shape& frame) {
  detail::check_shape(stage, "the frame", frame);
  return frame;
}

ResampleSpec frame_spec(PixelType type, const Shape& frame) {
  ResampleSpec spec;
  spec.image = frame;
  spec.output = frame;
  spec.input = type;
  spec.output_type = type;
  spec.boundary = Boundary::constant;
  return spec;
}

InterpolateSpec coordinate_spec(const Shape& controls, const Shape& frame) {
  InterpolateSpec spec;
  spec.image = controls;
  spec.output = frame;
  spec.prefiltered = false;
  spec.batch = 2;
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

// From control points to the coordinates of every pixel, for one shape of the control grid.
class CoordinateMaker {
 public:
  CoordinateMaker(const Device& device, const Shape& controls, const Shape& frame)
      : shape_(controls),
        plan_(device, coordinate_spec(controls, frame)),
        controls_(device.make_image(PixelType::f32, stacked(controls, 2, 2))) {}

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }

  void make(Stream& stream, const DisplacementField& field, Image& coordinates) {
    const std::vector<float> controls = drawn_in(field);
    stream.upload(controls.data(), controls.size() * sizeof(float), controls_.buffer());
    plan_.execute(stream, controls_, field.pixel_to_control(), coordinates);
  }

 private:
  Shape shape_;
  InterpolatePlan plan_;
  Image controls_;
};

}  // namespace

struct FieldWarper::State {
  State(const Device& opened, PixelType type, const Shape& frame)
      : device(opened),
        shape(checked(frame)),
        stream(device.make_stream()),
        resample(device, frame_spec(type, shape)),
        input(device.make_image(type, shape)),
        output(device.make_image(type, shape)),
        coordinates(device.make_image(PixelType::f32, stacked(shape, 2, 2))) {}

  CoordinateMaker& maker_for(const Shape& controls) {
    if (!maker || maker->shape() != controls) {
      maker.reset();
      maker.emplace(device, controls, shape);
    }
    return *maker;
  }

  Device device;
  Shape shape;
  Stream stream;
  ResamplePlan resample;
  Image input, output, coordinates;
  std::optional<CoordinateMaker> maker;
};

FieldWarper::FieldWarper(const Device& device, PixelType type, const Shape& frame)
    : state_(std::make_unique<State>(device, type, frame)) {}
FieldWarper::FieldWarper(FieldWarper&&) noexcept = default;
FieldWarper& FieldWarper::operator=(FieldWarper&&) noexcept = default;
FieldWarper::~FieldWarper() = default;

void FieldWarper::warp(const HostImage& frame, const DisplacementField& field, void* output) {
  State& state = *state_;
  if (frame.data == nullptr) detail::refuse(stage, "the frame has no pixels");
  if (output == nullptr) detail::refuse(stage, "there is no memory for the warped frame");
  detail::check_rows(stage, "the frame", frame);
  if (frame.type != state.input.type() || frame.shape() != state.shape) {
    detail::refuse(stage, std::string("the frame is ") + name_of(frame.type) + " of " +
                              to_string(frame.shape()) + ", not " + name_of(state.input.type()) +
                              " of " + to_string(state.shape));
  }
  if (field.frame() != state.shape) {
    detail::refuse(stage, "the field is of a frame of " + to_string(field.frame()) + ", not of " +
                              to_string(state.shape));
  }
  state.stream.upload(frame, state.input);
  state.maker_for(field.control_shape()).make(state.stream, field, state.coordinates);
  state.resample.execute(state.stream, state.input, state.coordinates, state.output);
  state.stream.download(state.output, output, state.output.size_bytes());
}

}  // namespace warpalign
