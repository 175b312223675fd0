// Stage: detection and removal of impulse noise ("salt and pepper").
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class ImpulseFilter;
}
namespace detail {
template <class Record>
class Results;
}

struct ImpulseFilterSpec {
  PixelType input = PixelType::f32;  ///< u8, u16 or f32
  Shape shape;                       ///< of input and output; depth 1
};

/// The intensity range of an image, and its fraction of pixels that look like impulses.
struct ImpulseStatistics {
  float lowest = 0;   ///< the lowest intensity of the examined rows
  float highest = 0;  ///< the highest intensity of these rows
  /// The fraction of the examined pixels that have the lowest or highest intensity and differ from
  /// all eight neighbours.
  double isolated = 0;
};

/// Below this fraction of isolated pixels, an image has no impulse noise; the pixels are content,
/// for example stars.
inline constexpr double min_isolated = 0.005;

/// ImpulseFilterPlan::impulse_statistics for an image in host memory.
[[nodiscard]] WARPALIGN_API ImpulseStatistics impulse_statistics(const HostImage& image);

/// Detects and removes impulses: pixels at an end of the image's range of which at most two of the
/// eight neighbours are at the same end. Larger areas at an end of the range remain unchanged.
class WARPALIGN_API ImpulseFilterPlan {
 public:
  ImpulseFilterPlan(const Device& device, const ImpulseFilterSpec& spec);

  /// Examines at most 64 evenly spaced rows. Waits for the result.
  [[nodiscard]] ImpulseStatistics impulse_statistics(Stream& stream, const Image& input) const;

  /// Replaces each impulse by the mean of neighbours that are not at an end of the range, weighted
  /// by the inverse of the squared distance. The neighbours are those in the surrounding 3 x 3
  /// pixels or, if there are none, in 5 x 5 pixels. All other pixels are only converted. Output:
  /// f32.
  void execute(Stream& stream, const Image& input, const ImpulseStatistics& impulse_statistics,
               Image& output) const;

 private:
  Device device_;
  ImpulseFilterSpec spec_;
  int row_step_;
  std::shared_ptr<backend::ImpulseFilter> kernel_;
  std::shared_ptr<detail::Results<float>> rows_;
};

}  // namespace warpalign

namespace warpalign::backend {

class ImpulseFilter : public Stage {
 public:
  using Setup = ImpulseFilterSpec;

  /// Writes (lowest, highest) of every step-th row, as floats.
  virtual void enqueue_extremes(Queue& queue, const Memory& input, int step, Memory& rows) = 0;
  /// Writes the number of isolated pixels at an end of the range in every step-th row, as floats.
  virtual void enqueue_isolated(Queue& queue, const Memory& input, int step,
                                const ImpulseStatistics& impulse_statistics, Memory& rows) = 0;
  virtual void enqueue(Queue& queue, const Memory& input,
                       const ImpulseStatistics& impulse_statistics, Memory& output) = 0;
};

}  // namespace warpalign::backend
