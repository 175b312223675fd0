// Local motion, which varies over the image: the shifts of windows, and a smooth displacement
// field.
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

/// How WindowRegistrar divides frames into windows, and how far windows may have moved.
struct WindowOptions {
  /// Width of a window in pixels, 16 to 4096. 0: the width of the frame. A single window of the
  /// size of the frame measures the translation of the frame.
  std::int64_t width = 128;
  std::int64_t height = 128;  ///< height of a window in pixels, with the same limits
  /// Largest distance from one window to the next along x, in pixels, 1 or more. The windows cover
  /// the frame from edge to edge, so the strides are slightly shorter if the frame is not a
  /// multiple of them. 0: half a window.
  std::int64_t stride_x = 0;
  std::int64_t stride_y = 0;  ///< the same along y
  /// The largest shift to search, in pixels along x or y. 0: half a window, beyond which the search
  /// finds nothing.
  double max_shift = 0;
  /// Number of frames in a batch, 1 to 4096. A frame takes about 30 bytes of device memory for
  /// every pixel of its windows. 0: as many frames as fill the device. If there are more frames,
  /// one batch is uploaded while the device computes another.
  std::int64_t batch = 0;
  bool collect_timings = false;  ///< keep WindowRegistrar::timings() (device time; slower)
  /// Whether to correct the shifts for motion that varies within a window. Without this correction,
  /// the registration takes a fraction of the time, and a shift is the motion of the part of the
  /// window that has the most texture.
  bool correct_varying_motion = true;
};

/// The measured shift of one window.
struct WindowShift {
  Point centre;             ///< the centre of the window, in pixels of the reference
  Point shift;              ///< the mean motion of the window in pixels; if the window moves
                            ///< rigidly, frame(centre + shift) corresponds to reference(centre)
  double uncertainty = 0;   ///< standard deviation of the shift in its less certain direction, in
                            ///< pixels, from the residuals of the fit; infinite without a fit
  double correlation = 0;   ///< normalised correlation of the windows' overlap after the fit
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels in the overlap)
  bool reliable = false;    ///< whether the fit converged with a significant correlation
};

/// Measures the shifts of all windows of many frames against those of one reference, in few
/// launches. The symmetric phase-only filter (Wernet 2005) correlates apodized windows to the
/// nearest pixel. Gauss-Newton on the reference's cubic B-spline then refines the shift, with a
/// gain and an offset for each window, robust to outliers (Tukey's biweight).
///
/// If motion varies within a window, this shift is the motion of the window's texture. A second
/// step corrects it, unless WindowOptions::correct_varying_motion is false or the frame has only
/// one window: it resamples the frame through the field that DisplacementField::fit_means() fits to
/// the shifts, measures the residual motion of each window, and adds it to the field's mean over
/// the window. The step repeats up to three times, until the shifts change by less than a quarter
/// of their uncertainties.
///
/// The registrar keeps plans, memory and the reference between calls. Only one thread at a time may
/// use it.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) if a kernel does not compile, and
/// Error(device_failure).
class WARPALIGN_API WindowRegistrar {
 public:
  /// For frames of this shape (depth 1, each side 16 to 16384 pixels) and type (u8, u16 or f32).
  /// Throws Error(invalid_argument) for another shape or type, and for options out of range.
  WindowRegistrar(const Device& device, PixelType type, const Shape& frame,
                  const WindowOptions& options = {});
  WindowRegistrar(WindowRegistrar&&) noexcept;
  WindowRegistrar& operator=(WindowRegistrar&&) noexcept;
  ~WindowRegistrar();

  /// The number of windows along x.
  [[nodiscard]] std::int64_t windows_x() const noexcept;
  /// The number of windows along y.
  [[nodiscard]] std::int64_t windows_y() const noexcept;
  /// The total number of windows.
  [[nodiscard]] std::size_t windows() const noexcept;
  /// The shape of a window.
  [[nodiscard]] const Shape& window() const noexcept;

  /// Sets the reference, of the frames' type or f32, and of their shape. The registrar copies what
  /// it needs, so the caller may free the pixels. Throws Error(invalid_argument) for another type
  /// or shape.
  void set_reference(const HostImage& reference);

  /// Measures the shifts of all windows of all frames, and returns them frame by frame, and within
  /// a frame row by row. A window without contrast has no fit and is not reliable. Pixels around a
  /// NaN are ignored. Throws Error(invalid_argument) for another type or shape, and if no reference
  /// is set.
  [[nodiscard]] std::vector<WindowShift> align(std::span<const HostImage> frames);

  /// The device time of each stage of the last align(), in order of first use; empty unless
  /// WindowOptions::collect_timings is set. If batches overlap, the sum exceeds the elapsed time.
  [[nodiscard]] const std::vector<StageTiming>& timings() const noexcept;

 private:
  struct Lane;
  struct State;
  std::unique_ptr<State> state_;
};

/// Finds reliable shifts that contradict the shifts around them, by the normalised median test
/// (Westerweel and Scarano 2005) with a smooth surface through the neighbours in place of their
/// median. `shifts` belong to `windows_x` by `windows_y` windows, row by row; the result has one
/// element per shift. Throws Error(invalid_argument) if the number of shifts is not
/// windows_x * windows_y.
[[nodiscard]] WARPALIGN_API std::vector<bool> find_outliers(std::span<const WindowShift> shifts,
                                                            std::int64_t windows_x,
                                                            std::int64_t windows_y);

