// The model of the transform, and its refinement at full resolution.
#include "registration/search/model_choice.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/refinement/direction_refinement.hpp"

#include <algorithm>
#include <span>

namespace warpalign::detail {

namespace {

// Twice what is convincing.
constexpr double certain_homography_significance = 2 * richer_half_confidence_significance;

// Unrelated pictures are mostly below it.
constexpr double min_refined_confidence = 0.05;

// A coarse fit that is convincing once it is refined has at least this fraction of the significance
// that convinces.
constexpr double least_of_convincing = 0.7;

// At no place of a lower confidence by directions of edges has a richer model been right.
constexpr double min_confidence_of_place = 1e-3;

// At how many places of the search a richer model is fitted.
constexpr std::size_t richer_places = 4;

// Of candidates of which some have more parameters: only the significance compares them.
bool is_more_convincing(const Candidate& a, const Candidate& b) {
  return a.significance / a.half_confidence > b.significance / b.half_confidence;
}

// Where one model is asked for, all its parameters are spent at each place; a similarity that
// stands for a place at which the model was not found has no advantage.
bool is_more_significant(const Candidate& a, const Candidate& b) {
  return a.significance > b.significance;
}

// Whether no better place is to be expected.
bool is_certain_place(const Candidate& candidate) {
  return candidate.significance >= accepted_significance && is_convincing(candidate);
}

// How many places a richer model is tried at: the best similarity need not be at the right one.
std::size_t places_to_try(const std::vector<Candidate>& candidates) {
  return std::min(is_certain_place(candidates[0]) ? 1 : richer_places, candidates.size());
}

// Nothing is refined that is far from being significant, or that was compared with chance and is
// hardly above it. For directions of edges, only that comparison tells.
bool is_worth_refining(const Candidate& candidate) {
  if (candidate.chance && candidate.confidence() < min_refined_confidence) return false;
  return candidate.by_gradients || candidate.significance >= half_confidence_significance / 2;
}

// Whether a candidate leaves no need for homographies that windows agree on. One that is right in a
// part of the image only may be convincing; windows find the one that is right in all of it.
// However convincing a similarity is, it does not say where a homography is.
bool leaves_no_doubt(const Candidate& candidate) {
  return candidate.motion == Motion::homography && is_convincing(candidate) &&
         candidate.significance >= certain_homography_significance;
}

// Whether a comparison with chance, which comes later, may leave a candidate convincing that a fit
// made of `start`. Directions of edges deviate from chance in proportion to their significance.
bool may_be_convincing(const Candidate& candidate, const Candidate& start) {
  if (!candidate.by_gradients) return candidate.significance >= candidate.half_confidence;
  if (!start.chance || !(start.significance > 0)) return true;
  const double evidence = start.evidence() * candidate.significance / start.significance;
  return evidence_confidence(evidence, 0) >= min_refined_confidence;
}

// Whether a coarse fit by grey levels is not far from being convincing.
bool may_become_convincing(const Candidate& candidate) {
  return candidate.significance >= least_of_convincing * candidate.half_confidence;
}

// The homography that is convincing already, the most significant one.
std::optional<Homography> best_homography(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.motion != Motion::homography || !is_convincing(candidate)) continue;
    if (best == nullptr || candidate.significance > best->significance) best = &candidate;
  }
  return best != nullptr ? std::optional(best->richer) : std::nullopt;
}

}  // namespace

bool is_richer(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography || motion == Motion::automatic;
}

void ModelChoice::begin_parts(const PairWork& work) {
  if (model_ != Motion::homography && model_ != Motion::automatic) return;
  grey_windows_.begin(work);
  edge_windows_.begin(work);
}

void ModelChoice::drop_parts() noexcept {
  grey_windows_.drop();
  edge_windows_.drop();
}

void ModelChoice::refine(const PairWork& work, Candidate& candidate) {
  if (work.fields != nullptr) {
    const auto refined = refined_by_directions(work, ones_, fitter_, options_.motion,
                                               candidate.matrix, candidate.matrix);
    if (!refined) return;
    candidate.matrix = refined->affine();
    candidate.refined = true;
    return;
  }
  const bool swapped = scale_of(candidate.matrix) < 1;
  const ImagePyramid& coarse = swapped ? work.moving : work.reference;
  const ImagePyramid& fine = swapped ? work.reference : work.moving;
  const Affine start = swapped ? candidate.matrix.inverse() : candidate.matrix;
  const auto settled = refinement_.settle({work.stream, work.clock, coarse, fine, start, ones_},
                                          fitter_, options_.motion);
  if (!settled) return;
  candidate.matrix = swapped ? settled->affine().inverse() : settled->affine();
  candidate.refined = true;
}

