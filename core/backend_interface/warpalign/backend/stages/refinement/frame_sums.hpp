// Stage: the sums for one Gauss-Newton step of the similarity transforms of many frames.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class FrameSums;
}
namespace detail {
template <class Record>
class Results;
}

struct FrameSumsSpec {
  Shape frame;              ///< of one frame, and of one reference; depth 1
  std::int64_t cells = 1;   ///< number of cells that a frame is divided into
  std::int64_t frames = 1;  ///< number of frames, stacked along the depth
  /// 1, or the number of frames if each has a reference of its own, stacked along the depth.
  std::int64_t references = 1;
};

/// The initial state of the step of one cell, in the layout of the device. The frame's pixel
/// (first_column + i, first_row + j) is compared with the reference's point
/// (reference_x + fraction_x + a i + b j, reference_y + fraction_y + d i + e j).
struct FrameState {
  std::int32_t first_column = 0, end_column = 0;  ///< the frame's columns that are summed
  std::int32_t first_row = 0, end_row = 0;        ///< the rows that are summed
  std::int32_t reference_x = 0, reference_y = 0;
  float fraction_x = 0, fraction_y = 0;        ///< 0 to 1
  float a = 1, b = 0, d = 0, e = 1;            ///< of a similarity: d = -b, e = a
  float from_centre_x = 0, from_centre_y = 0;  ///< the first point minus the parameters' centre
  float frame_mean = 0, reference_mean = 0;
  float gain = 0, offset = 0;  ///< frame - mean is compared with gain (reference - mean) + offset
  float inverse_scale = 0;     ///< 1 / scale of Tukey's weights; 0: unit weights
  std::int32_t active = 0;     ///< 0: the cell is skipped, and its sums do not change
};

/// The sums of one cell. r and m are the values of the reference and the frame minus their means.
/// (X, Y) is the reference's point minus the centre. j contains the derivatives of r with respect
/// to the parameters (shift along x and y, logarithm of the scale, rotation): rx, ry, X rx + Y ry,
/// Y rx - X ry, where (rx, ry) is the gradient of r. z contains the same terms with the frame's
/// gradient (mx, my), rotated and scaled to the reference's axes: ((a mx + b my), (d mx + e my)) /
/// (a^2 + d^2). All products except `pixels` and `absolute` are weighted by Tukey's biweight of the
/// residual e = m - gain r - offset.
struct FrameSums {
  double weight = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  std::array<double, 16> zj{};  ///< row-major: z along rows
  std::array<double, 4> zr{}, z{}, zm{};
  std::array<double, 4> jr{}, j{};
  double slopes = 0;    ///< mx^2 + my^2
  double pixels = 0;    ///< number of finite pixels in the overlap
  double absolute = 0;  ///< sum of |e|

  FrameSums& operator+=(const FrameSums& other);
};

/// Sums over all active cells in one pass. The pixels of both images serve as the coefficients of a
/// cubic B-spline, which is evaluated at the frame's pixels and at the points of the reference.
/// This smooths both images equally, for the reasons that ShiftSumsPlan gives. A pixel is summed if
/// its point in the reference has two neighbours on either side.
class WARPALIGN_API FrameSumsPlan {
 public:
  FrameSumsPlan(const Device& device, const FrameSumsSpec& spec);
  /// `states` and `sums`: one for each cell of all frames. Columns and rows that are summed must
  /// have a neighbour on either side. Waits for the result.
  void execute(Stream& stream, const Image& frames, const Image& reference,
               std::span<const FrameState> states, std::span<FrameSums> sums) const;

  /// execute() in two steps: enqueue() starts the work, fetch() waits for the result.
  void enqueue(Stream& stream, const Image& frames, const Image& reference,
               std::span<const FrameState> states) const;
  void fetch(Stream& stream, std::span<const FrameState> states, std::span<FrameSums> sums) const;

 private:
  Device device_;
  FrameSumsSpec spec_;
  std::shared_ptr<backend::FrameSums> kernel_;
  std::shared_ptr<Buffer> states_;
  std::shared_ptr<detail::Results<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of a cell, in the order of warpalign::FrameSums. Sum i of a cell is stored at
/// cell frame_sum_count + i.
inline constexpr int frame_sum_count = 45;

struct FrameSumsMemory {
  const Memory& frames;
  const Memory& reference;
  const Memory& states;
};

class FrameSums : public Stage {
 public:
  using Setup = FrameSumsSpec;

  virtual void enqueue(Queue& queue, const FrameSumsMemory& memory, Memory& partials) = 0;
};

}  // namespace warpalign::backend
