// The schedule of the search for the transform between two images: which proposer runs, in which
// order, by which signal, for which options, and what makes a step unnecessary. PairSearch executes
// it.
#pragma once

#include "registration/features/feature_proposer.hpp"
#include "registration/features/point_proposer.hpp"
#include "registration/proposers/grid_proposer.hpp"
#include "registration/proposers/log_polar_search.hpp"
#include "registration/proposers/patch_proposer.hpp"
#include "registration/proposers/proposer.hpp"
#include "registration/signal/signal_kind.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace warpalign::detail {

/// What a step does.
enum class Action {
  try_initial,         ///< fits the initial transform, if there is one
  propose,             ///< fits the proposals of a proposer and adds them to the candidates
  search_orientation,  ///< the complete search by orientation (GradientOrientationSearch)
  probe_orientation,   ///< the same; checks whether it is conclusive and intensity unrelated
  select_model,        ///< selects the model of the best intensity candidate and refines it
  verify_orientation,  ///< evaluates orientation at the intensity result
  choose_signal,       ///< takes the better of the two results
  compare_shifts       ///< compares the result with all other shifts (AmbiguityCheck)
};

/// The search efforts at which a step runs.
struct Efforts {
  Effort from, to;
};
inline constexpr Efforts any_effort{Effort::fast, Effort::thorough};
inline constexpr Efforts from_standard{Effort::standard, Effort::thorough};
inline constexpr Efforts standard_only{Effort::standard, Effort::standard};
inline constexpr Efforts thorough_only{Effort::thorough, Effort::thorough};

/// The motions and modalities for which a step runs.
enum class When {
  always,
  compares_intensity,  ///< Modality::same or automatic
  translation,         ///< compares_intensity, and Motion::translation
  rotating,            ///< compares_intensity, and any other motion
  matching_points,     ///< compares_intensity, and motions up to a similarity, or automatic
  shifting,            ///< every motion but a rotation about the centres
  projective,          ///< compares_intensity, and motions that may be homographies
  both_signals,        ///< Modality::automatic, and any motion but translation
  other_modality       ///< Modality::other, or Modality::automatic unless the effort is fast
};

/// What makes a step unnecessary, besides the agreement of point sources, which ends the search. In
/// a thorough search, accepted, significant, certain_homography and conclusive never hold.
enum class Unless {
  nothing,
  not_sparse,           ///< an image is not sparse
  no_initial,           ///< the caller gave no initial transform
  accepted,             ///< an intensity candidate is far more significant than needed
  significant,          ///< an intensity candidate is significant
  certain_homography,   ///< patches agree on a homography beyond doubt
  conclusive,           ///< orientation is certain of a pose where intensity is unrelated
  certain_intensity,    ///< conclusive, or intensity is certain
  certain_orientation,  ///< certain_intensity, or orientation confirms the intensity result
  reliable              ///< the result is reliable
};

/// How the search fits proposals.
enum class Fit {
  none,
  best_first,    ///< similarities: the best alone, which mostly suffices, then the others
  together,      ///< similarities, in one batch: one fit leaves most of a device idle
  as_proposed,   ///< fitted already, by the proposer
  homographies,  ///< on coarse levels
  rectified      ///< homographies, to the moving image warped to the reference's frame
};

/// Whether a step may begin on its own thread before it is known to be needed.
enum class Begins { in_turn, early };

struct Step {
  Action action;
  SearchMethod method;  ///< the name that results report
  ProposerKind proposer;
  SignalKind signal;
  int round;  ///< of the proposer, from 0
  Efforts efforts;
  When when;
  Unless unless;
  Fit fit;
  Begins begins;
};

namespace schedule_terms {  // short names, so that a row fits on a line
using enum Action;
using enum SearchMethod;
using enum SignalKind;
using enum When;
using enum Unless;
using enum Fit;
using enum Begins;

/// A step without a proposer.
constexpr Step act(Action action, SignalKind signal, Efforts efforts, When when, Unless unless,
                   Begins begins = in_turn) {
  const SearchMethod method = signal == orientation ? gradient_orientation : log_polar;
  return {action, method, no_proposer, signal, 0, efforts, when, unless, none, begins};
}
}  // namespace schedule_terms

