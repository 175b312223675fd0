// The sampling frequencies of log-polar spectra.
#pragma once

#include <warpalign/backend/stages/spectrum/log_polar.hpp>

namespace warpalign::detail {

/// The points of the registration paper's equations 11 to 13, as radii and as directions: the
/// frequencies per unit of radius.
[[nodiscard]] backend::LogPolarPoints log_polar_points(const LogPolarSpec& spec);

}  // namespace warpalign::detail
