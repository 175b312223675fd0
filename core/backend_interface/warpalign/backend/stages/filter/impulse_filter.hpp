// Stage: impulse noise ("salt and pepper") found and filled.
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

/// The ends of a picture's range, and how much of it looks like impulses.
struct ImpulseStatistics {
  float lowest = 0;  ///< the lowest and highest grey level of the rows looked at
  float highest = 0;
  double isolated = 0;  ///< part of their pixels at either end whose eight neighbours all differ
};

/// An impulse is a pixel at an end of the picture's range with at most two of its eight neighbours
/// at the same end: areas at an end are left alone.
class WARPALIGN_API ImpulseFilterPlan {
 public:
  ImpulseFilterPlan(const Device& device, const ImpulseFilterSpec& spec);

  /// Looks at no more than 64 rows, evenly spread. Waits.
  [[nodiscard]] ImpulseStatistics impulse_statistics(Stream& stream, const Image& input) const;

  /// Fills impulses with the mean of the neighbours that are none, of the 3 x 3 pixels around and,
  /// where these have none, of the 5 x 5, weighted by the inverse of the squared distance; converts
  /// the others. Output: f32.
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

  /// (lowest, highest) of every step-th row, as floats.
  virtual void enqueue_extremes(Queue& queue, const Memory& input, int step, Memory& rows) = 0;
  /// Isolated pixels at an end of the range in every step-th row, as floats.
  virtual void enqueue_isolated(Queue& queue, const Memory& input, int step,
                                const ImpulseStatistics& impulse_statistics, Memory& rows) = 0;
  virtual void enqueue(Queue& queue, const Memory& input,
                       const ImpulseStatistics& impulse_statistics, Memory& output) = 0;
};

}  // namespace warpalign::backend
