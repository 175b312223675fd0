// A proposer of the schedule, whose rounds may begin early.
#include "registration/search/scheduled_proposer.hpp"

#include <cstddef>

namespace warpalign::detail {

ScheduledProposer::ScheduledProposer(const Device& device, const RegistrationOptions& options,
                                     const ProposerKind& kind, ThreadBudget* threads)
    : device_(device),
      options_(options),
      kind_(kind),
      runs_in_turn_(threads == nullptr),
      speculation_(device, threads,
                   [this](const PairContext& context, int round) { run(context, round); }) {}

void ScheduledProposer::prepare() {
  if (!proposer_) proposer_ = kind_.make(device_, options_);
}

void ScheduledProposer::run(const PairContext& context, int round) {
  prepare();
  const auto index = static_cast<std::size_t>(round);
  if (proposals_.size() <= index) proposals_.resize(index + 1);
  proposals_[index].clear();
  proposer_->propose(context, round, known_, proposals_[index]);
}

std::span<const Candidate> ScheduledProposer::propose(const PairContext& context, int round,
                                                      std::span<const Candidate> known) {
  if (runs_in_turn_) known_ = known;
  speculation_.finish(context, round);
  return proposals_.at(static_cast<std::size_t>(round));
}

}  // namespace warpalign::detail
