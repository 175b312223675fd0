// Proposes the best poses of a grid of rotations and scales.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// One round each. A thorough search compares finer grids.
std::unique_ptr<Proposer> make_intensity_grid(const Device& device,
                                              const RegistrationOptions& options);
/// Proposes in order of scale: candidates of similar scales are fitted on the same levels.
std::unique_ptr<Proposer> make_orientation_grid(const Device& device,
                                                const RegistrationOptions& options);

inline constexpr ProposerKind intensity_grid{"grid", make_intensity_grid};

}  // namespace warpalign::detail
