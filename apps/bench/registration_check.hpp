// Verifies a timed registration.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::program::bench {

/// Allows corner errors of one per cent of the side. Wrong results have larger errors, and accuracy
/// is measured elsewhere.
[[nodiscard]] Verdict checked(const RegistrationResult& found, const Homography& truth,
                              std::int64_t side);

}  // namespace warpalign::program::bench
