// Motion that differs within the image: the shifts of windows, and a smooth displacement field.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

namespace detail {
struct FieldSplines;
}

/// How frames are divided into windows, and how far these may have moved.
struct WindowOptions {
  /// Width of a window in pixels, 16 to 4096. 0: the frame's. One window that is the whole frame
  /// measures the translation of the frame.
  std::int64_t width = 128;
  std::int64_t height = 128;  ///< likewise
  /// Pixels from one window to the next, 1 or more. The windows cover the frame from edge to edge:
  /// where the frame is no multiple, the strides are a little shorter. 0: half a window.
  std::int64_t stride_x = 0;
  std::int64_t stride_y = 0;  ///< likewise
  /// The largest shift that is considered, in pixels along x or y. 0: half a window, which is also
  /// the most that can be found.
  double max_shift = 0;
  /// Frames that are processed at once, 1 to 4096; each takes device memory of about 30 bytes for
  /// every pixel of its windows. 0: as many as fill the device. More frames than that pass through
  /// it in several batches at a time, of which one is uploaded while the device works for another.
  std::int64_t batch = 0;
  bool collect_timings = false;  ///< keep WindowRegistrar::timings() (device time; slower)
  /// Whether motion that differs within a window is told. Without, shifts take a fraction of the
  /// time, and each is the motion of what has the most texture in its window.
  bool motion_within = true;
};

/// Where the content of one window has moved to.
struct WindowShift {
  Point centre;             ///< of the window, in pixels of the reference
  Point shift;              ///< the window's mean motion in pixels: where all of it moves alike,
                            ///< frame(centre + shift) shows what reference(centre) does
  double uncertainty = 0;   ///< standard deviation of the shift in its less certain direction, in
                            ///< pixels, from the residuals of the fit; infinite without a fit
  double correlation = 0;   ///< normalised correlation of the windows' overlap after the fit
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels in common)
  bool reliable = false;    ///< whether the fit converged on a place too good to be chance
};

/// Measures the shifts of all windows of many frames against those of one reference, in few
/// launches: correlation of apodized windows by the symmetric phase-only filter (Wernet 2005) to
/// the nearest pixel, then Gauss-Newton on the reference's cubic B-spline with gain and offset of
/// each window, robust to outliers (Tukey's biweight). Where motion differs within a window, this
/// is the motion of its texture. So, unless WindowOptions::motion_within is false, frames of
/// several windows are resampled through the field that
/// DisplacementField::fit_means() makes of their shifts, and what motion is left in each window is
/// measured and added to the field's mean over it, up to three times, until the shifts change by
/// less than a quarter of their uncertainties. Keeps plans, memory and the reference between calls.
/// An object is used by one thread at a time.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) where a kernel cannot be
/// compiled, and Error(device_failure).
class WARPALIGN_API WindowRegistrar {
 public:
  /// For frames of this shape (depth 1, each side 16 to 16384 pixels) and type (u8, u16 or f32).
  /// Throws Error(invalid_argument) for options that do not fit.
  WindowRegistrar(const Device& device, PixelType type, const Shape& frame,
                  const WindowOptions& options = {});
  WindowRegistrar(WindowRegistrar&&) noexcept;
  WindowRegistrar& operator=(WindowRegistrar&&) noexcept;
  ~WindowRegistrar();

  /// The number of windows along x.
  [[nodiscard]] std::int64_t windows_x() const noexcept;
  /// The number of windows along y.
  [[nodiscard]] std::int64_t windows_y() const noexcept;
  /// The number of windows in all.
  [[nodiscard]] std::size_t windows() const noexcept;
  /// The shape of a window.
  [[nodiscard]] const Shape& window() const noexcept;

  /// Sets the reference, of the frames' type or f32, and of their shape; its pixels are not needed
  /// afterwards. Throws Error(invalid_argument) for another type or shape.
  void set_reference(const HostImage& reference);

  /// The shifts of all windows of all frames, frame by frame, and within a frame row by row.
  /// Windows without contrast have no fit and are not reliable; pixels around a NaN do not count.
  /// Throws Error(invalid_argument) for another type or shape, and when no reference is set.
  [[nodiscard]] std::vector<WindowShift> align(std::span<const HostImage> frames);

  /// The device time of each stage of the last align(), in order of first use; empty unless
  /// WindowOptions::collect_timings asked for it. Where batches overlap, so do their times.
  [[nodiscard]] const std::vector<StageTiming>& timings() const noexcept;

 private:
  struct Lane;
  struct State;
  std::unique_ptr<State> state_;
};

/// Which of the reliable shifts of `windows_x` by `windows_y` windows, row by row, differ from
/// those around them too much to be right: the normalised median test (Westerweel and Scarano
/// 2005), with a smooth surface through the neighbours in place of their median. Throws
/// Error(invalid_argument) where the numbers do not fit.
[[nodiscard]] WARPALIGN_API std::vector<bool> find_outliers(std::span<const WindowShift> shifts,
                                                            std::int64_t windows_x,
                                                            std::int64_t windows_y);