// Refines the best candidate, with the model that the options ask for.
void ModelChoice::choose(const PairWork& work, std::vector<Candidate>& candidates) {
  tried_windows_ = false;
  if (candidates.empty() && (model_ == Motion::homography || model_ == Motion::automatic)) {
    try_windows(work, candidates);
    sort_short_list(candidates, is_more_convincing);
  }
  if (candidates.empty()) return;
  if (model_ == Motion::automatic) return take_model_that_explains_best(work, candidates);
  if (is_richer(model_)) take_richer_model(work, candidates);
  Candidate& best = candidates[0];
  if (!options_.refine || !is_worth_refining(best)) return;
  if (best.motion == Motion::similarity) return refine(work, best);
  richer_models_.refine(work, fitter_, refinement_, best);
}

// Fits a motion at the best of the candidates' places.
void ModelChoice::fit_at_best_places(const PairWork& work, Motion motion,
                                     std::vector<Candidate>& candidates) {
  const std::span<Candidate> best = std::span(candidates).first(places_to_try(candidates));
  richer_fits_.fit(work, fitter_, motion, best);
  for (Candidate& candidate : best) {
    if (candidate.motion == motion) candidate.half_confidence = richer_half_confidence_significance;
  }
}

// Fits the model at the best places and moves the one that it explains best to the front.
void ModelChoice::take_richer_model(const PairWork& work, std::vector<Candidate>& candidates) {
  fit_at_best_places(work, model_, candidates);
  if (model_ == Motion::homography) try_windows(work, candidates);
  sort_short_list(candidates, is_more_significant);
}

// Adds the homographies that windows agree on. Windows are compared by their grey levels. What
// stretched views and the strength of edges add to that local features find in less time.
void ModelChoice::try_windows(const PairWork& work, std::vector<Candidate>& candidates) {
  if (work.fields != nullptr || options_.search == Effort::fast) return;
  const auto is_done = [&] {
    return options_.search != Effort::thorough &&
           std::any_of(candidates.begin(), candidates.end(), leaves_no_doubt);
  };
  if (is_done()) return;
  tried_windows_ = true;
  add_agreed(work, grey_windows_.find(work), candidates);
  const bool thorough = options_.search == Effort::thorough;
  if (thorough) {
    add_agreed(work, grey_windows_.find(work, 1), candidates);
    add_agreed(work, edge_windows_.find(work), candidates);
  }
  const std::optional<Homography> known = best_homography(candidates);
  if (is_done() || !(thorough || known)) return;
  if (!fine_window_search_) fine_window_search_.emplace(device_, options_, ones_, fine_windows);
  if (known) add_agreed(work, fine_window_search_->find_along(work, *known), candidates);
  if (!thorough) return;
  add_agreed(work, fine_window_search_->find(work), candidates);
  add_agreed(work, fine_window_search_->find_stretched(work), candidates);
}

void ModelChoice::add_agreed(const PairWork& work, std::span<const AgreedHomography> found,
                             std::vector<Candidate>& candidates) {
  agreed_.clear();
  for (const AgreedHomography& agreed : found) agreed_.push_back(agreed.matrix);
  for (Candidate candidate : richer_fits_.fit_by_windows(work, fitter_, agreed_)) {
    if (!within_limits(options_, work, candidate.matrix)) continue;
    candidate.half_confidence = richer_half_confidence_significance;
    candidates.push_back(candidate);
  }
}

std::optional<Candidate> ModelChoice::fit_near(const PairWork& work, const Homography& start) {
  const std::span<const Candidate> fitted = richer_fits_.fit_by_windows(work, fitter_, {&start, 1});
  if (fitted.empty()) return std::nullopt;
  Candidate candidate = fitted.front();
  candidate.half_confidence = richer_half_confidence_significance;
  if (options_.refine && is_worth_refining(candidate)) {
    richer_models_.refine(work, fitter_, refinement_, candidate);
  }
  return candidate;
}

