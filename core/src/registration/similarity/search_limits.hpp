// Whether a place is one that the options allow.
#pragma once

#include "registration/similarity/level_pair.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Whether the options allow a place to which a similarity was refined: the refinement may leave
/// their ranges, the farther the coarser the search was.
[[nodiscard]] bool within_limits(const RegistrationOptions& options, const PairWork& work,
                                 const Affine& matrix);

}  // namespace warpalign::detail
