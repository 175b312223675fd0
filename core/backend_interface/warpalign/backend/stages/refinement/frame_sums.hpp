// Stage: the sums for one Gauss-Newton step on the similarity of each of many frames.
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
  Shape frame;              ///< of one frame, and of the reference; depth 1
  std::int64_t cells = 1;   ///< into which each frame is divided
  std::int64_t frames = 1;  ///< stacked along the depth
};

/// The state at which the step of one cell starts, as the device reads it. The frame's pixel
/// (first_column + i, first_row + j) is compared with the reference's point
/// (reference_x + fraction_x + a i + b j, reference_y + fraction_y + d i + e j).
struct FrameState {
  std::int32_t first_column = 0, end_column = 0;  ///< the frame's columns that count
  std::int32_t first_row = 0, end_row = 0;        ///< the rows that count
  std::int32_t reference_x = 0, reference_y = 0;
  float fraction_x = 0, fraction_y = 0;        ///< 0 to 1
  float a = 1, b = 0, d = 0, e = 1;            ///< of a similarity: d = -b, e = a
  float from_centre_x = 0, from_centre_y = 0;  ///< the first point, less the parameters' centre
  float frame_mean = 0, reference_mean = 0;
  float gain = 0, offset = 0;  ///< frame - mean is compared with gain (reference - mean) + offset
  float inverse_scale = 0;     ///< of Tukey's weights: 1 / scale; 0: all pixels count equally
  std::int32_t active = 0;     ///< 0: the cell is left out, and its sums stay as they are
};

/// The sums of one cell. r and m are the reference's and the frame's values less their means. With
/// (X, Y) the reference's point less the centre, j has the derivatives of r in the parameters shift
/// along x and y, logarithm of the scale, and rotation: rx, ry, X rx + Y ry, Y rx - X ry, for the
/// gradient (rx, ry). z has the same of the frame's gradient (mx, my), turned and scaled to the
/// reference's axes: ((a mx + b my), (d mx + e my)) / (a^2 + d^2). Each product is weighted by
/// Tukey's biweight of the residual e = m - gain r - offset, but for `pixels` and `absolute`.
struct FrameSums {
  double weight = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  std::array<double, 16> zj{};  ///< row-major: z along rows
  std::array<double, 4> zr{}, z{}, zm{};
  std::array<double, 4> jr{}, j{};
  double slopes = 0;    ///< mx^2 + my^2
  double pixels = 0;    ///< in common, and finite
  double absolute = 0;  ///< sum of |e|

  FrameSums& operator+=(const FrameSums& other);
};

/// One pass over all cells that are active. Both images are taken as the coefficients of a cubic
/// B-spline, which is evaluated at the frame's pixels and at the points of the reference: so both
/// are smoothed alike, as ShiftSumsPlan smooths them, and for its reasons. A pixel counts whose
/// point of the reference has two neighbours on either side.
class WARPALIGN_API FrameSumsPlan {
 public:
  FrameSumsPlan(const Device& device, const FrameSumsSpec& spec);
  /// `states` and `sums`: one for each cell of all frames. Columns and rows that count must have a
  /// neighbour on either side. Waits for the result.
  void execute(Stream& stream, const Image& frames, const Image& reference,
               std::span<const FrameState> states, std::span<FrameSums> sums) const;

  /// The two halves of execute(): the work on the device, and the wait for its result.
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
