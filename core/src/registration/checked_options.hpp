// Validates the options of a registration.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Returns the options. Throws Error(invalid_argument) if one is out of its range or if they
/// contradict each other.
[[nodiscard]] RegistrationOptions checked(const RegistrationOptions& options);

/// The options with the default grid of a deformation, if theirs depends on the images.
[[nodiscard]] RegistrationOptions with_default_grid(RegistrationOptions options);

}  // namespace warpalign::detail
