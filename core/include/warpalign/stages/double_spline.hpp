// Stage: B-splines in double precision, and samples copied as they are.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/spline_model.hpp>
#include <warpalign/transform.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class DoubleSpline;
struct DoublePoints;
}  // namespace backend

/// What a DoubleSplinePlan is made for.
struct DoubleSplineSpec {
  int degree = 0;         ///< 0 to 5
  bool prefilter = true;  ///< whether the images are samples, which degrees above 1 must filter;
                          ///< false: they are coefficients
  Boundary boundary = Boundary::mirror;  ///< what lies beyond the edges
  int margin = 0;       ///< samples that the caller has added at both ends of each axis; points
                        ///< count from the first sample behind them
  ImageBatch images{};  ///< the images, their margins included
  Shape output{};       ///< of one array; it has as many dimensions as the images
  PixelType pixels = PixelType::f64;  ///< of images and output: any with degree 0, else f64

  friend bool operator==(const DoubleSplineSpec&, const DoubleSplineSpec&) = default;
};

/// Evaluates a spline at points that are computed in double precision, rounded after each product
/// and sum as SciPy does, so that ties are decided as SciPy decides them.
///
/// With degree 0 each output pixel is a copy of a sample's bytes: labels and integers of any type
/// stay what they are. Halves choose SciPy's sample. With higher degrees values are computed in
/// double precision, within 1e-14 of the largest coefficient at degree 3.
///
/// The boundary modes have SciPy's meaning. `nearest` and `grid_constant` filter what the caller
/// has added as a margin (SciPy adds 12 samples); beyond it, and in degrees 0 and 1, the rule
/// itself holds. A NaN coordinate gives the first sample of the axis for `nearest` with degree 0,
/// NaN for `nearest` and `grid_constant` with higher degrees, and the value beyond the edges else.
class WARPALIGN_API DoubleSplinePlan {
 public:
  /// Throws Error(invalid_argument) for a wrong spec, and for a device whose
  /// DeviceInfo::double_precision is false.
  DoubleSplinePlan(const Device& device, const DoubleSplineSpec& spec);

  /// Evaluates all arrays at output_to_input(output point). `outside` holds the bits of the pixel
  /// beyond the edges, in its lowest bytes; with degrees above 0 those of a double.
  /// Throws Error(invalid_argument) for images of another device, type or shape.
  void execute(Stream& stream, const Image& images, const Transform& output_to_input,
               std::uint64_t outside, Image& output) const;
  /// The same at given points: f64, a stack of `dimensions` arrays of the output's shape, first all
  /// x, then all y, then all z.
  void execute(Stream& stream, const Image& images, const Image& coordinates, std::uint64_t outside,
               Image& output) const;

  /// Computes the coefficients of all arrays, f64 of the images' shape. Throws
  /// Error(invalid_argument) if the plan has no prefilter.
  void prefilter(Stream& stream, const Image& images, Image& coefficients) const;

 private:
  void run(Stream& stream, const Image& images, const backend::DoublePoints& points,
           std::uint64_t outside, Image& output) const;

  Device device_;
  DoubleSplineSpec spec_;
  std::shared_ptr<backend::DoubleSpline> kernels_;
};

}  // namespace warpalign
