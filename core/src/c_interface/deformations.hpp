// Deformations in the C interface.
#pragma once

#include <warpalign/deformation.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::c_interface {

/// The error of a handle that has no deformation.
inline constexpr const char* no_deformation = "the deformation is null or was destroyed";

/// The object of a warpalign_deformation.
struct FoundDeformation {
  Deformation deformation;
  Shape reference;  ///< its shape
};

}  // namespace warpalign::c_interface
