// The levels on which affine transforms and homographies are fitted coarsely.
#include "registration/refinement/fit_levels.hpp"

namespace warpalign::detail {

namespace {

// On the coarsest levels an affine fit comes first, because perspective can be estimated only close
// to the solution.
constexpr std::array<FitLevel, 8> levels{{{32, Motion::affine, 15, 0.02, 0.3},
                                          {32, Motion::homography, 15, 0.02, 0.5},
                                          {64, Motion::affine, 12, 0.02, 0.3},
                                          {64, Motion::homography, 15, 0.02, 0.4},
                                          {128, Motion::homography, 15, 0.02, 0.3},
                                          {256, Motion::homography, 15, 0.01, 0.2},
                                          {512, Motion::homography, 12, 0.01, 0.1},
                                          {1024, Motion::homography, 10, 0.01, 0.05}}};
constexpr double min_fitted_side = 24;
// A level finer than the scoring level is used only if its spacing, in pixels of the coarser image,
// is at least this.
constexpr double min_spacing_beyond_judged = 1.5;
constexpr double min_conclusive = 100;  // significance

}  // namespace

std::span<const FitLevel> fit_levels() { return levels; }

bool is_inconclusive(const Candidate& fitted) { return fitted.significance < min_conclusive; }

bool includes_level(const FitLevel& level, Motion motion, double first_side) {
  // For an affine motion, both steps of a level would be the same fit; the second one is skipped.
  const bool is_duplicate =
      motion == Motion::affine && level.motion == Motion::homography && level.side < 128;
  return !is_duplicate && level.side >= first_side;
}

bool can_fit_on(const FitLevel& level, const FitDirection& roles) {
  const double spacing = roles.spacing(level.side);
  // The refinement at full resolution follows.
  if (spacing < min_spacing_beyond_judged && level.side > scoring_side) return false;
  return roles.side(spacing) >= min_fitted_side;
}

}  // namespace warpalign::detail
