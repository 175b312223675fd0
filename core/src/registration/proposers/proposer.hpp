// What proposes transforms between two images.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

class Proposer {
 public:
  Proposer() = default;
  Proposer(const Proposer&) = delete;
  Proposer& operator=(const Proposer&) = delete;
  virtual ~Proposer() = default;

  /// Appends what it proposes in a round, best first. The rounds of a pair come one after the
  /// other, from 0 on. A proposal is a similarity (`matrix`, and `shift_score`), or a homography
  /// (`richer`, with Motion::homography). `known`: what the search has found so far. May propose
  /// less once the context is cancelled.
  virtual void propose(const PairContext& context, int round, std::span<const Candidate> known,
                       std::vector<Candidate>& proposals) = 0;
};

/// Makes a proposer. The options outlive it.
using MakeProposer = std::unique_ptr<Proposer> (*)(const Device& device,
                                                   const RegistrationOptions& options);

}  // namespace warpalign::detail
