// Proposes homographies from local features.
#pragma once

#include "registration/proposers/proposer.hpp"

namespace warpalign::detail {

/// One round. Ignores the options.
std::unique_ptr<Proposer> make_features(const Device& device, const RegistrationOptions& options);
inline constexpr ProposerKind local_features{"local features", make_features};

}  // namespace warpalign::detail
