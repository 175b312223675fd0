// Stage: B-splines in double precision, and exact copies of samples.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class DoubleSpline;
struct DoublePoints;
}  // namespace backend

/// Specification of a DoubleSplinePlan.
struct DoubleSplineSpec {
  int degree = 0;                        ///< 0 to 5
  bool prefilter = true;                 ///< true: the images are samples, which degrees above 1
                                         ///< filter first; false: they are coefficients
  Boundary boundary = Boundary::mirror;  ///< extension beyond the edges
  int margin = 0;                        ///< number of samples that the caller added at both ends
                                         ///< of each axis; coordinate 0 is the first one after them
  ImageBatch images{};                   ///< the images, including their margins
  Shape output{};                        ///< of one array, with the images' number of dimensions
  PixelType pixels = PixelType::f64;     ///< of images and output: any type at degree 0, else f64

  friend bool operator==(const DoubleSplineSpec&, const DoubleSplineSpec&) = default;
};

/// Evaluates a spline in double precision. Points are computed in double precision too, and rounded
/// after each product and sum as in SciPy.
///
/// Degree 0 copies the bytes of the nearest sample, so labels and integers of any type stay exact.
/// If a point is half-way between two samples, the plan chooses the same one as SciPy. Values of
/// degree 3 are accurate to 1e-14 of the largest coefficient.
///
/// The boundary modes have SciPy's meaning. With `nearest` and `grid_constant`, the prefilter
/// includes the margin that the caller added (SciPy adds 12 samples). Beyond the margin, and at
/// degrees 0 and 1, the mode itself extends the samples. If a coordinate is NaN, the result is NaN
/// for `nearest` and `grid_constant` at degrees above 0, the first sample of the axis for `nearest`
/// at degree 0, and the value beyond the edges in all other cases.
class WARPALIGN_API DoubleSplinePlan {
 public:
  /// Throws Error(invalid_argument) for a wrong spec, and for a device whose
  /// DeviceInfo::double_precision is false.
  DoubleSplinePlan(const Device& device, const DoubleSplineSpec& spec);

  /// Evaluates all arrays at output_to_input(output pixel). The lowest bytes of `outside` hold the
  /// bits of the value beyond the edges: a pixel at degree 0, a double at higher degrees.
  /// Throws Error(invalid_argument) for images of another device, type or shape.
  void execute(Stream& stream, const Image& images, const HomogeneousMatrix& output_to_input,
               std::uint64_t outside, Image& output) const;
  /// The same at explicit coordinates: f64, a stack of `dimensions` arrays of the output's shape,
  /// first all x, then all y, then all z. Throws Error(invalid_argument) likewise.
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
