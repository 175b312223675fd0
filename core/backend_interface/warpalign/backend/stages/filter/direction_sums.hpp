// Stage: the sums of a field of directions of which its mean and its energy are made.
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
class LaterResults;
}

struct DirectionSumsSpec {
  std::int64_t results = 1;  ///< the sums of how many executions are kept
};

/// Over all pixels of a field.
struct DirectionSums {
  double cosines = 0;
  double sines = 0;
  double squares = 0;  ///< of cosines and of sines
  double pixels = 0;   ///< where cosine and sine are not both 0: how many have a direction
};

/// The field is as double_angle writes it: two images (f32, depth 1) of one shape, which may be
/// another one in each execution. Sums are those of work groups, in single precision, which the
/// host adds up in double precision: the same bits at every execution. Pixels are counted exactly.
class WARPALIGN_API DirectionSumsPlan {
 public:
  DirectionSumsPlan(const Device& device, const DirectionSumsSpec& spec);
  /// The sums become result number `result`.
  void enqueue(Stream& stream, const Image& cosines, const Image& sines,
               std::int64_t result = 0) const;
  /// Has all results copied to the host, once for all executions before.
  void enqueue_copy(Stream& stream) const;
  /// Waits for the copy.
  [[nodiscard]] DirectionSums wait(std::int64_t result = 0) const;

 private:
  Device device_;
  DirectionSumsSpec spec_;
  std::shared_ptr<backend::DirectionSums> kernel_;
  std::shared_ptr<detail::LaterResults<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the members of warpalign::DirectionSums.
inline constexpr std::size_t direction_sum_count = 4;
/// The number of work groups, each of which writes its own sums. They share the pixels evenly, so
/// that none of the largest image has more than a float can count, 2^24.
inline constexpr std::size_t direction_sum_groups = 32;

class DirectionSums : public Stage {
 public:
  using Setup = DirectionSumsSpec;

  /// Sum i of group g is stored at (result direction_sum_count + i) direction_sum_groups + g.
  virtual void enqueue(Queue& queue, const Memory& cosines, const Memory& sines,
                       std::int64_t pixels, std::int64_t result, Memory& partials) = 0;
};

}  // namespace warpalign::backend
