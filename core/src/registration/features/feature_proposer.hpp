// Proposes homographies that local features agree on.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// One round. The options are not used.
std::unique_ptr<Proposer> make_features(const Device& device, const RegistrationOptions& options);
inline constexpr ProposerKind local_features{"local features", make_features};

}  // namespace warpalign::detail
