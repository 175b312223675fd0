// Complete Gauss-Newton fits, with all steps in one launch.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <cstddef>
#include <span>

namespace warpalign::cuda {

/// A cluster of blocks takes all steps of a fit: its blocks compute the sums, and the first one
/// takes the step. Two launches for each step, and the gaps between them, would take longer than
/// the work of most steps. Clusters need compute capability 9.0.
class FusedFits {
 public:
  FusedFits(const CallSite& site, bool projective);

  /// Whether this device can run the complete fits that have these sums.
  [[nodiscard]] bool serve(std::span<const backend::ResidentSums> sums) const noexcept;
  /// Runs `fits` fits until they end, or for at most `steps` steps.
  void enqueue(const backend::Queue& queue, std::span<const backend::ResidentSums> sums,
               backend::Memory& records, std::size_t fits, int steps) const;

 private:
  CallSite site_;
  bool projective_;
  int large_clusters_ = 0;  ///< how many large clusters the device holds at once
  bool has_clusters_ = false;
};

}  // namespace warpalign::cuda
