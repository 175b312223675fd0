// The model of the transform, and its refinement at full resolution.
#include "registration/similarity/model_choice.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/short_list.hpp"
#include "registration/similarity/direction_refinement.hpp"
#include "registration/similarity/search_limits.hpp"

#include <algorithm>
#include <span>

namespace warpalign::detail {

namespace {

// A fit whose last step still moved a corner by more than this, in moving pixels, is drifting away
// from its candidate.
constexpr double max_last_step = 0.2;

// At how many places of the search a richer model is fitted.
constexpr std::size_t richer_places = 10;

// Of candidates of which some have more parameters: only the significance compares them.
bool is_more_convincing(const Candidate& a, const Candidate& b) {
  return a.significance / a.half_confidence > b.significance / b.half_confidence;
}

// How many places a richer model is tried at: the best similarity need not be at the right one.
std::size_t places_to_try(const std::vector<Candidate>& candidates) {
  const bool beyond_doubt = candidates[0].significance >= accepted_significance;
  return std::min(beyond_doubt ? 1 : richer_places, candidates.size());
}

// Nothing is refined that is far from being significant. The significance of directions of edges is
// known only once it is compared with chance.
bool is_worth_refining(const Candidate& candidate) {
  return candidate.by_gradients || candidate.significance >= half_confidence_significance / 2;
}

}  // namespace

bool is_richer(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography || motion == Motion::automatic;
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
  const FitOptions options{options_.motion, 12, 0.0005, 0.03, min_illumination_cell};
  const auto fitted =
      refinement_.fit({work.stream, work.clock, coarse, fine, start, ones_}, fitter_, options);
  if (!fitted || fitted->last_move > max_last_step) return;
  candidate.matrix = swapped ? fitted->matrix.affine().inverse() : fitted->matrix.affine();
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
  richer_models_.fit_coarsely(work, fitter_, motion, best);
  for (Candidate& candidate : best) {
    if (candidate.motion == motion) candidate.half_confidence = richer_half_confidence_significance;
  }
}

// Fits the model at the best places and moves the one that it explains best to the front.
void ModelChoice::take_richer_model(const PairWork& work, std::vector<Candidate>& candidates) {
  fit_at_best_places(work, model_, candidates);
  if (model_ == Motion::homography) try_windows(work, candidates);
  sort_short_list(candidates, is_more_convincing);
}

// Where no candidate is convincing, adds the homographies that windows agree on. Windows are
// compared by their grey levels.
void ModelChoice::try_windows(const PairWork& work, std::vector<Candidate>& candidates) {
  if (work.fields != nullptr || options_.search == Effort::fast) return;
  if (options_.search != Effort::thorough &&
      std::any_of(candidates.begin(), candidates.end(), is_convincing)) {
    return;
  }
  tried_windows_ = true;
  if (!window_search_) window_search_.emplace(device_, options_, ones_);
  for (const AgreedHomography& agreed : window_search_->find(work)) {
    auto candidate = richer_models_.fit_homography(work, fitter_, agreed.matrix);
    if (!candidate || !within_limits(options_, work, candidate->matrix)) continue;
    candidate->half_confidence = richer_half_confidence_significance;
    candidate->proposed_by = Generator::windows;
    candidates.push_back(*candidate);
  }
}

// Whether a place is explained significantly better by a motion than by what was chosen, which it
// then replaces. A coarse fit that is no better is not worth its refinement; one that is may only
// have followed uneven illumination, which the refinement takes into account.
bool ModelChoice::is_better_as(const PairWork& work, Motion motion, Candidate& chosen) {
  const auto parameters_of = [](Motion of) {
    return of == Motion::homography ? 8 : of == Motion::affine ? 6 : 4;
  };
  const int more = parameters_of(motion) - parameters_of(chosen.motion);
  Candidate richer = chosen;
  richer_models_.fit_coarsely(work, fitter_, motion, {&richer, 1});
  if (richer.motion != motion) return false;
  if (!richer_models_.explains_better(work, chosen, richer, more)) return false;
  if (options_.refine) {
    richer_models_.refine(work, fitter_, refinement_, richer);
    if (!richer.refined || !richer_models_.explains_better(work, chosen, richer, more)) {
      return false;
    }
  }
  // A place that is certain with fewer parameters is no less so with more.
  const bool refined = chosen.refined || !options_.refine;
  const bool certain = (is_convincing(chosen) && refined) || chosen.motion != Motion::similarity;
  if (!certain) richer.half_confidence = richer_half_confidence_significance;
  chosen = richer;
  return true;
}

// Where no similarity is beyond doubt, moves the place to the front that a homography explains
// best.
void ModelChoice::find_place_of_homography(const PairWork& work,
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
  if (is_convincing(best_fit)) return;
  try_windows(work, candidates);
  const auto by_windows =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return candidate.motion == Motion::homography && is_more_convincing(candidate, best_fit);
      });
  if (by_windows != candidates.end()) std::rotate(candidates.begin(), by_windows, by_windows + 1);
  std::span others = std::span(candidates).subspan(1);
  sort_short_list(others, is_more_convincing);
}

void ModelChoice::take_model_that_explains_best(const PairWork& work,
                                                std::vector<Candidate>& candidates) {
  if (work.fields == nullptr && candidates[0].significance < accepted_significance) {
    find_place_of_homography(work, candidates);
  }
  Candidate& best = candidates[0];
  if (best.motion == Motion::homography) {
    if (options_.refine) richer_models_.refine(work, fitter_, refinement_, best);
    return;
  }
  if (options_.refine && is_worth_refining(best)) refine(work, best);
  is_better_as(work, Motion::affine, best);
  is_better_as(work, Motion::homography, best);
}

}  // namespace warpalign::detail
