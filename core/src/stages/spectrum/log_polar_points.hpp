// The frequencies at which log-polar spectra are sampled.
#pragma once

#include <warpalign/backend/stages/spectrum/log_polar.hpp>

namespace warpalign::detail {

/// The points of equations 11 to 13, as radii and as directions that give the frequencies per unit
/// of radius.
[[nodiscard]] backend::LogPolarPoints log_polar_points(const LogPolarSpec& spec);

}  // namespace warpalign::detail
