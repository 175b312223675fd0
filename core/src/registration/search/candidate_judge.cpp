// Judges the places that a search has found.
#include "registration/search/candidate_judge.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/pair/search_limits.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// How many candidates, the most significant ones, are compared with chance.
constexpr std::size_t max_tested = 6;
// Of the larger side: places farther apart than this do not show the same content.
constexpr double rival_distance = 0.1;
// Likewise: places closer than this are one.
constexpr double same_distance = 0.05;

// Unrelated images have shift scores below this.
constexpr double min_shift_score = 4;

// What is beyond doubt comes first, then what was compared with chance: the others are less
// significant.
bool is_more_probable(const Candidate& a, const Candidate& b) {
  if (a.beyond_doubt() || b.beyond_doubt()) return a.significance > b.significance;
  if (a.chance && b.chance) return a.chance->deviations > b.chance->deviations;
  if (a.chance || b.chance) return a.chance.has_value();
  return a.significance > b.significance;
}

// How many settings a place has: two parameters more, or four, have as many everywhere, and windows
// are looked for by their grey levels and by their edges.
double settings_of(const Candidate& candidate) {
  if (candidate.motion == Motion::affine) return 1e2;
  if (candidate.motion != Motion::homography) return 1;
  return candidate.proposed_by == Generator::windows ? 2e4 : 1e4;
}

std::vector<Candidate>::iterator find_in(const PairWork& work, std::vector<Candidate>& list,
                                         const Candidate& candidate) {
  return std::find_if(list.begin(), list.end(), [&](const Candidate& other) {
    return same_location(work, candidate, other);
  });
}

}  // namespace

bool same_location(const PairWork& work, const Candidate& a, const Candidate& b) {
  const Shape& reference = work.reference.shape();
  return corner_distance(a.matrix, b.matrix, reference) <
         same_distance * larger_side(work.moving.shape());
}

CandidateJudge::CandidateJudge(const Device& device, Motion model,
                               const RegistrationOptions& options, Ones& ones, bool parts_ahead)
    : options_(options),
      device_(device),
      ones_(ones),
      fitter_(device),
      coarse_refinement_(options.motion, ones, fitter_),
      model_choice_(device, model, options, ones, fitter_, parts_ahead) {}

bool CandidateJudge::is_allowed(const PairWork& work, const Candidate& candidate) const {
  return within_limits(options_, work, candidate.matrix);
}

std::span<const Candidate> CandidateJudge::starts_at(const PairWork& work,
                                                     std::span<const TranslationPeak> peaks) {
  const bool by_directions = work.fields != nullptr;
  starts_.clear();
  for (const TranslationPeak& peak : peaks) {
    Candidate candidate;
    candidate.proposed_by = by_directions ? Generator::gradient_field : Generator::grid;
    candidate.by_gradients = by_directions;
    candidate.matrix = start_of(work, options_.motion, peak.matrix);
    candidate.shift_score = peak.score;
    starts_.push_back(candidate);
  }
  return starts_;
}

void CandidateJudge::add(const PairWork& work, std::span<const Candidate> found, RefineFrom from,
                         std::vector<Candidate>& candidates) {
  const auto is_in = [&](std::vector<Candidate>& list, const Candidate& candidate) {
    return find_in(work, list, candidate) != list.end();
  };
  new_places_.clear();
  for (const Candidate& candidate : found) {
    if (candidate.shift_score < min_shift_score) continue;
    if (!is_in(candidates, candidate) && !is_in(new_places_, candidate)) {
      new_places_.push_back(candidate);
    }
  }
  coarse_refinement_.refine(work, new_places_, from);
  for (const Candidate& candidate : new_places_) {
    if (is_allowed(work, candidate)) merge(work, candidate, candidates);
  }
}

void CandidateJudge::merge(const PairWork& work, const Candidate& candidate,
                           std::vector<Candidate>& candidates) {
  const auto same = find_in(work, candidates, candidate);
  if (same == candidates.end()) {
    candidates.push_back(candidate);
  } else if (candidate.significance > same->significance) {
    *same = candidate;
  }
}

Candidate CandidateJudge::refined(const PairWork& work, const Candidate& candidate,
                                  RefineFrom from) {
  new_places_.assign(1, candidate);
  coarse_refinement_.refine(work, new_places_, from);
  return new_places_.front();
}

void CandidateJudge::test(const PairWork& work, std::span<Candidate> candidates, double places) {
  untested_.clear();
  for (Candidate& candidate : candidates) {
    if (!candidate.chance) untested_.push_back(&candidate);
  }
  if (untested_.empty()) return;
  if (!chance_test_) chance_test_.emplace(device_, ones_);
  const std::span<const double> deviations = chance_test_->deviations(work, untested_);
  for (std::size_t i = 0; i < untested_.size(); ++i) {
    Candidate& candidate = *untested_[i];
    candidate.chance = {deviations[i], deviations_by_chance(places * settings_of(candidate)), 0};
  }
}

bool CandidateJudge::has_convincing(const PairWork& work, std::vector<Candidate>& candidates,
                                    double places) {
  sort_short_list(candidates, [](const Candidate& a, const Candidate& b) {
    return a.significance > b.significance;
  });
  if (candidates.empty()) return false;
  if (candidates.front().beyond_doubt()) return true;
  const std::size_t count = std::min(max_tested, candidates.size());
  test(work, std::span(candidates).first(count), places);
  return std::any_of(candidates.begin(), candidates.end(), is_convincing);
}

// The candidate that is chosen may have a motion of its own by now.
void CandidateJudge::conclude(const PairWork& work, std::vector<Candidate>& candidates,
                              double places) {
  sort_short_list(candidates, is_more_probable);
  model_choice_.choose(work, candidates);
  if (candidates.empty()) return;
  Candidate& chosen = candidates.front();
  if (chosen.beyond_doubt()) return;
  if (chosen.motion != Motion::similarity) chosen.chance.reset();
  test(work, {&chosen, 1}, places);
  set_rival(work, candidates, chosen);
}

void CandidateJudge::set_rival(const PairWork& work, std::span<const Candidate> candidates,
                               Candidate& chosen) {
  const double elsewhere =
      rival_distance * std::max(larger_side(work.moving.shape()),
                                scale_of(chosen.matrix) * larger_side(work.reference.shape()));
  double best = 0;
  for (const Candidate& other : candidates) {
    if (&other == &chosen || !other.chance) continue;
    if (corner_distance(chosen.matrix, other.matrix, work.reference.shape()) < elsewhere) continue;
    best = std::max(best, other.chance->deviations);
  }
  chosen.chance->rival = chosen.chance->deviations > 0 ? best / chosen.chance->deviations : 0;
}

}  // namespace warpalign::detail
