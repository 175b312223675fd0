// Prefilter and evaluation in one.
#include "resampler.hpp"

namespace warpalign::program {
namespace {

InterpolateSpec interpolate_spec(const Resampler::Spec& spec, const Interpolation& interpolation) {
  InterpolateSpec stage;
  stage.image = spec.input;
  stage.output = spec.output;
  stage.dimensions = spec.dimensions;
  stage.coefficients = spec.samples;
  stage.output_type = spec.output_type;
  stage.degree = interpolation.degree;
  stage.boundary = interpolation.boundary;
  stage.cval = interpolation.cval;
  stage.precision = interpolation.precision;
  stage.prefiltered = interpolation.prefilter.method.has_value();
  return stage;
}

}  // namespace

PrefilterSpec prefilter_spec(const Interpolation& interpolation, const Shape& shape, int dimensions,
                             PixelType samples) {
  PrefilterSpec stage;
  stage.shape = shape;
  stage.dimensions = dimensions;
  stage.input = samples;
  stage.degree = interpolation.degree;
  stage.method = interpolation.prefilter.method.value_or(PrefilterMethod::exact);
  if (stage.method == PrefilterMethod::fir) stage.taps = interpolation.prefilter.taps;
  stage.boundary = interpolation.boundary;
  stage.cval = interpolation.cval;
  return stage;
}

Resampler::Resampler(const Device& device, const Spec& spec, const Interpolation& interpolation)
    : interpolate_(device, interpolate_spec(spec, interpolation)) {
  if (!interpolation.prefilter.method) return;
  const PrefilterSpec stage =
      prefilter_spec(interpolation, spec.input, spec.dimensions, spec.samples);
  prefilter_.emplace(device, stage);
  coefficients_.emplace(device.make_image(spec.samples, PrefilterPlan::coefficient_shape(stage)));
}

const Image& Resampler::coefficients_of(Stream& stream, const Image& samples) {
  if (!prefilter_) return samples;
  prefilter_->execute(stream, samples, *coefficients_);
  return *coefficients_;
}

void Resampler::run(Stream& stream, const Image& samples, const Transform& output_to_input,
                    Image& output) {
  interpolate_.execute(stream, coefficients_of(stream, samples), output_to_input, output);
}

void Resampler::run(Stream& stream, const Image& samples, const Image& coordinates, Image& output) {
  interpolate_.execute(stream, coefficients_of(stream, samples), coordinates, output);
}

}  // namespace warpalign::program