// clang-format off
/// The steps of a search, in order.
inline constexpr auto search_schedule = [] {
  using namespace schedule_terms;
  return std::to_array<Step>({
    {propose, points,    point_sources,     intensity, 0, any_effort,    matching_points, not_sparse, as_proposed, in_turn},
    act(try_initial,                      intensity,      any_effort,    always,         no_initial),
    {propose, shifts,    log_polar_spectra, intensity, 0, any_effort,    translation, nothing,     best_first, in_turn},
    {propose, log_polar, log_polar_spectra, intensity, 0, any_effort,    rotating,    nothing,     best_first, in_turn},
    {propose, log_polar, log_polar_spectra, intensity, 1, any_effort,    rotating,    accepted,    best_first, in_turn},
    {propose, log_polar, log_polar_spectra, intensity, 2, any_effort,    rotating,    accepted,    together,   in_turn},
    {propose, grid,      intensity_grid,    intensity, 0, from_standard, rotating,    significant, together,   early},
    act(probe_orientation,                orientation,    standard_only, both_signals, significant,            early),
    {propose, log_polar, fine_spectra,      intensity, 0, thorough_only, rotating,    accepted,    best_first, early},
    {propose, log_polar, fine_spectra,      intensity, 1, thorough_only, rotating,    accepted,    together,   early},
    act(select_model,                     intensity,      any_effort,    compares_intensity, conclusive),
    act(verify_orientation,               orientation,    any_effort,    other_modality, certain_intensity),
    act(search_orientation,               orientation,    any_effort,    other_modality, certain_orientation),
    act(choose_signal,                    intensity,      any_effort,    always,         nothing),
    {propose, features,  local_features,    intensity, 0, from_standard, projective,  reliable,    rectified,  early},
    act(compare_shifts,                   intensity,      any_effort,    shifting,       nothing),
    {propose, points,    point_sources,     intensity, 0, any_effort,    matching_points, reliable, as_proposed, in_turn},
  });
}();

/// The steps by which select_model adds homographies that no similarity candidate leads to.
inline constexpr auto homography_schedule = [] {
  using namespace schedule_terms;
  return std::to_array<Step>({
    {propose, patches, coarse_patches, intensity,     0, from_standard, projective, certain_homography, homographies, early},
    {propose, patches, coarse_patches, intensity,     1, thorough_only, projective, certain_homography, homographies, early},
    {propose, patches, edge_patches,   edge_strength, 0, thorough_only, projective, certain_homography, homographies, early},
    {propose, patches, fine_patches,   intensity,     0, from_standard, projective, certain_homography, homographies, in_turn},
    {propose, patches, fine_patches,   intensity,     1, thorough_only, projective, certain_homography, homographies, in_turn},
    {propose, patches, fine_patches,   intensity,     2, thorough_only, projective, certain_homography, homographies, in_turn},
  });
}();
// clang-format on

/// Whether a step runs with these options.
[[nodiscard]] bool applies(const Step& step, const RegistrationOptions& options);

/// Whether exactly the steps that propose have a proposer and a fit, each round follows the
/// previous one, and effort ranges are not empty.
constexpr bool is_sound(std::span<const Step> schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Step& step = schedule[i];
    const bool proposes = step.action == Action::propose;
    if (proposes != (step.proposer != no_proposer) || proposes != (step.fit != Fit::none))
      return false;
    if (step.efforts.from > step.efforts.to) return false;
    const auto before = schedule.first(i);
    const bool follows = std::any_of(before.begin(), before.end(), [&](const Step& other) {
      return other.proposer == step.proposer && other.round == step.round - 1;
    });
    if (step.round != 0 && !follows) return false;
  }
  return true;
}
static_assert(is_sound(search_schedule) && is_sound(homography_schedule));

}  // namespace warpalign::detail
