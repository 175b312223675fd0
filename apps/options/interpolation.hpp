// How the program interpolates, and the stages' descriptions of it.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/stages/resample.hpp>

#include <optional>

namespace warpalign::program {

/// A prefilter, or none: the samples then count as the coefficients.
struct PrefilterChoice {
  std::optional<PrefilterMethod> method = PrefilterMethod::exact;
  int taps = 0;  ///< of `fir`
};

/// How to interpolate.
struct Interpolation {
  int degree = 3;
  PrefilterChoice prefilter{};
  Boundary boundary = Boundary::mirror;
  double cval = 0;
  Precision precision = Precision::full;
};

/// The prefilter stage for arrays of a type.
[[nodiscard]] PrefilterSpec prefilter_spec(const Interpolation& interpolation, const Shape& shape,
                                           int dimensions, PixelType samples);

/// An array read at other points.
struct Resampling {
  Shape input;
  Shape output;
  int dimensions = 2;
  PixelType samples = PixelType::f32;
  PixelType output_type = PixelType::f32;  ///< c32 of c32, and of nothing else
};

[[nodiscard]] ResampleSpec resample_spec(const Interpolation& interpolation,
                                         const Resampling& resampling);

}  // namespace warpalign::program
