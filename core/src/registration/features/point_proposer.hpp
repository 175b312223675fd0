// Proposes the transform on which the point sources of sparse images agree.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// One round. Proposes nothing unless both images are sparse. The proposal is already fitted; it
/// has `points`.
std::unique_ptr<Proposer> make_points(const Device& device, const RegistrationOptions& options);
inline constexpr ProposerKind point_sources{"point sources", make_points};

}  // namespace warpalign::detail
