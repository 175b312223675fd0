// Whether a place is one that the options allow.
#pragma once

#include "registration/pair/context.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The transform at which a fit of `motion` begins where a search has found `found`: a rotation
/// about the centres has no shift, whatever shift correlates best.
[[nodiscard]] Affine start_of(const PairContext& work, Motion motion, const Affine& found);

/// Whether the options allow a place to which a similarity was refined: the refinement may leave
/// their ranges, the farther the coarser the search was.
[[nodiscard]] bool within_limits(const RegistrationOptions& options, const PairContext& work,
                                 const Affine& matrix);

/// How many independent wrong poses the search may take for the right one: shifts, at every
/// rotation and scale that the options allow.
[[nodiscard]] double num_trials(const RegistrationOptions& options, const Shape& reference,
                                const Shape& moving);
[[nodiscard]] inline double num_trials(const RegistrationOptions& options,
                                       const PairContext& work) {
  return num_trials(options, work.reference.shape(), work.moving.shape());
}

}  // namespace warpalign::detail
