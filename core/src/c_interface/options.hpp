// Options of registrations in the C interface.
#pragma once

#include <warpalign/warpalign.h>
#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cstdint>
#include <string>

namespace warpalign::c_interface {

// Functions that take numbers of the caller throw Error(invalid_argument) for those without a
// meaning.

[[nodiscard]] bool flag(std::int32_t value, const std::string& what);
[[nodiscard]] Motion motion_of(warpalign_motion motion);
[[nodiscard]] Modality modality_of(warpalign_modality modality);
/// The defaults for null.
[[nodiscard]] RegistrationOptions options_of(const warpalign_register_options* given);
[[nodiscard]] VolumeRegistrationOptions options_of(const warpalign_volume_options* given);
/// WARPALIGN_SIMILARITY for motions that results do not have.
[[nodiscard]] warpalign_motion number_of(Motion motion) noexcept;
/// WARPALIGN_MODALITY_SAME for Modality::automatic, which results do not have.
[[nodiscard]] warpalign_modality number_of(Modality modality) noexcept;

}  // namespace warpalign::c_interface
