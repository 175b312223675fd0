// The levels on which affine transforms and homographies are fitted coarsely.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <array>
#include <span>

namespace warpalign::detail {

/// A step of a coarse fit: the level, by its side, and the motion to fit.
struct FitLevel {
  double side;
  Motion motion;
  int iterations;
  double tolerance, max_drift;
};

/// The steps of a coarse fit in order, from coarse to fine.
[[nodiscard]] std::span<const FitLevel> fit_levels();

/// The sides of the levels on which fits start. Coarse levels have the larger convergence basin,
/// but may have too little detail for eight parameters. If the fit from the first level is not
/// conclusive, fits start from the other levels, too.
inline constexpr std::array first_sides{32.0, 64.0, 128.0};
/// The same for starts from patches, which are accurate enough for finer levels, but may be right
/// in a part of the image only.
inline constexpr std::array first_sides_from_patches{64.0, 128.0};

/// Whether this fit is not conclusive: fits from finer levels may find a better transform.
[[nodiscard]] bool is_inconclusive(const Candidate& fitted);

/// Whether a fit of this motion that starts from `first_side` includes a level.
[[nodiscard]] bool includes_level(const FitLevel& level, Motion motion, double first_side);

/// Whether the images are large enough for a level, and the level is coarse enough not to be left
/// to the refinement at full resolution.
[[nodiscard]] bool can_fit_on(const FitLevel& level, const FitDirection& roles);

}  // namespace warpalign::detail
