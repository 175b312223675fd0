// Prefilter and evaluation in one: an array read at other points.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

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

/// The prefilter stage for arrays of f32 or c32.
[[nodiscard]] PrefilterSpec prefilter_spec(const Interpolation& interpolation, const Shape& shape,
                                           int dimensions, PixelType samples);

/// Reads arrays of one kind and shape at other points; the plans and the coefficients' memory are
/// made once.
class Resampler {
 public:
  struct Spec {
    Shape input;
    Shape output;
    int dimensions = 2;
    PixelType samples = PixelType::f32;      ///< f32 or c32
    PixelType output_type = PixelType::f32;  ///< u8, u16 or f32 of f32; c32 of c32
  };

  Resampler(const Device& device, const Spec& spec, const Interpolation& interpolation);

  /// At transform(output point).
  void run(Stream& stream, const Image& samples, const Transform& output_to_input, Image& output);
  /// At the points of a field as InterpolatePlan takes it.
  void run(Stream& stream, const Image& samples, const Image& coordinates, Image& output);

 private:
  const Image& coefficients_of(Stream& stream, const Image& samples);

  std::optional<PrefilterPlan> prefilter_;
  std::optional<Image> coefficients_;
  InterpolatePlan interpolate_;
};

}  // namespace warpalign::program
