// Selects the transform model and refines the result at full resolution.
#include "registration/search/model_selection.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/pair/candidate_set.hpp"
#include "registration/pair/motion_model.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/refinement/orientation_refinement.hpp"

#include <algorithm>
#include <span>

namespace warpalign::detail {

namespace {

// Twice the significance of a convincing homography.
constexpr double certain_homography_significance = 2 * projective_half_confidence_significance;

// Unrelated images mostly have a lower confidence.
constexpr double min_refined_confidence = 0.05;

// A coarse fit that becomes convincing by refinement already has at least this fraction of the
// required significance.
constexpr double min_coarse_fraction = 0.7;

// Below this confidence by gradient orientation, a higher-degree-of-freedom model has never been
// right.
constexpr double min_orientation_confidence = 1e-3;

// Higher-degree-of-freedom models are fitted at this many candidates of the search.
constexpr std::size_t max_fitted_candidates = 4;

// Compares candidates with different numbers of parameters.
bool is_more_convincing(const Candidate& a, const Candidate& b) {
  return a.significance / a.half_confidence > b.significance / b.half_confidence;
}

// Compares candidates if the options fix the model. Every candidate then has the same number of
// parameters; a similarity that remains because the model could not be fitted has no advantage.
bool is_more_significant(const Candidate& a, const Candidate& b) {
  return a.significance > b.significance;
}

// Whether the search is unlikely to find a better candidate.
bool is_certain(const Candidate& candidate) {
  return candidate.significance >= accepted_significance && is_convincing(candidate);
}

// The number of candidates at which a higher-degree-of-freedom model is fitted. The best similarity
// need not be at the right pose.
std::size_t num_fitted_candidates(const std::vector<Candidate>& candidates) {
  return std::min(is_certain(candidates[0]) ? 1 : max_fitted_candidates, candidates.size());
}

// Skips candidates far from significant, and candidates that hardly pass the null test. For
// gradient orientation only the null test counts.
bool is_worth_refining(const Candidate& candidate) {
  if (candidate.null_test && candidate.confidence() < min_refined_confidence) return false;
  return candidate.by_orientation || candidate.significance >= half_confidence_significance / 2;
}

// Whether `candidate`, which was fitted from `start`, may still be convincing after its own null
// test. For gradient orientation the z-score is proportional to the significance.
bool may_be_convincing(const Candidate& candidate, const Candidate& start) {
  if (!candidate.by_orientation) return candidate.significance >= candidate.half_confidence;
  if (!start.null_test || !(start.significance > 0)) return true;
  const double evidence = start.evidence() * candidate.significance / start.significance;
  return null_test_confidence(evidence, 0) >= min_refined_confidence;
}

// Whether a coarse fit by intensity is close to convincing.
bool may_become_convincing(const Candidate& candidate) {
  return candidate.significance >= min_coarse_fraction * candidate.half_confidence;
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

// select() may have changed the motion of the first candidate.
void ModelSelection::conclude(const PairContext& context, std::vector<Candidate>& candidates,
                              double trials, const AddHomographies& more) {
  rank(candidates);
  select(context, candidates, more);
  if (candidates.empty()) return;
  Candidate& selected = candidates.front();
  if (selected.beyond_doubt()) return;
  if (selected.motion != Motion::similarity) selected.null_test.reset();
  evaluator_.test(context, {&selected, 1}, trials);
  set_second_best_ratio(context, candidates, selected);
}

void ModelSelection::refine(const PairContext& work, Candidate& candidate) {
  if (work.compares_orientation()) {
    const auto refined = refine_by_orientation(work, fitter_, searched_motion(options_.motion),
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
  const auto settled =
      refinement_.settle({work.stream, work.clock, coarse, fine, start, work.unit_weights}, fitter_,
                         searched_motion(options_.motion));
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
  if (model == Motion::automatic) return choose_model(work, candidates, more);
  if (exceeds_similarity(model)) apply_requested_model(work, candidates, more);
  Candidate& best = candidates[0];
  if (!options_.refine || !is_worth_refining(best)) return;
  if (best.motion == Motion::similarity) return refine(work, best);
  richer_models_.refine(work, fitter_, refinement_, best);
}

// Gradient orientation proposes no homographies.
void ModelSelection::add_homographies(const PairContext& work, std::vector<Candidate>& candidates,
                                      const AddHomographies& more) {
  if (more && !work.compares_orientation()) more(candidates);
}

// Fits a motion at the best candidates.
void ModelSelection::fit_at_best_candidates(const PairContext& work, Motion motion,
                                            std::vector<Candidate>& candidates) {
  const std::span<Candidate> best = std::span(candidates).first(num_fitted_candidates(candidates));
  richer_fits_.fit(work, fitter_, motion, best);
  for (Candidate& candidate : best) {
    if (candidate.motion == motion)
      candidate.half_confidence = projective_half_confidence_significance;
  }
}

// Fits the requested model at the best candidates and moves the most significant one to the front.
void ModelSelection::apply_requested_model(const PairContext& work,
                                           std::vector<Candidate>& candidates,
                                           const AddHomographies& more) {
  fit_at_best_candidates(work, options_.motion, candidates);
  if (options_.motion == Motion::homography) add_homographies(work, candidates, more);
  sort_short_list(candidates, is_more_significant);
}

void ModelSelection::fit_homographies(const PairContext& work, std::span<const Candidate> proposals,
                                      std::vector<Candidate>& candidates) {
  agreed_.clear();
  for (const Candidate& proposal : proposals) agreed_.push_back(proposal.richer);
  for (Candidate candidate : richer_fits_.fit_from_patches(work, fitter_, agreed_)) {
    if (!within_limits(options_, work, candidate.matrix)) continue;
    candidate.half_confidence = projective_half_confidence_significance;
    candidates.push_back(candidate);
  }
}

std::optional<Candidate> ModelSelection::fit_near(const PairContext& work,
                                                  const Homography& start) {
  const std::span<const Candidate> fitted =
      richer_fits_.fit_from_patches(work, fitter_, {&start, 1});
  if (fitted.empty()) return std::nullopt;
  Candidate candidate = fitted.front();
  candidate.half_confidence = projective_half_confidence_significance;
  if (options_.refine && is_worth_refining(candidate)) {
    richer_models_.refine(work, fitter_, refinement_, candidate);
  }
  return candidate;
}

// Whether the candidate, or a homography fitted there, may be convincing. Every affine transform is
// a homography: if no homography may be convincing, no affine transform is.
bool ModelSelection::may_be_convincing_plane(const PairContext& work, const Candidate& candidate) {
  if (may_be_convincing(candidate, candidate)) return true;
  if (candidate.by_orientation && candidate.null_test &&
      candidate.confidence() < min_orientation_confidence) {
    return false;
  }
  Candidate plane = candidate;
  richer_fits_.fit(work, fitter_, Motion::homography, {&plane, 1});
  if (plane.motion != Motion::homography) return false;
  plane.half_confidence = projective_half_confidence_significance;
  return may_be_convincing(plane, candidate);
}

// Replaces `chosen` by a model with more parameters if that model explains the pair significantly
// better. Returns early if neither may become reliable. Does not refine a coarse fit that is no
// better; one that is better may only have followed uneven illumination, which the refinement
// models.
bool ModelSelection::upgrade_model(const PairContext& work, Motion motion, Candidate& chosen) {
  const auto parameters_of = [](Motion of) {
    return of == Motion::homography ? 8 : of == Motion::affine ? 6 : 4;
  };
  const int more = parameters_of(motion) - parameters_of(chosen.motion);
  Candidate richer = chosen;
  richer_fits_.fit(work, fitter_, motion, {&richer, 1});
  if (richer.motion != motion) return false;
  // More parameters do not make a certain candidate less certain.
  const bool refined = chosen.refined || !options_.refine;
  const bool certain = (is_convincing(chosen) && refined) || chosen.motion != Motion::similarity;
  if (!certain) richer.half_confidence = projective_half_confidence_significance;
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

// If no similarity is beyond doubt, moves the candidate to the front that a homography explains
// best. Returns whether a candidate may be convincing after refinement.
bool ModelSelection::find_homography_pose(const PairContext& work,
                                          std::vector<Candidate>& candidates,
                                          const AddHomographies& more) {
  std::vector<Candidate> fitted = candidates;
  fit_at_best_candidates(work, Motion::homography, fitted);
  std::size_t best = 0;
  Candidate best_fit = candidates[0];
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    if (fitted[i].motion != Motion::homography || !is_more_convincing(fitted[i], best_fit))
      continue;
    best_fit = fitted[i];
    best = i;
  }
  const auto winner = candidates.begin() + static_cast<std::ptrdiff_t>(best);
  std::rotate(candidates.begin(), winner, winner + 1);
  if (is_certain_homography(best_fit)) return true;
  add_homographies(work, candidates, more);
  auto best_homography = candidates.end();
  for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
    if (candidate->motion != Motion::homography) continue;
    const Candidate& least = best_homography == candidates.end() ? best_fit : *best_homography;
    if (is_more_convincing(*candidate, least)) best_homography = candidate;
  }
  if (best_homography != candidates.end())
    std::rotate(candidates.begin(), best_homography, best_homography + 1);
  std::span others = std::span(candidates).subspan(1);
  sort_short_list(others, is_more_convincing);
  return may_become_convincing(candidates[0]) || may_become_convincing(best_fit);
}

void ModelSelection::choose_model(const PairContext& work, std::vector<Candidate>& candidates,
                                  const AddHomographies& more) {
  bool tried_homographies = false;
  bool may_improve = true;
  const auto try_homographies = [&] {
    tried_homographies = true;
    if (!work.compares_orientation()) may_improve = find_homography_pose(work, candidates, more);
    if (candidates[0].motion != Motion::homography) return false;
    if (options_.refine) richer_models_.refine(work, fitter_, refinement_, candidates[0]);
    return true;
  };
  if (!is_certain(candidates[0]) && try_homographies()) return;
  if (options_.refine && is_worth_refining(candidates[0])) {
    refine(work, candidates[0]);
    if (!candidates[0].refined && !tried_homographies && try_homographies()) return;
  }
  if (!may_improve || !may_be_convincing_plane(work, candidates[0])) return;
  Candidate& best = candidates[0];  // only now: find_homography_pose() adds candidates
  upgrade_model(work, Motion::affine, best);
  upgrade_model(work, Motion::homography, best);
}

}  // namespace warpalign::detail
