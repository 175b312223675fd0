// Gauss-Newton estimation of the shift of one window, from the sums that the device computes.
#pragma once

#include "registration/numerics/robust_scale.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/local_motion.hpp>

#include <cstdint>

namespace warpalign::detail {

struct CentredMoments;

/// The state for comparing a window with the reference at `shift`, which is near the whole pixels
/// `peak`. It covers all pixels for which both images have the neighbours that an evaluation reads.
[[nodiscard]] ShiftState state_at(const Shape& frame, const Shape& window,
                                  const WindowOrigin& origin, const WindowOrigin& peak,
                                  const Point& shift);

/// A rectangle of a frame; the end column and row are excluded.
struct PixelRange {
  std::int32_t first_column = 0, end_column = 0;
  std::int32_t first_row = 0, end_row = 0;
};

/// The model is frame(p) = gain reference(p - shift) + offset over the window's pixels p.
class WindowFit {
 public:
  /// `peak`: the shift in whole pixels. A fit that moves more than 1.5 pixels away from it fails.
  WindowFit(const Shape& frame, const Shape& window, const WindowOrigin& origin,
            const WindowOrigin& peak);
  /// A failed fit, for a window without a peak.
  WindowFit(const Shape& window, const WindowOrigin& origin);

  /// A fit of the same window after the frame was resampled through a field that removes most of
  /// the motion. Only the pixels in `inside` are valid. The new fit starts with the gain, the
  /// offset and the residual scale of this one.
  [[nodiscard]] WindowFit again(const PixelRange& inside) const;

  /// Whether the fit needs another evaluation.
  [[nodiscard]] bool active() const { return active_; }
  /// The state for the next evaluation.
  [[nodiscard]] ShiftState state() const;
  /// Makes a step from the sums at state().
  void take(const ShiftSums& sums);
  [[nodiscard]] WindowShift result() const;
  /// The gain and the offset of the last evaluation.
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
  PixelRange inside_;  ///< the valid pixels of the frame
  Point shift_;
  double gain_ = 0, offset_ = 0, residual_variance_ = 0;
  RobustScale scale_{last_scale_update};
  bool active_ = true;
  WindowShift result_;
};

}  // namespace warpalign::detail
