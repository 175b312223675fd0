// Stage: the sums for one Gauss-Newton step on the shift of each of many windows.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class ShiftSums;
}
namespace detail {
template <class Record>
class Results;
}

struct ShiftSumsSpec {
  Shape frame;               ///< of one frame, and of the reference; depth 1
  std::int64_t windows = 1;  ///< of each frame
  std::int64_t frames = 1;   ///< stacked along the depth
  /// Into how many parts of its rows a window is divided, so that few large windows fill a device.
  int parts = 1;
  /// How many windows of a frame, one after the other, belong together: their sums are added up,
  /// and they have one mean. A divisor of `windows`.
  std::int64_t together = 1;
};

/// The state at which the step of one window starts, as the device reads it. The window's pixel
/// (i, j) is the frame's pixel (frame_x + i, frame_y + j); there the reference is evaluated at
/// (reference_x + i + fraction_x, reference_y + j + fraction_y).
struct ShiftState {
  std::int32_t frame_x = 0, frame_y = 0;
  std::int32_t reference_x = 0, reference_y = 0;
  std::int32_t first_column = 0, end_column = 0;  ///< the columns i that count
  std::int32_t first_row = 0, end_row = 0;        ///< the rows j that count
  float fraction_x = 0, fraction_y = 0;           ///< 0 to 1
  float gain = 0, offset = 0;  ///< frame - mean is compared with gain (reference - mean) + offset
  float inverse_scale = 0;     ///< of Tukey's weights: 1 / scale; 0: all pixels count equally
  std::int32_t active = 0;     ///< 0: the window is left out, and its sums stay as they are; so it
                               ///< must be with all windows that belong together
};

/// The sums of windows that belong together. r and m are the reference's and the frame's values
/// less their means, (rx, ry) and (mx, my) their gradients; each product is weighted by Tukey's
/// biweight of the residual e = m - gain r - offset, but for `pixels` and `absolute`.
struct ShiftSums {
  double weight = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  double rx = 0, ry = 0, rx_r = 0, ry_r = 0;
  double mx = 0, my = 0, mx_r = 0, my_r = 0, mx_m = 0, my_m = 0;
  double mx_rx = 0, mx_ry = 0, my_rx = 0, my_ry = 0;
  double mx_mx = 0, mx_my = 0, my_my = 0;
  double pixels = 0;    ///< in common, and finite
  double absolute = 0;  ///< sum of |e|
};

/// One pass over all windows that are active. The reference is a spline whose cubic B-spline
/// coefficients are its samples (Ruijters et al., section 2: interpolation that smooths), and the
/// frame is smoothed alike, by the weights 1/6, 4/6, 1/6 along each axis: an interpolating spline
/// would smooth the reference's noise between samples more than at them and so draw shifts to the
/// middle between pixels.
class WARPALIGN_API ShiftSumsPlan {
 public:
  ShiftSumsPlan(const Device& device, const ShiftSumsSpec& spec);
  /// `states`: one for each window of all frames. `sums` and means, as CutWindowsPlan writes these:
  /// one for all windows that belong together. The windows and all columns and rows that count must
  /// be such that frame pixels have neighbours, and the reference's points two neighbours on either
  /// side. Waits for the result.
  void execute(Stream& stream, const Image& frames, const Image& reference,
               const Buffer& frame_means, const Buffer& reference_means,
               std::span<const ShiftState> states, std::span<ShiftSums> sums) const;

  /// The two halves of execute(): the work on the device, and the wait for its result.
  void enqueue(Stream& stream, const Image& frames, const Image& reference,
               const Buffer& frame_means, const Buffer& reference_means,
               std::span<const ShiftState> states) const;
  void fetch(Stream& stream, std::span<const ShiftState> states, std::span<ShiftSums> sums) const;
  /// The sums of each window, as its last evaluation has left them. Waits for them.
  void fetch_windows(Stream& stream, std::span<ShiftSums> sums) const;

 private:
  Device device_;
  ShiftSumsSpec spec_;
  std::shared_ptr<backend::ShiftSums> kernel_;
  std::shared_ptr<Buffer> states_;
  std::shared_ptr<detail::Results<float>> partials_, totals_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one part of a window, in the order of warpalign::ShiftSums. Sum i of part
/// p of a window is stored at (window parts + p) shift_sum_count + i. The total of sum i of windows
/// that belong together is the sum of two floats, stored from 2 (number shift_sum_count + i) on.
inline constexpr int shift_sum_count = 25;
inline constexpr std::array<double warpalign::ShiftSums::*, shift_sum_count> shift_sum_order{
    &warpalign::ShiftSums::weight,  &warpalign::ShiftSums::r,     &warpalign::ShiftSums::m,
    &warpalign::ShiftSums::rr,      &warpalign::ShiftSums::mm,    &warpalign::ShiftSums::rm,
    &warpalign::ShiftSums::rx,      &warpalign::ShiftSums::ry,    &warpalign::ShiftSums::rx_r,
    &warpalign::ShiftSums::ry_r,    &warpalign::ShiftSums::mx,    &warpalign::ShiftSums::my,
    &warpalign::ShiftSums::mx_r,    &warpalign::ShiftSums::my_r,  &warpalign::ShiftSums::mx_m,
    &warpalign::ShiftSums::my_m,    &warpalign::ShiftSums::mx_rx, &warpalign::ShiftSums::mx_ry,
    &warpalign::ShiftSums::my_rx,   &warpalign::ShiftSums::my_ry, &warpalign::ShiftSums::mx_mx,
    &warpalign::ShiftSums::mx_my,   &warpalign::ShiftSums::my_my, &warpalign::ShiftSums::pixels,
    &warpalign::ShiftSums::absolute};

struct ShiftSumsMemory {
  const Memory& frames;
  const Memory& reference;
  const Memory& frame_means;
  const Memory& reference_means;
  const Memory& states;
};

class ShiftSums : public Stage {
 public:
  using Setup = ShiftSumsSpec;

  /// What windows that are not active left among the partials stays.
  virtual void enqueue(Queue& queue, const ShiftSumsMemory& memory, Memory& partials,
                       Memory& totals) = 0;
};

}  // namespace warpalign::backend
