// Gauss-Newton fits that run on the device from their first step to their last.
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

/// Whether resident fits are faster on this device. On a GPU, a step takes less time than waiting
/// for it does; on a CPU device, waiting costs next to nothing.
[[nodiscard]] bool prefers_resident_fits(const Device& device);

/// Caches plans and memory by image shape. Calls must use one stream.
class ResidentFits {
 public:
  explicit ResidentFits(const Device& device);
  ~ResidentFits();

  /// Whether resident fits support these images: they must be so small that single precision is
  /// enough for the transforms, and that waiting for a step would take longer than the step.
  [[nodiscard]] static bool serve(std::span<const FitGroup> groups);

  /// Runs the fits, which must be at their starts and in the order of the groups. The host enqueues
  /// the steps without waiting, and checks every few steps whether any fit is still active.
  void run(Stream& stream, StageClock& clock, std::span<const FitGroup> groups,
           std::span<FitSteps> fits, const FitOptions& options);

 private:
  const SimilaritySumsPlan& sums_of(const FitPair& pair, bool projective);
  FitStepPlan& steps_for(std::size_t fits, bool projective);
  void prepare_records(std::span<const FitGroup> groups, std::span<const FitSteps> fits,
                       bool projective);
  void assign_channel(const FitPair& pair, const SimilaritySumsPlan& plan, std::size_t channel,
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
  std::vector<backend::ResidentSums> requests_;  ///< the sums to compute in each step
  std::size_t states_ = 0, numbers_ = 0;         ///< numbers of states and of partial sums
  std::unique_ptr<Results<float>> partials_;
};

}  // namespace warpalign::detail
