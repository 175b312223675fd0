// Operations on the candidates of a search.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"

#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether two candidates have about the same pose.
[[nodiscard]] bool same_pose(const PairContext& context, const Candidate& a, const Candidate& b);
/// Whether one of the candidates has about the same pose as `candidate`.
[[nodiscard]] bool contains(const PairContext& context, const std::vector<Candidate>& candidates,
                            const Candidate& candidate);
/// Adds a candidate. Of two with about the same pose, keeps the more significant one.
void merge(const PairContext& context, const Candidate& candidate,
           std::vector<Candidate>& candidates);
/// Sorts by probability: candidates beyond doubt first, then those with a null test.
void rank(std::vector<Candidate>& candidates);
/// Sets the second-best ratio of a tested candidate from the best candidate at another pose.
void set_second_best_ratio(const PairContext& context, std::span<const Candidate> candidates,
                           Candidate& chosen);

}  // namespace warpalign::detail
