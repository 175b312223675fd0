// A proposer of the schedule, whose rounds may begin before they are needed.
#pragma once

#include "registration/proposers/proposer.hpp"
#include "registration/search/speculation.hpp"

#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Keeps what the rounds of a pair propose.
class ScheduledProposer {
 public:
  /// The options outlive it. `threads`: see Speculation.
  ScheduledProposer(const Device& device, const RegistrationOptions& options,
                    const ProposerKind& kind, ThreadBudget* threads);

  [[nodiscard]] const ProposerKind& kind() const { return kind_; }
  /// Makes the proposer, which otherwise the first pair does that needs it.
  void prepare();
  /// Begins the rounds that pairs like this one have needed, if threads are to be had.
  void begin(const PairContext& pair) { speculation_.begin(pair); }
  /// What the proposer proposes in a round. Valid until the next pair. `known` reaches proposers
  /// without threads: what begins early cannot know of it.
  std::span<const Candidate> propose(const PairContext& context, int round,
                                     std::span<const Candidate> known = {});
  void end_pair() noexcept { speculation_.end(); }

 private:
  void run(const PairContext& context, int round);

  Device device_;
  const RegistrationOptions& options_;
  ProposerKind kind_;
  bool runs_in_turn_;
  std::unique_ptr<Proposer> proposer_;
  std::vector<std::vector<Candidate>> proposals_;  // of each round
  std::span<const Candidate> known_;
  Speculation speculation_;  // whose thread uses the others, and is ended first
};

}  // namespace warpalign::detail
