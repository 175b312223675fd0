// Limits of a search that follow from the options.
#pragma once

#include "registration/pair/context.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The start of a fit of `motion` near the transform `found` of a search. For a rotation about the
/// centres the shift is dropped, even if another shift correlates better.
[[nodiscard]] Affine start_of(const PairContext& work, Motion motion, const Affine& found);

/// Whether the options allow a refined similarity. The ranges have some slack, because refinement
/// may leave them by as much as the search was coarse.
[[nodiscard]] bool within_limits(const RegistrationOptions& options, const Shape& reference,
                                 const Shape& moving, const Affine& matrix);
[[nodiscard]] inline bool within_limits(const RegistrationOptions& options, const PairContext& work,
                                        const Affine& matrix) {
  return within_limits(options, work.reference.shape(), work.moving.shape(), matrix);
}

/// Whether the options allow a translation. Its length and its extents along x and y may exceed
/// their limits by `tolerance` pixels.
[[nodiscard]] bool allows_shift(const RegistrationOptions& options, Point translation,
                                double tolerance = 0);

/// The number of trials: how many independent poses the search could take for the right one. Counts
/// the shifts at every rotation and scale that the options allow.
[[nodiscard]] double num_trials(const RegistrationOptions& options, const Shape& reference,
                                const Shape& moving);
[[nodiscard]] inline double num_trials(const RegistrationOptions& options,
                                       const PairContext& work) {
  return num_trials(options, work.reference.shape(), work.moving.shape());
}

}  // namespace warpalign::detail
