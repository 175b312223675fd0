// Resamples frames through displacement fields, which the device evaluates.
#include <warpalign/local_motion.hpp>

#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "registration/local/field/field_coordinates.hpp"

#include <warpalign/stages/resample.hpp>

#include <string>

namespace warpalign {

namespace {

constexpr const char* warper_stage = "field warper";

Shape checked(const Shape& frame) {
  detail::check_shape(warper_stage, "the frame", frame);
  return frame;
}

ResampleSpec frame_spec(PixelType type, const Shape& frame) {
  ResampleSpec spec;
  spec.images.shape = frame;
  spec.output = frame;
  spec.input = type;
  spec.output_type = type;
  spec.spline.boundary = Boundary::constant;
  return spec;
}

}  // namespace

struct FieldWarper::State {
  State(const Device& opened, PixelType type, const Shape& frame)
      : device(opened),
        shape(checked(frame)),
        stream(device.make_stream()),
        resample(device, frame_spec(type, shape)),
        input(device.make_image(type, shape)),
        output(device.make_image(type, shape)),
        coordinates(device, shape) {}

  Device device;
  Shape shape;
  Stream stream;
  ResamplePlan resample;
  Image input, output;
  detail::FieldCoordinates coordinates;
};

FieldWarper::FieldWarper(const Device& device, PixelType type, const Shape& frame)
    : state_(std::make_unique<State>(device, type, frame)) {}
FieldWarper::FieldWarper(FieldWarper&&) noexcept = default;
FieldWarper& FieldWarper::operator=(FieldWarper&&) noexcept = default;
FieldWarper::~FieldWarper() = default;

void FieldWarper::warp(const HostImage& frame, const DisplacementField& field, void* output) {
  State& state = *state_;
  if (frame.data == nullptr) detail::refuse(warper_stage, "the frame has no pixels");
  if (output == nullptr)
    detail::refuse(warper_stage, "output is null; it must hold the warped frame");
  detail::check_rows(warper_stage, "the frame", frame);
  if (frame.type != state.input.type() || frame.shape() != state.shape) {
    detail::refuse(warper_stage, std::string("the frame is ") + name_of(frame.type) + " of " +
                                     to_string(frame.shape()) + ", not " +
                                     name_of(state.input.type()) + " of " + to_string(state.shape));
  }
  if (field.frame() != state.shape) {
    detail::refuse(warper_stage, "the field is for frames of " + to_string(field.frame()) +
                                     ", not of " + to_string(state.shape));
  }
  state.stream.upload(frame, state.input);
  state.coordinates.make(state.stream, field);
  state.resample.execute(state.stream, state.input, state.coordinates.coordinates(), state.output);
  state.stream.download(state.output, output, state.output.size_bytes());
}

}  // namespace warpalign
