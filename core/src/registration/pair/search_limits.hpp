// Whether a place is one that the options allow.
#pragma once

#include "registration/pair/level_pair.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Whether the options allow a place to which a similarity was refined: the refinement may leave
/// their ranges, the farther the coarser the search was.
[[nodiscard]] bool within_limits(const RegistrationOptions& options, const PairWork& work,
                                 const Affine& matrix);

/// How many wrong places the search may take for the right one: independent shifts, at every
/// rotation and scale that the options allow.
[[nodiscard]] double places_searched(const RegistrationOptions& options, const Shape& reference,
                                     const Shape& moving);
[[nodiscard]] inline double places_searched(const RegistrationOptions& options,
                                            const PairWork& work) {
  return places_searched(options, work.reference.shape(), work.moving.shape());
}

}  // namespace warpalign::detail
