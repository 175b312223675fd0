// Whether the options of a registration are within their ranges and go together.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The options. Throws Error(invalid_argument) where they are not.
[[nodiscard]] RegistrationOptions checked(const RegistrationOptions& options);

}  // namespace warpalign::detail
