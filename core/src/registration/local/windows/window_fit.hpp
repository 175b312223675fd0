// Gauss-Newton estimation of the shift of one window, from the sums that the device computes.
#pragma once

#include "registration/numerics/robust_scale.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/local_motion.hpp>

#include <cstdint>

namespace warpalign::detail {

struct CentredMoments;

/// The pixels of a window and the points of the reference that are compared where the content has
/// moved by `shift`, which is near the whole pixels `peak`: all for which both have the neighbours
/// that an evaluation takes.
[[nodiscard]] ShiftState state_at(const Shape& frame, const Shape& window,
                                  const WindowOrigin& origin, const WindowOrigin& peak,
                                  const Point& shift);

/// Columns and rows of a frame.
struct PixelRange {
  std::int32_t first_column = 0, end_column = 0;
  std::int32_t first_row = 0, end_row = 0;
};

/// The model is frame(p) = gain reference(p - shift) + offset over the window's pixels p.
class WindowFit {
 public:
  /// `peak`: the shift to whole pixels. A fit that leads farther away than a pixel and a half has
  /// failed.
  WindowFit(const Shape& frame, const Shape& window, const WindowOrigin& origin,
            const WindowOrigin& peak);
  /// A window without a peak, which has failed.
  WindowFit(const Shape& window, const WindowOrigin& origin);

  /// The same window in the same frame, but resampled through a field that has moved all but a
  /// small rest of its motion away; only the pixels in `inside` show something. Gain, offset and
  /// the scale of the residuals are known from this fit.
  [[nodiscard]] WindowFit again(const PixelRange& inside) const;

  /// Whether it needs another evaluation.
  [[nodiscard]] bool active() const { return active_; }
  /// Where the next evaluation takes place.
  [[nodiscard]] ShiftState state() const;
  /// Takes the sums of an evaluation at state(), and makes a step.
  void take(const ShiftSums& sums);
  [[nodiscard]] WindowShift result() const;
  /// Of the last evaluation.
  [[nodiscard]] double gain() const { return gain_; }
  [[nodiscard]] double offset() const { return offset_; }

 private:
  [[nodiscard]] bool overlaps() const;
  void step(const ShiftSums& sums);
  void fail();
  void describe(const ShiftSums& sums, const CentredMoments& moments, double variance_of_step);

  static constexpr int last_scale_update = 6;

  Shape frame_, window_;
  WindowOrigin origin_, peak_;
  PixelRange inside_;  ///< of the frame
  Point shift_;
  double gain_ = 0, offset_ = 0, residual_variance_ = 0;
  RobustScale scale_{last_scale_update};
  bool active_ = true;
  WindowShift result_;
};

}  // namespace warpalign::detail