/// Options for the fit of a displacement field to the shifts of windows.
struct FieldOptions {
  /// Weight of the field's roughness (the integral of its squared second derivatives) against the
  /// misfit of the shifts in standard deviations; above 0, larger is smoother. The unit of length
  /// is the distance between windows, the unit of displacement is the pixel. The default smooths
  /// waves shorter than two windows if the uncertainty of the shifts is a quarter of a pixel, and
  /// waves shorter than one window if it is a tenth.
  double smoothness = 2;
};

/// A smooth displacement field u, a tensor product of cubic B-splines fitted by penalised least
/// squares (O'Sullivan 1986): frame(x + u(x)) corresponds to reference(x).
class WARPALIGN_API DisplacementField {
 public:
  /// Fits a field of the shape `frame` to the shifts of its windows, `windows_x` by `windows_y`,
  /// row by row. A shift has the inverse square of its uncertainty as its weight. Shifts that are
  /// not reliable, and outliers (find_outliers), are replaced by values interpolated from their
  /// neighbours. Throws Error(invalid_argument) if the number of shifts is not windows_x *
  /// windows_y, and if no shift is reliable.
  static DisplacementField fit(const Shape& frame, std::span<const WindowShift> shifts,
                               std::int64_t windows_x, std::int64_t windows_y,
                               const FieldOptions& options = {});
  /// The same with a result of find_outliers() that the caller already has: the search for outliers
  /// costs as much as the fit. Throws as the other overload does, and Error(invalid_argument)
  /// unless `outliers` has one element per shift.
  static DisplacementField fit(const Shape& frame, std::span<const WindowShift> shifts,
                               const std::vector<bool>& outliers, std::int64_t windows_x,
                               std::int64_t windows_y, const FieldOptions& options = {});
  /// Fits the field whose means over the windows come nearest to the shifts. The shifts that
  /// WindowRegistrar measures are such means, so this field is not blurred by the windows and
  /// extends to the edges of the frame. `window` is the shape of a window, centred at its
  /// WindowShift::centre and within the frame. Control points are half a window apart, or farther
  /// if the windows are. Throws as the other two overloads do, and Error(invalid_argument) for
  /// windows that extend beyond the frame.
  static DisplacementField fit_means(const Shape& frame, const Shape& window,
                                     std::span<const WindowShift> shifts,
                                     const std::vector<bool>& outliers, std::int64_t windows_x,
                                     std::int64_t windows_y, const FieldOptions& options = {});
  /// Fits a field to its values at all pixels: all x displacements row by row, then all y, as in a
  /// .npy file of shape (2, height, width), in pixels. `spacing` is the distance between control
  /// points in pixels, 1 or more. Throws Error(invalid_argument) unless there are
  /// 2 * width * height samples, all finite.
  static DisplacementField from_samples(const Shape& frame, std::span<const float> samples,
                                        double spacing);

  /// The shape of the frame that the field belongs to.
  [[nodiscard]] const Shape& frame() const noexcept { return frame_; }
  /// The displacement at a point of the reference, in pixels. Outside the frame it is the
  /// displacement at the nearest edge.
  [[nodiscard]] Point at(const Point& point) const noexcept;
  /// The mean displacement over a window of the reference, in pixels. `centre` is the centre of the
  /// window, which must lie within the frame.
  [[nodiscard]] Point mean(const Point& centre, const Shape& window) const noexcept;
  /// The displacements at every pixel: all x displacements row by row, then all y. Never throws
  /// Error.
  [[nodiscard]] std::vector<float> samples() const;

  /// Control points of x + u(x), for evaluation by InterpolatePlan as unprefiltered cubic
  /// coefficients: a stack of two arrays of `control_shape`, at reference pixel (x, y) evaluated at
  /// ((x, y) - origin) / spacing.
  [[nodiscard]] const Shape& control_shape() const noexcept { return control_shape_; }
  /// All x coordinates row by row, then all y, in pixels. Never throws Error.
  [[nodiscard]] std::vector<float> control_coordinates() const;
  /// The transform from pixels of the reference to indices of control points.
  [[nodiscard]] Affine pixel_to_control() const noexcept;

 private:
  DisplacementField(const Shape& frame, detail::FieldSplines splines);
  Shape frame_, control_shape_;
  Point origin_, spacing_;
  std::vector<double> control_x_, control_y_;
};

/// Resamples frames through displacement fields by the cubic spline of ResamplePlan, in one pass:
/// output(x) = frame(x + u(x)), 0 outside of the frame. The device evaluates the field, so that
/// only its control points are uploaded. The warper keeps plans and memory between calls. Only one
/// thread at a time may use it. Frames should be finite: a NaN corrupts the pixels around it.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) if a kernel does not compile, and
/// Error(device_failure).
class WARPALIGN_API FieldWarper {
 public:
  /// For frames of this shape (depth 1), and any type that ResamplePlan takes. Throws
  /// Error(invalid_argument) for another shape.
  FieldWarper(const Device& device, PixelType type, const Shape& frame);
  FieldWarper(FieldWarper&&) noexcept;
  FieldWarper& operator=(FieldWarper&&) noexcept;
  ~FieldWarper();

  /// Warps a frame. `output` has room for dense pixels of the frame's type and shape. Throws
  /// Error(invalid_argument) if the type or shape of the frame, or the shape of the field's frame,
  /// differs from that of the constructor.
  void warp(const HostImage& frame, const DisplacementField& field, void* output);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
