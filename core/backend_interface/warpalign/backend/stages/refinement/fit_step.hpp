// Stage: one step of each of many Gauss-Newton fits that stay on the device.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class FitStep;
struct ResidentSums;
}  // namespace backend
namespace detail {
template <class Record>
class Readback;
template <class Record>
class Results;
}  // namespace detail

struct FitStepSpec {
  bool projective = false;  ///< as that of the sums (SimilaritySumsSpec)
  std::size_t fits = 1;     ///< the most fits that go on together; 1 to 4096
  friend bool operator==(const FitStepSpec&, const FitStepSpec&) = default;
};

/// A fit as the device keeps it. Its transforms map points about the centre of the reference to
/// points about the centre of the moving image; their last number is 1.
struct FitRecord {
  std::int32_t phase = 0;     ///< the device's: whether sums have been taken
  std::int32_t channels = 1;  ///< 1 or 2, whose sums are taken together
  /// The sums of channel c are those of ResidentState number states[c], stored by so many work
  /// groups from number partials[c] on (backend::SimilaritySums).
  std::int32_t groups = 1;
  std::array<std::int32_t, 2> states{}, partials{};

  // Given: half of the distances between the outermost pixels of the images, ...
  float reference_x = 0, reference_y = 0, moving_x = 0, moving_y = 0;
  std::array<float, 9> start{1, 0, 0, 0, 1, 0, 0, 0, 1};
  float min_pixels = 0;                 ///< in common; with fewer, a fit fails
  float max_drift = 0;                  ///< from the start
  float tolerance = 0;                  ///< a step that moves the images by less is the last
  float min_pivot = 0;                  ///< of the normal equations, scaled to a unit diagonal
  float scale_of_mean = 0;              ///< that of Tukey's weights over the mean residual
  std::int32_t free_parameters = 0;     ///< bit i: parameter i of SimilaritySumsResult is fitted
  std::int32_t iterations = 0;          ///< at most
  std::int32_t keeps_illumination = 0;  ///< whether gain and offset stay those of the start

  // The state, which is `start` at first.
  std::int32_t goes_on = 0;
  std::int32_t iteration = 0;
  std::array<float, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  float gain = 1, offset = 0, second_offset = 0;
  float scale = 0;
  float centre_x = 0, centre_y = 0, unit = 1;

  // Found:
  std::int32_t found = 0;  ///< 0: the fit failed
  std::int32_t converged = 0;
  float last_move = 0;    ///< of the last step
  float correlation = 0;  ///< over the pixels in common before it
  float pixels = 0;       ///< their number
};

/// Fits go on by turns of SimilaritySumsPlan::enqueue_resident() and enqueue(). The first sums,
/// with equal weight for all pixels, give a fit its gain and offset; all others give it a step. A
/// fit that has ended stays as it is. The arithmetic is that of the host's fits
/// (kernels_cl/formulas/fit_steps.h), in single precision. All calls between one begin() and the
/// next must be on one stream.
class WARPALIGN_API FitStepPlan {
 public:
  FitStepPlan(const Device& device, const FitStepSpec& spec);

  /// Uploads fits, at most `fits` of the specification, whose states it writes. The fits' numbers
  /// of states must be below twice their number.
  void begin(Stream& stream, std::span<const FitRecord> fits) const;
  /// The states of begin()'s fits, which enqueue() keeps up to date.
  [[nodiscard]] const Buffer& states() const;
  /// Enqueues the next step of all fits, by the sums in `partials`.
  void enqueue(Stream& stream, const detail::Results<float>& partials) const;
  /// Whether run() can take the fits with these sums to their ends.
  [[nodiscard]] bool runs(std::span<const backend::ResidentSums> sums) const;
  /// Instead of begin() and enqueue(): uploads fits and takes each to its end, or so many turns
  /// far, without the states and the partial sums, whose places in `sums` mean nothing. Only where
  /// runs().
  void run(Stream& stream, std::span<const FitRecord> fits,
           std::span<const backend::ResidentSums> sums, int turns) const;
  /// Enqueues a copy of the fits to the host. One that was enqueued before must have been waited
  /// for.
  void look(Stream& stream) const;
  /// Waits for this copy, but not for what was enqueued after it. The result is valid until the
  /// next look().
  [[nodiscard]] std::span<const FitRecord> seen() const;

 private:
  struct Memory;
  void check_fits(std::span<const FitRecord> fits) const;
  Device device_;
  FitStepSpec spec_;
  std::shared_ptr<backend::FitStep> kernel_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// Records of FitRecord, and of ResidentState.
struct FitStepMemory {
  Memory& fits;
  Memory& states;
};

class FitStep : public Stage {
 public:
  using Setup = FitStepSpec;

  /// The next step of so many fits. In the first turn it writes their states and reads no sums.
  virtual void enqueue(Queue& queue, const FitStepMemory& memory, const Memory& partials,
                       std::size_t fits) = 0;
  /// Whether enqueue_whole_fits() can take the fits with these sums to their ends.
  [[nodiscard]] virtual bool takes_whole_fits(
      std::span<const ResidentSums> /*sums*/) const noexcept {
    return false;
  }
  /// Takes so many fits to their ends, or `steps` turns of sums and enqueue() far. Neither states
  /// nor partial sums are kept in memory. Only where takes_whole_fits().
  virtual void enqueue_whole_fits(Queue& /*queue*/, Memory& /*records*/,
                                  std::span<const ResidentSums> /*sums*/, std::size_t /*fits*/,
                                  int /*steps*/) {}
};

}  // namespace warpalign::backend
