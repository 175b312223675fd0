// What proposes transforms between two images.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <memory>
#include <span>
#include <string_view>
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

/// A proposer that a schedule can name. Kinds compare by their names: GCC compares no addresses of
/// functions in constant expressions under -fsanitize=undefined.
struct ProposerKind {
  std::string_view name;  ///< as docs/architecture.md prints it; empty: none
  MakeProposer make;

  constexpr bool operator==(const ProposerKind& other) const { return name == other.name; }
};
inline constexpr ProposerKind no_proposer{"", nullptr};

}  // namespace warpalign::detail
