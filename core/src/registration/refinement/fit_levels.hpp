// On which levels affine transforms and homographies are fitted coarsely, and in which order.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <array>
#include <span>

namespace warpalign::detail {

/// A step of a coarse fit: the level, by its side, and what is fitted there.
struct FitLevel {
  double side;
  Motion motion;
  int iterations;
  double tolerance, max_drift;
};

/// In the order in which they are fitted, the coarsest first.
[[nodiscard]] std::span<const FitLevel> fit_levels();

/// The sides of the levels with which fits begin, one after the other. Coarse levels reach far, but
/// may hold too little to find eight parameters by: where the fit from the first of them is in
/// doubt, the others are begun with as well.
inline constexpr std::array first_sides{32.0, 64.0, 128.0};
/// What windows agree on is near enough for the finer ones, and right in part of the image only.
inline constexpr std::array first_sides_by_windows{64.0, 128.0};

/// Whether fits that begin with finer levels may find a better transform than this one.
[[nodiscard]] bool is_in_doubt(const Candidate& fitted);

/// Whether a level is one of those that a fit of this motion visits which begins with a side.
[[nodiscard]] bool is_level_of(const FitLevel& level, Motion motion, double first_side);

/// Whether images in these roles are large enough for a level, and so large that it is not left to
/// the refinement at full resolution.
[[nodiscard]] bool is_fitted_on(const FitLevel& level, const FitRoles& roles);

}  // namespace warpalign::detail
