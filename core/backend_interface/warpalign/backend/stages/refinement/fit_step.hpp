// Stage: one step of many Gauss-Newton fits whose state stays on the device.
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
  bool projective = false;  ///< must equal SimilaritySumsSpec::projective
  std::size_t fits = 1;     ///< the largest number of concurrent fits; 1 to 4096
  friend bool operator==(const FitStepSpec&, const FitStepSpec&) = default;
};

/// The record of a fit on the device. Its transforms map points relative to the centre of the
/// reference to points relative to the centre of the moving image; their last number is 1.
struct FitRecord {
  std::int32_t phase = 0;     ///< internal to the device: whether sums exist
  std::int32_t channels = 1;  ///< 1 or 2 channels, whose sums are added
  /// The sums of channel c belong to ResidentState number states[c]. `groups` work groups store
  /// them from number partials[c] on (see backend::SimilaritySums).
  std::int32_t groups = 1;
  std::array<std::int32_t, 2> states{}, partials{};

  // Input. The first four are half of the distances between the outermost pixels of the images.
  float reference_x = 0, reference_y = 0, moving_x = 0, moving_y = 0;
  std::array<float, 9> start{1, 0, 0, 0, 1, 0, 0, 0, 1};
  float min_pixels = 0;              ///< smallest overlap in pixels; with fewer, a fit fails
  float max_drift = 0;               ///< largest distance from the start, in pixels
  float tolerance = 0;               ///< convergence: a step that moves pixels by less is the last
  float min_pivot = 0;               ///< smallest pivot of the normal equations with unit diagonal
  float scale_of_mean = 0;           ///< scale of Tukey's weights divided by the mean residual
  std::int32_t free_parameters = 0;  ///< bit i: parameter i of SimilaritySumsResult is fitted
  std::int32_t iterations = 0;       ///< largest number of iterations
  std::int32_t fixed_illumination = 0;  ///< whether gain and offset keep their initial values

  // The state, initially `start`.
  std::int32_t in_progress = 0;
  std::int32_t iteration = 0;
  std::array<float, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  float gain = 1, offset = 0, second_offset = 0;
  float scale = 0;
  float centre_x = 0, centre_y = 0, unit = 1;

  // Output.
  std::int32_t found = 0;  ///< 0: the fit failed
  std::int32_t converged = 0;
  float last_move = 0;    ///< how far the last step moved pixels
  float correlation = 0;  ///< over the overlap before the last step
  float pixels = 0;       ///< number of pixels in that overlap
};

/// Alternate SimilaritySumsPlan::enqueue_resident() and enqueue(). The first sums, with equal
/// weight for all pixels, initialise the gain and offset of a fit; every further sum gives a step.
/// A fit that has ended does not change any more. The arithmetic equals that of the host's fits
/// (kernels_cl/formulas/fit_steps.h), in single precision. All calls from one begin() to the next
/// must use one stream.
class WARPALIGN_API FitStepPlan {
 public:
  FitStepPlan(const Device& device, const FitStepSpec& spec);

  /// Uploads at most `fits` fits and writes their states. FitRecord::states must be below twice the
  /// number of fits.
  void begin(Stream& stream, std::span<const FitRecord> fits) const;
  /// The states of the fits of begin(), which enqueue() updates.
  [[nodiscard]] const Buffer& states() const;
  /// Enqueues the next step of all fits, from the sums in `partials`.
  void enqueue(Stream& stream, const detail::Results<float>& partials) const;
  /// Whether the device supports run() for fits with these sums.
  [[nodiscard]] bool runs(std::span<const backend::ResidentSums> sums) const;
  /// Replaces begin() and enqueue() if runs(): uploads fits and iterates each until it ends, at
  /// most `turns` times. The states and partial sums are not stored in memory, so their positions
  /// in `sums` are ignored.
  void run(Stream& stream, std::span<const FitRecord> fits,
           std::span<const backend::ResidentSums> sums, int turns) const;
  /// Enqueues a copy of the fits to the host. Wait for an earlier copy first.
  void look(Stream& stream) const;
  /// Waits for this copy, but not for work that was enqueued after it. The result is valid until
  /// the next look().
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

/// Arrays of FitRecord and of ResidentState.
struct FitStepMemory {
  Memory& fits;
  Memory& states;
};

class FitStep : public Stage {
 public:
  using Setup = FitStepSpec;

  /// Computes the next step of `fits` fits. The first call writes their states and reads no sums.
  virtual void enqueue(Queue& queue, const FitStepMemory& memory, const Memory& partials,
                       std::size_t fits) = 0;
  /// Whether enqueue_fused_fits() supports fits with these sums.
  [[nodiscard]] virtual bool supports_fused_fits(
      std::span<const ResidentSums> /*sums*/) const noexcept {
    return false;
  }
  /// Iterates `fits` fits until they end, at most `steps` times, without storing states or partial
  /// sums in memory. Called only if supports_fused_fits().
  virtual void enqueue_fused_fits(Queue& /*queue*/, Memory& /*records*/,
                                  std::span<const ResidentSums> /*sums*/, std::size_t /*fits*/,
                                  int /*steps*/) {}
};

}  // namespace warpalign::backend
