// Proposes the best poses of a grid of rotations and scales.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// Both have one round. A thorough search uses finer grids.
std::unique_ptr<Proposer> make_intensity_grid(const Device& device,
                                              const RegistrationOptions& options);
/// Sorts its proposals by scale: candidates of similar scales are fitted on the same levels.
std::unique_ptr<Proposer> make_orientation_grid(const Device& device,
                                                const RegistrationOptions& options);

inline constexpr ProposerKind intensity_grid{"grid", make_intensity_grid};

}  // namespace warpalign::detail
