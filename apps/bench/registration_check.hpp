// Whether a timed registration is correct.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::program::bench {

/// Corners may be off by one per cent of the side: wrong results are off by more, and accuracy is
/// measured elsewhere.
[[nodiscard]] Verdict checked(const RegistrationResult& found, const Homography& truth,
                              std::int64_t side);

}  // namespace warpalign::program::bench
