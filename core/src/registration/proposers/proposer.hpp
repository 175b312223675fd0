// The interface of a proposer: a part of the search that proposes transforms.
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

  /// Appends the proposals of a round, best first. Callers run the rounds of a pair in order, from
  /// 0. A proposal is a similarity (`matrix` and `shift_score`) or a homography (`richer`, with
  /// Motion::homography). `known` holds the candidates that the search has found so far. May
  /// propose fewer if the context is cancelled.
  virtual void propose(const PairContext& context, int round, std::span<const Candidate> known,
                       std::vector<Candidate>& proposals) = 0;
};

/// Creates a proposer. `options` must outlive it.
using MakeProposer = std::unique_ptr<Proposer> (*)(const Device& device,
                                                   const RegistrationOptions& options);

/// A kind of proposer for the schedule. Kinds are compared by name, because GCC does not compare
/// function addresses in constant expressions under -fsanitize=undefined.
struct ProposerKind {
  std::string_view name;  ///< as printed in docs/architecture.md; empty: no proposer
  MakeProposer make;

  constexpr bool operator==(const ProposerKind& other) const { return name == other.name; }
};
inline constexpr ProposerKind no_proposer{"", nullptr};

}  // namespace warpalign::detail
