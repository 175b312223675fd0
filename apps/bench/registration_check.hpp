// Whether a registration that was timed is right.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::program::bench {

/// Held to one per cent of the side at the corners: this is about speed, and a wrong result is
/// wrong by more.
[[nodiscard]] Verdict checked(const RegistrationResult& found, const Affine& truth,
                              std::int64_t side);

}  // namespace warpalign::program::bench
