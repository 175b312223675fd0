// Stage: B-splines in double precision, and exact copies of samples.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <cstddef>
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
  PixelType pixels = PixelType::f64;     ///< of the images, and at degree 0 of the output: any type
                                         ///< at degree 0, else any real one
  /// Of the output at degrees above 0: any real type. Integers are rounded to the nearest one
  /// (halves away from zero) and saturated, and NaN gives 0.
  PixelType output_pixels = PixelType::f64;
  /// At degrees above 0: the number of samples by which the plan itself extends the images at both
  /// ends of each axis before it filters them, with the value beyond the edges for `grid_constant`,
  /// and with the end samples for other modes. It needs no `margin` then.
  int padding = 0;
  /// At degrees above 0: whether each result is the mean over the footprint of its pixel, so that
  /// points that are more than a sample apart do not alias.
  bool footprints = false;

  friend bool operator==(const DoubleSplineSpec&, const DoubleSplineSpec&) = default;
};

/// Evaluates a spline in double precision. Points are computed in double precision too, and rounded
/// after each product and sum as in SciPy.
///
/// Degree 0 copies the bytes of the nearest sample, so labels and integers of any type stay exact.
/// If a point is half-way between two samples, the plan chooses the same one as SciPy. Values of
/// degree 3 are accurate to 1e-14 of the largest coefficient.
///
/// With `footprints`, the results are means over ellipses (elliptical weighted average, Heckbert
/// 1989), as those of AntialiasedResamplePlan, for each point by itself: J is the Jacobian of the
/// transform there, and of explicit coordinates the central difference between neighbouring pixels
/// of the output. The footprint's points are one sample apart, or if there would be more than 64 of
/// them (4096 in one dimension, 16 in three) on a side of the centre along an axis, at larger equal
/// distances. So the mean is that of AntialiasedResamplePlan, in double precision, unless the
/// transform shrinks an image by more than 33 or a volume by more than 9.
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

  /// The device memory of a plan, in bytes, without that of images and outputs. Never throws Error.
  [[nodiscard]] static std::size_t scratch_bytes(const DoubleSplineSpec& spec);

  /// Computes the coefficients of all arrays, f64 of the images' shape. Throws
  /// Error(invalid_argument) if the plan has no prefilter, or pads the images.
  void prefilter(Stream& stream, const Image& images, Image& coefficients) const;

 private:
  void run(Stream& stream, const Image& images, const backend::DoublePoints& points,
           std::uint64_t outside, Image& output) const;

  Device device_;
  DoubleSplineSpec spec_;
  std::shared_ptr<backend::DoubleSpline> kernels_;
};

}  // namespace warpalign
