// The programs that a registration needs, announced so that they can be compiled ahead.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Announces what the similarity pipeline needs whatever the images are, and what it needs for
/// images of one type, and with masks. Each is announced once for an opened device, and costs
/// nothing but a lookup afterwards.
void announce_similarity(const Device& device, const RegistrationOptions& options);
void announce_images(const Device& device, PixelType type);
void announce_masks(const Device& device, PixelType type);

}  // namespace warpalign::detail