// Whether the place, or the homography that is fitted there, may be convincing. Affine transforms
// are homographies: where none of those may be, no affine transform need be fitted.
bool ModelChoice::may_be_convincing_as_plane(const PairWork& work, const Candidate& place) {
  if (may_be_convincing(place, place)) return true;
  if (place.by_gradients && place.chance && place.confidence() < min_confidence_of_place) {
    return false;
  }
  Candidate plane = place;
  richer_fits_.fit(work, fitter_, Motion::homography, {&plane, 1});
  if (plane.motion != Motion::homography) return false;
  plane.half_confidence = richer_half_confidence_significance;
  return may_be_convincing(plane, place);
}

// Whether a place is explained significantly better by a motion than by what was chosen, which it
// then replaces. Where neither may be reliable, it does not matter. A coarse fit that is no better
// is not worth its refinement; one that is may only have followed uneven illumination, which the
// refinement takes into account.
bool ModelChoice::is_better_as(const PairWork& work, Motion motion, Candidate& chosen) {
  const auto parameters_of = [](Motion of) {
    return of == Motion::homography ? 8 : of == Motion::affine ? 6 : 4;
  };
  const int more = parameters_of(motion) - parameters_of(chosen.motion);
  Candidate richer = chosen;
  richer_fits_.fit(work, fitter_, motion, {&richer, 1});
  if (richer.motion != motion) return false;
  // A place that is certain with fewer parameters is no less so with more.
  const bool refined = chosen.refined || !options_.refine;
  const bool certain = (is_convincing(chosen) && refined) || chosen.motion != Motion::similarity;
  if (!certain) richer.half_confidence = richer_half_confidence_significance;
  if (!may_be_convincing(chosen, chosen) && !may_be_convincing(richer, chosen)) return false;
  if (!richer_models_.explains_better(work, chosen, richer, more)) return false;
  if (options_.refine) {
    richer_models_.refine(work, fitter_, refinement_, richer);
    if (!richer.refined || !richer_models_.explains_better(work, chosen, richer, more)) {
      return false;
    }
  }
  chosen = richer;
  return true;
}

// Where no similarity is beyond doubt, moves the place to the front that a homography explains
// best. Returns whether anything found there may be convincing once it is refined.
bool ModelChoice::find_place_of_homography(const PairWork& work,
                                           std::vector<Candidate>& candidates) {
  std::vector<Candidate> fitted = candidates;
  fit_at_best_places(work, Motion::homography, fitted);
  std::size_t best = 0;
  Candidate best_fit = candidates[0];
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    if (fitted[i].motion != Motion::homography || !is_more_convincing(fitted[i], best_fit))
      continue;
    best_fit = fitted[i];
    best = i;
  }
  const auto place = candidates.begin() + static_cast<std::ptrdiff_t>(best);
  std::rotate(candidates.begin(), place, place + 1);
  if (leaves_no_doubt(best_fit)) return true;
  try_windows(work, candidates);
  auto by_windows = candidates.end();
  for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
    if (candidate->motion != Motion::homography) continue;
    const Candidate& least = by_windows == candidates.end() ? best_fit : *by_windows;
    if (is_more_convincing(*candidate, least)) by_windows = candidate;
  }
  if (by_windows != candidates.end()) std::rotate(candidates.begin(), by_windows, by_windows + 1);
  std::span others = std::span(candidates).subspan(1);
  sort_short_list(others, is_more_convincing);
  return may_become_convincing(candidates[0]) || may_become_convincing(best_fit);
}

void ModelChoice::take_model_that_explains_best(const PairWork& work,
                                                std::vector<Candidate>& candidates) {
  bool looked_elsewhere = false;
  bool has_hope = true;
  const auto look_elsewhere = [&] {
    looked_elsewhere = true;
    if (work.fields == nullptr) has_hope = find_place_of_homography(work, candidates);
    if (candidates[0].motion != Motion::homography) return false;
    if (options_.refine) richer_models_.refine(work, fitter_, refinement_, candidates[0]);
    return true;
  };
  if (!is_certain_place(candidates[0]) && look_elsewhere()) return;
  if (options_.refine && is_worth_refining(candidates[0])) {
    refine(work, candidates[0]);
    if (!candidates[0].refined && !looked_elsewhere && look_elsewhere()) return;
  }
  if (!has_hope || !may_be_convincing_as_plane(work, candidates[0])) return;
  Candidate& best = candidates[0];  // no sooner: looking elsewhere adds candidates
  is_better_as(work, Motion::affine, best);
  is_better_as(work, Motion::homography, best);
}

}  // namespace warpalign::detail
