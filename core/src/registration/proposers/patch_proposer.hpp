// Proposes homographies that patches of the reference agree on.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// Patches that overlap by half: as they are in the first round, tilted in the second.
std::unique_ptr<Proposer> make_patches(const Device& device, const RegistrationOptions& options);
/// Patches of the images' edge strength, in one round.
std::unique_ptr<Proposer> make_edge_patches(const Device& device,
                                            const RegistrationOptions& options);
/// Patches of half the size: along the best known homography in the first round, everywhere in the
/// second, tilted in the third.
std::unique_ptr<Proposer> make_fine_patches(const Device& device,
                                            const RegistrationOptions& options);

inline constexpr ProposerKind patches{"patches", make_patches};
inline constexpr ProposerKind edge_patches{"patches of edge strength", make_edge_patches};
inline constexpr ProposerKind fine_patches{"finer patches", make_fine_patches};

}  // namespace warpalign::detail