/// How a displacement field is fitted to the shifts of windows.
struct FieldOptions {
  /// Weight of the field's roughness (the integral of its squared second derivatives) against the
  /// misfit of the shifts in standard deviations; larger is smoother. Above 0. Lengths are in
  /// distances between windows, displacements in pixels. With the default, waves shorter than two
  /// windows are smoothed where shifts are uncertain by a quarter of a pixel, and those shorter
  /// than one where it is a tenth.
  double smoothness = 2;
};

/// A smooth displacement field u, a tensor product of cubic B-splines fitted by penalised least
/// squares (O'Sullivan 1986): frame(x + u(x)) shows what reference(x) does.
class WARPALIGN_API DisplacementField {
 public:
  /// Fits the field of a frame of `frame` pixels to the shifts of its windows, `windows_x` by
  /// `windows_y`, row by row. Shifts that are not reliable, or that differ from those around them
  /// (find_outliers), are replaced by what their neighbourhood says; the others count by the
  /// inverse square of their uncertainty. Throws Error(invalid_argument) where the numbers do not
  /// fit, and where no shift is reliable.
  static DisplacementField fit(const Shape& frame, std::span<const WindowShift> shifts,
                               std::int64_t windows_x, std::int64_t windows_y,
                               const FieldOptions& options = {});
  /// The same where find_outliers() has told which shifts differ from those around them, one for
  /// each shift; their search costs as much as the fit. Throws as the other does, and
  /// Error(invalid_argument) for another number of them.
  static DisplacementField fit(const Shape& frame, std::span<const WindowShift> shifts,
                               const std::vector<bool>& outliers, std::int64_t windows_x,
                               std::int64_t windows_y, const FieldOptions& options = {});
  /// The field whose means over the windows, each of `window` pixels about its centre and within
  /// the frame, come nearest to the shifts: for those of WindowRegistrar, which are such means. The
  /// field is so not smoothed by the windows, and is told up to the edges. Control points are half
  /// a window apart, or farther where the windows are. Throws as the other two do, and
  /// Error(invalid_argument) for windows that reach beyond the frame.
  static DisplacementField fit_means(const Shape& frame, const Shape& window,
                                     std::span<const WindowShift> shifts,
                                     const std::vector<bool>& outliers, std::int64_t windows_x,
                                     std::int64_t windows_y, const FieldOptions& options = {});
  /// The field whose values at all pixels are given: all x displacements row by row, then all y, as
  /// in a .npy file of shape (2, height, width). It is fitted by splines of the given spacing of
  /// control points in pixels, 1 or more. Throws Error(invalid_argument) where the number of
  /// samples does not fit the frame, and for samples that are not finite.
  static DisplacementField of_samples(const Shape& frame, std::span<const float> samples,
                                      double spacing);

  /// The shape of the frame that the field belongs to.
  [[nodiscard]] const Shape& frame() const noexcept { return frame_; }
  /// The displacement at a point of the reference, in pixels; beyond the frame, that at its edge.
  [[nodiscard]] Point at(const Point& point) const noexcept;
  /// The mean displacement over a window of the reference within the frame, by its centre.
  [[nodiscard]] Point mean(const Point& centre, const Shape& window) const noexcept;
  /// At every pixel: all x displacements row by row, then all y. Throws no Error.
  [[nodiscard]] std::vector<float> samples() const;

  /// Control points of x + u(x), for evaluation by InterpolatePlan as unprefiltered cubic
  /// coefficients: a stack of two arrays of `control_shape`, at reference pixel (x, y) evaluated at
  /// ((x, y) - origin) / spacing.
  [[nodiscard]] const Shape& control_shape() const noexcept { return control_shape_; }
  /// All x coordinates row by row, then all y, in pixels. Throws no Error.
  [[nodiscard]] std::vector<float> control_coordinates() const;
  /// From a pixel of the reference to the place among the control points.
  [[nodiscard]] Affine pixel_to_control() const noexcept;

 private:
  DisplacementField(const Shape& frame, detail::FieldSplines splines);
  Shape frame_, control_shape_;
  Point origin_, spacing_;
  std::vector<double> control_x_, control_y_;
};

/// Resamples frames through displacement fields by the cubic spline of ResamplePlan, in one pass:
/// output(x) = frame(x + u(x)), 0 outside of the frame. The field is evaluated on the device, so
/// that only its control points are uploaded. Keeps plans and memory between calls; an object is
/// used by one thread at a time. Frames should be finite: a NaN spoils the pixels around it.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) where a kernel cannot be
/// compiled, and Error(device_failure).
class WARPALIGN_API FieldWarper {
 public:
  /// For frames of this shape (depth 1), and any type that ResamplePlan takes. Throws
  /// Error(invalid_argument) for another shape.
  FieldWarper(const Device& device, PixelType type, const Shape& frame);
  FieldWarper(FieldWarper&&) noexcept;
  FieldWarper& operator=(FieldWarper&&) noexcept;
  ~FieldWarper();

  /// `output`: of the frame's type and shape. Throws Error(invalid_argument) where type, shape or
  /// the field's frame differ.
  void warp(const HostImage& frame, const DisplacementField& field, void* output);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
