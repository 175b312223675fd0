// Stage: weighted sums of neighbouring samples along one axis.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class WeightedSums;
}

/// An array of three axes: the second one is summed along.
struct WeightedSumsSpec {
  std::int64_t outer = 1;     ///< arrays that are processed separately
  std::int64_t n_input = 1;   ///< samples along the axis, at least the number of taps
  std::int64_t n_output = 1;  ///< sums along the axis
  std::int64_t inner = 1;     ///< neighbouring numbers that are summed separately
  bool in_double = false;     ///< whether the numbers and the weights are f64, not f32
};

/// Sum i is added[i] plus the sum over k of weights[k n_output + i] times the sample first[i] + k.
/// The samples are periodic: n_input is sample 0 again. 0 <= first[i] < n_input.
///
/// Input and output are f32 or f64, of outer x n_input x inner and outer x n_output x inner
/// numbers.
class WARPALIGN_API WeightedSumsPlan {
 public:
  /// Throws Error(invalid_argument) if an extent is below 1, if an array has more than 2^40
  /// numbers, if the tables do not fit the spec, or if the device lacks double precision that the
  /// spec needs.
  WeightedSumsPlan(const Device& device, const WeightedSumsSpec& spec, int taps,
                   const std::vector<std::int32_t>& first, const std::vector<double>& weights,
                   const std::vector<double>& added);
  void execute(Stream& stream, const Buffer& input, Buffer& output) const;

 private:
  Device device_;
  WeightedSumsSpec spec_;
  std::shared_ptr<backend::WeightedSums> kernel_;
  Buffer first_, weights_, added_;
};

}  // namespace warpalign

namespace warpalign::backend {

class WeightedSums : public Stage {
 public:
  struct Setup {
    const WeightedSumsSpec& spec;
    int taps;
  };

  virtual void enqueue(Queue& queue, const Memory& input, const Memory& first,
                       const Memory& weights, const Memory& added, Memory& output) = 0;
};

}  // namespace warpalign::backend
