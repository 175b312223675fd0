// Operations on the candidates of a search.
#include "registration/pair/candidate_set.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/numerics/transform_distance.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Candidates farther apart than this fraction of the larger side show different content.
constexpr double distinct_distance = 0.1;
// Candidates closer than this fraction of the larger side have the same pose.
constexpr double same_distance = 0.05;

// Candidates beyond doubt come first, then those with a null test: the others are less significant.
bool is_more_probable(const Candidate& a, const Candidate& b) {
  if (a.beyond_doubt() || b.beyond_doubt()) return a.significance > b.significance;
  if (a.null_test && b.null_test) return a.null_test->z_score > b.null_test->z_score;
  if (a.null_test || b.null_test) return a.null_test.has_value();
  return a.significance > b.significance;
}

template <class Candidates>
auto find_in(const PairContext& context, Candidates& list, const Candidate& candidate) {
  return std::find_if(list.begin(), list.end(),
                      [&](const Candidate& other) { return same_pose(context, candidate, other); });
}

}  // namespace

bool same_pose(const PairContext& context, const Candidate& a, const Candidate& b) {
  const Shape& reference = context.reference.shape();
  return corner_distance(a.matrix, b.matrix, reference) <
         same_distance * larger_side(context.moving.shape());
}

bool contains(const PairContext& context, const std::vector<Candidate>& candidates,
              const Candidate& candidate) {
  return find_in(context, candidates, candidate) != candidates.end();
}

void merge(const PairContext& context, const Candidate& candidate,
           std::vector<Candidate>& candidates) {
  const auto same = find_in(context, candidates, candidate);
  if (same == candidates.end()) {
    candidates.push_back(candidate);
  } else if (candidate.significance > same->significance) {
    *same = candidate;
  }
}

void rank(std::vector<Candidate>& candidates) { sort_short_list(candidates, is_more_probable); }

void set_second_best_ratio(const PairContext& context, std::span<const Candidate> candidates,
                           Candidate& chosen) {
  const Shape& reference = context.reference.shape();
  const double elsewhere =
      distinct_distance * std::max(larger_side(context.moving.shape()),
                                   scale_of(chosen.matrix) * larger_side(reference));
  double best = 0;
  for (const Candidate& other : candidates) {
    if (&other == &chosen || !other.null_test) continue;
    if (corner_distance(chosen.matrix, other.matrix, reference) < elsewhere) continue;
    best = std::max(best, other.null_test->z_score);
  }
  chosen.null_test->second_best_ratio =
      chosen.null_test->z_score > 0 ? best / chosen.null_test->z_score : 0;
}

}  // namespace warpalign::detail
