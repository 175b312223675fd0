// How known shares are judged, on the host and on devices.
#pragma once

namespace warpalign::detail {

/// The mask has this value beyond the edges with `constant`, which no interpolated mask reaches.
inline constexpr double outside_mask = 2;
/// Rounding must not decide at exactly half of the support.
inline constexpr double share_rounding = 1e-5;

}  // namespace warpalign::detail
