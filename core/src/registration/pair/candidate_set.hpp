// What a search does with a list of candidates.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"

#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether two candidates have about the same pose.
[[nodiscard]] bool same_location(const PairContext& context, const Candidate& a,
                                 const Candidate& b);
/// Whether one of the candidates has about this candidate's pose.
[[nodiscard]] bool contains(const PairContext& context, const std::vector<Candidate>& candidates,
                            const Candidate& candidate);
/// Adds a candidate. Of two with about the same pose the more significant one stays.
void merge(const PairContext& context, const Candidate& candidate,
           std::vector<Candidate>& candidates);
/// Sorts the most probable first: those beyond doubt, then those that were tested against chance.
void rank(std::vector<Candidate>& candidates);
/// Compares a candidate that was tested with the best of the candidates elsewhere.
void set_rival(const PairContext& context, std::span<const Candidate> candidates,
               Candidate& chosen);

}  // namespace warpalign::detail
