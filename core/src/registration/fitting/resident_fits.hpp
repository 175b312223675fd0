// Gauss-Newton fits that stay on the device from their first step to their last.
#pragma once

#include "registration/fitting/fit_options.hpp"
#include "registration/fitting/fit_pair.hpp"
#include "registration/fitting/fit_steps.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether fits on this device are faster where they stay on it. A graphics processor's steps take
/// less time than it takes to wait for each; on the host's own processors nothing is waited for.
[[nodiscard]] bool prefers_resident_fits(const Device& device);

/// Keeps plans and memory for the shapes of images between calls, which must be on one stream.
class ResidentFits {
 public:
  explicit ResidentFits(const Device& device);
  ~ResidentFits();

  /// Whether the images are so small that single precision is enough for transforms between them,
  /// and a step so short that waiting for it would take longer.
  [[nodiscard]] static bool serve(std::span<const FitGroup> groups);

  /// Takes fits that are at their starts, in the order of the groups, to their ends. All steps are
  /// enqueued ahead of the host, which looks every few steps whether any fit goes on.
  void run(Stream& stream, StageClock& clock, std::span<const FitGroup> groups,
           std::span<FitSteps> fits, const FitOptions& options);

 private:
  const SimilaritySumsPlan& sums_of(const FitPair& pair, bool projective);
  FitStepPlan& steps_for(std::size_t fits, bool projective);
  void place(std::span<const FitGroup> groups, std::span<const FitSteps> fits, bool projective);
  void place_channel(const FitPair& pair, const SimilaritySumsPlan& plan, std::size_t channel,
                     std::span<FitRecord> records);
  void enqueue(Stream& stream, StageClock& clock, const FitStepPlan& steps, int count);

  Device device_;
  PlanCache<SimilaritySumsSpec, SimilaritySumsPlan> sums_{max_searched_levels};
  struct Steps {
    FitStepPlan plan;
    std::size_t fits;
  };
  std::optional<Steps> similarities_, homographies_;
  std::vector<FitRecord> records_;
  std::vector<backend::ResidentSums> requests_;  ///< of each step
  std::size_t states_ = 0, numbers_ = 0;         ///< that the requests write
  std::unique_ptr<Results<float>> partials_;
};

}  // namespace warpalign::detail
