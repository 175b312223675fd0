// How the program interpolates, and the stages' descriptions of it.
#include "options/interpolation.hpp"

namespace warpalign::program {

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

ResampleSpec resample_spec(const Interpolation& interpolation, const Resampling& resampling) {
  ResampleSpec stage;
  stage.image = resampling.input;
  stage.output = resampling.output;
  stage.dimensions = resampling.dimensions;
  stage.input = resampling.samples;
  stage.output_type = resampling.output_type;
  stage.degree = interpolation.degree;
  stage.prefilter = interpolation.prefilter.method;
  if (stage.prefilter == PrefilterMethod::fir) stage.taps = interpolation.prefilter.taps;
  stage.boundary = interpolation.boundary;
  stage.cval = interpolation.cval;
  stage.precision = interpolation.precision;
  return stage;
}

}  // namespace warpalign::program
