// Stage: the sums for one Gauss-Newton step of the shifts of many windows.
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
  std::int64_t windows = 1;  ///< number of windows per frame
  std::int64_t frames = 1;   ///< number of frames, stacked along the depth
  /// Number of parts that the rows of a window are divided into, so that few large windows fill a
  /// device.
  int parts = 1;
  /// Number of consecutive windows of a frame that form a group: their sums are added, and they
  /// share one mean. A divisor of `windows`.
  std::int64_t together = 1;
};

/// The initial state of the step of one window, in the layout of the device. The window's pixel
/// (i, j) is the frame's pixel (frame_x + i, frame_y + j). It is compared with the reference at
/// (reference_x + i + fraction_x, reference_y + j + fraction_y).
struct ShiftState {
  std::int32_t frame_x = 0, frame_y = 0;
  std::int32_t reference_x = 0, reference_y = 0;
  std::int32_t first_column = 0, end_column = 0;  ///< the columns i that are summed
  std::int32_t first_row = 0, end_row = 0;        ///< the rows j that are summed
  float fraction_x = 0, fraction_y = 0;           ///< 0 to 1
  float gain = 0, offset = 0;  ///< frame - mean is compared with gain (reference - mean) + offset
  float inverse_scale = 0;     ///< 1 / scale of Tukey's weights; 0: unit weights
  std::int32_t active = 0;  ///< 0: the window is skipped, and its sums do not change; must be the
                            ///< same for all windows of a group
};

/// The sums of a group of windows. r and m are the values of the reference and the frame minus
/// their means, (rx, ry) and (mx, my) their gradients. All products except `pixels` and `absolute`
/// are weighted by Tukey's biweight of the residual e = m - gain r - offset.
struct ShiftSums {
  double weight = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  double rx = 0, ry = 0, rx_r = 0, ry_r = 0;
  double mx = 0, my = 0, mx_r = 0, my_r = 0, mx_m = 0, my_m = 0;
  double mx_rx = 0, mx_ry = 0, my_rx = 0, my_ry = 0;
  double mx_mx = 0, mx_my = 0, my_my = 0;
  double pixels = 0;    ///< number of finite pixels in the overlap
  double absolute = 0;  ///< sum of |e|
};

/// Sums over all active windows in one pass. The samples of the reference serve as the coefficients
/// of a cubic B-spline (Ruijters et al., section 2: interpolation that smooths), and the weights
/// 1/6, 4/6, 1/6 along each axis smooth the frame equally. An interpolating spline would smooth the
/// noise of the reference more between samples than at them, which biases shifts towards half
/// pixels.
class WARPALIGN_API ShiftSumsPlan {
 public:
  ShiftSumsPlan(const Device& device, const ShiftSumsSpec& spec);
  /// `states`: one for each window of all frames. `sums` and the means (from CutWindowsPlan): one
  /// for each group of windows. Every summed pixel of the frame must have neighbours, and its point
  /// in the reference two neighbours on either side. Waits for the result.
  void execute(Stream& stream, const Image& frames, const Image& reference,
               const Buffer& frame_means, const Buffer& reference_means,
               std::span<const ShiftState> states, std::span<ShiftSums> sums) const;

  /// execute() in two steps: enqueue() starts the work, fetch() waits for the result.
  void enqueue(Stream& stream, const Image& frames, const Image& reference,
               const Buffer& frame_means, const Buffer& reference_means,
               std::span<const ShiftState> states) const;
  void fetch(Stream& stream, std::span<const ShiftState> states, std::span<ShiftSums> sums) const;
  /// The sums of each single window from its last evaluation. Waits for them.
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
/// p of a window is stored at (window parts + p) shift_sum_count + i. The total of sum i of a group
/// is the sum of two floats, stored from 2 (group shift_sum_count + i) on.
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

  /// The partials of windows that are not active do not change.
  virtual void enqueue(Queue& queue, const ShiftSumsMemory& memory, Memory& partials,
                       Memory& totals) = 0;
};

}  // namespace warpalign::backend
