// Gauss-Newton fits that one launch takes to their ends.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <cstddef>
#include <span>

namespace warpalign::cuda {

/// A cluster of blocks takes all steps of a fit: its blocks add up the sums, of which the first one
/// takes the step. Two launches for each step, and the gaps between them, take longer than most
/// steps' work. Clusters need compute capability 9.0.
class WholeFits {
 public:
  WholeFits(const CallSite& site, bool projective);

  /// Whether this device can take the fits that have these sums to their ends.
  [[nodiscard]] bool serve(std::span<const backend::ResidentSums> sums) const noexcept;
  /// Takes so many fits to their ends, or so many steps far.
  void enqueue(const backend::Queue& queue, std::span<const backend::ResidentSums> sums,
               backend::Memory& records, std::size_t fits, int steps) const;

 private:
  CallSite site_;
  bool projective_;
  int large_clusters_ = 0;  ///< how many of them the device holds at once
  bool has_clusters_ = false;
};

}  // namespace warpalign::cuda
