// Stage: sums over a field of gradient orientations, for its mean and energy.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class DirectionSums;
}
namespace detail {
template <class Record>
class AsyncResults;
}

struct DirectionSumsSpec {
  std::int64_t results = 1;  ///< number of executions whose sums the plan keeps
};

/// Sums over all pixels of a field.
struct DirectionSums {
  double cosines = 0;
  double sines = 0;
  double squares = 0;  ///< sum of the squares of cosines and sines
  double pixels = 0;   ///< number of pixels with an orientation: cosine and sine not both 0
};

/// Sums the output of DoubleAnglePlan: two images (f32, depth 1) of the same shape, which may
/// differ between executions. Work groups sum in single precision and the host adds their sums in
/// double precision, so that every execution gives the same bits. The number of pixels is exact.
class WARPALIGN_API DirectionSumsPlan {
 public:
  DirectionSumsPlan(const Device& device, const DirectionSumsSpec& spec);
  /// Enqueues the sums. `result` is their index.
  void enqueue(Stream& stream, const Image& cosines, const Image& sines,
               std::int64_t result = 0) const;
  /// Enqueues a copy of all results to the host, after the last execution.
  void enqueue_copy(Stream& stream) const;
  /// Waits for the copy and returns the sums with this index.
  [[nodiscard]] DirectionSums wait(std::int64_t result = 0) const;

 private:
  Device device_;
  DirectionSumsSpec spec_;
  std::shared_ptr<backend::DirectionSums> kernel_;
  std::shared_ptr<detail::AsyncResults<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the members of warpalign::DirectionSums.
inline constexpr std::size_t direction_sum_count = 4;
/// The number of work groups, each of which writes its own sums. They divide the pixels evenly.
/// Even for the largest image, no group has more than 2^24 pixels, which a float can count exactly.
inline constexpr std::size_t direction_sum_groups = 32;

class DirectionSums : public Stage {
 public:
  using Setup = DirectionSumsSpec;

  /// Sum i of group g is stored at (result direction_sum_count + i) direction_sum_groups + g.
  virtual void enqueue(Queue& queue, const Memory& cosines, const Memory& sines,
                       std::int64_t pixels, std::int64_t result, Memory& partials) = 0;
};

}  // namespace warpalign::backend
