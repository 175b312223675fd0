// Declares the programs that a registration needs, so that they can be compiled before their use.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Each function declares programs for warm-up: those that every registration needs, those for
/// images of one type, and those for masks. Calls after the first one for an opened device cost
/// only a lookup.
void warm_up_similarity(const Device& device, const RegistrationOptions& options);
void warm_up_images(const Device& device, PixelType type);
void warm_up_masks(const Device& device, PixelType type);

}  // namespace warpalign::detail
