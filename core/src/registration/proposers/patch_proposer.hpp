// Proposes homographies that patches of the reference agree on.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// Patches that overlap by half: unmodified in round 0, in simulated tilts in round 1.
std::unique_ptr<Proposer> make_patches(const Device& device, const RegistrationOptions& options);
/// Patches of the edge strength images, in one round.
std::unique_ptr<Proposer> make_edge_patches(const Device& device,
                                            const RegistrationOptions& options);
/// Patches of half the size: near the best known homography in round 0, everywhere in round 1, in
/// simulated tilts in round 2.
std::unique_ptr<Proposer> make_fine_patches(const Device& device,
                                            const RegistrationOptions& options);

inline constexpr ProposerKind coarse_patches{"patches", make_patches};
inline constexpr ProposerKind edge_patches{"patches of edge strength", make_edge_patches};
inline constexpr ProposerKind fine_patches{"finer patches", make_fine_patches};

}  // namespace warpalign::detail
