// A proposer of the schedule, whose rounds may begin early.
#pragma once

#include "registration/proposers/proposer.hpp"
#include "registration/search/speculation.hpp"

#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Stores the proposals of each round of a pair.
class ScheduledProposer {
 public:
  /// `options` must outlive the proposer. `threads`: see Speculation.
  ScheduledProposer(const Device& device, const RegistrationOptions& options,
                    const ProposerKind& kind, ThreadBudget* threads);

  [[nodiscard]] const ProposerKind& kind() const { return kind_; }
  /// Creates the proposer. Otherwise the first pair that needs it does.
  void prepare();
  /// Begins the rounds that earlier pairs of the same shapes needed, if a thread is available.
  void begin(const PairContext& pair) { speculation_.begin(pair); }
  /// Returns the proposals of a round, valid until the next pair. `known` is passed on only if the
  /// proposer has no threads: rounds that begin early cannot know it.
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
  std::vector<std::vector<Candidate>> proposals_;  // one list per round
  std::span<const Candidate> known_;
  Speculation speculation_;  // declared last: its thread uses the members above
};

}  // namespace warpalign::detail
