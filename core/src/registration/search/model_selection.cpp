// Selects the model of the transform, and refines it at full resolution.
#include "registration/search/model_selection.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/pair/candidate_set.hpp"
#include "registration/pair/motion_model.hpp"
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

}  // namespace

bool is_certain_homography(const Candidate& candidate) {
  return candidate.motion == Motion::homography && is_convincing(candidate) &&
         candidate.significance >= certain_homography_significance;
}

ModelSelection::ModelSelection(const Device& device, const RegistrationOptions& options,
                               SimilarityFit& fitter, CandidateEvaluator& evaluator)
    : options_(options),
      fitter_(fitter),
      evaluator_(evaluator),
      refinement_(device),
      richer_fits_(prefers_resident_fits(device)),
      richer_models_(device) {}

// The candidate that is selected may have a motion of its own by now.
void ModelSelection::conclude(const PairContext& context, std::vector<Candidate>& candidates,
                              double trials, const AddHomographies& more) {
  rank(candidates);
  select(context, candidates, more);
  if (candidates.empty()) return;
  Candidate& selected = candidates.front();
  if (selected.beyond_doubt()) return;
  if (selected.motion != Motion::similarity) selected.chance.reset();
  evaluator_.test(context, {&selected, 1}, trials);
  set_rival(context, candidates, selected);
}

void ModelSelection::refine(const PairContext& work, Candidate& candidate) {
  if (work.compares_orientation()) {
    const auto refined = refined_by_directions(work, fitter_, searched_motion(options_.motion),
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
  const auto settled = refinement_.settle({work.stream, work.clock, coarse, fine, start, work.ones},
                                          fitter_, searched_motion(options_.motion));
  if (!settled) return;
  candidate.matrix = swapped ? settled->affine().inverse() : settled->affine();
  candidate.refined = true;
}

void ModelSelection::select(const PairContext& work, std::vector<Candidate>& candidates,
                            const AddHomographies& more) {
  const Motion model = options_.motion;
  if (candidates.empty() && may_be_homography(model)) {
    add_homographies(work, candidates, more);
    sort_short_list(candidates, is_more_convincing);
  }
  if (candidates.empty()) return;
  if (model == Motion::automatic) return take_model_that_explains_best(work, candidates, more);
  if (exceeds_similarity(model)) take_richer_model(work, candidates, more);
  Candidate& best = candidates[0];
  if (!options_.refine || !is_worth_refining(best)) return;
  if (best.motion == Motion::similarity) return refine(work, best);
  richer_models_.refine(work, fitter_, refinement_, best);
}

// Orientation proposes no homographies of its own.
void ModelSelection::add_homographies(const PairContext& work, std::vector<Candidate>& candidates,
                                      const AddHomographies& more) {
  if (more && !work.compares_orientation()) more(candidates);
}

// Fits a motion at the best of the candidates' places.
void ModelSelection::fit_at_best_places(const PairContext& work, Motion motion,
                                        std::vector<Candidate>& candidates) {
  const std::span<Candidate> best = std::span(candidates).first(places_to_try(candidates));
  richer_fits_.fit(work, fitter_, motion, best);
  for (Candidate& candidate : best) {
    if (candidate.motion == motion) candidate.half_confidence = richer_half_confidence_significance;
  }
}

// Fits the model at the best places and moves the one that it explains best to the front.
void ModelSelection::take_richer_model(const PairContext& work, std::vector<Candidate>& candidates,
                                       const AddHomographies& more) {
  fit_at_best_places(work, options_.motion, candidates);
  if (options_.motion == Motion::homography) add_homographies(work, candidates, more);
  sort_short_list(candidates, is_more_significant);
}

void ModelSelection::fit_homographies(const PairContext& work, std::span<const Candidate> proposals,
                                      std::vector<Candidate>& candidates) {
  agreed_.clear();
  for (const Candidate& proposal : proposals) agreed_.push_back(proposal.richer);
  for (Candidate candidate : richer_fits_.fit_by_windows(work, fitter_, agreed_)) {
    if (!within_limits(options_, work, candidate.matrix)) continue;
    candidate.half_confidence = richer_half_confidence_significance;
    candidates.push_back(candidate);
  }
}

std::optional<Candidate> ModelSelection::fit_near(const PairContext& work,
                                                  const Homography& start) {
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
bool ModelSelection::may_be_convincing_as_plane(const PairContext& work, const Candidate& place) {
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
bool ModelSelection::is_better_as(const PairContext& work, Motion motion, Candidate& chosen) {
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
bool ModelSelection::find_place_of_homography(const PairContext& work,
                                              std::vector<Candidate>& candidates,
                                              const AddHomographies& more) {
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
  if (is_certain_homography(best_fit)) return true;
  add_homographies(work, candidates, more);
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

void ModelSelection::take_model_that_explains_best(const PairContext& work,
                                                   std::vector<Candidate>& candidates,
                                                   const AddHomographies& more) {
  bool looked_elsewhere = false;
  bool has_hope = true;
  const auto look_elsewhere = [&] {
    looked_elsewhere = true;
    if (!work.compares_orientation()) has_hope = find_place_of_homography(work, candidates, more);
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
