// Checks whether a homography can relate two views of a plane.
#pragma once

#include "registration/pair/candidate.hpp"

namespace warpalign::detail {

/// The minimum ratio of a homography's smallest and largest divisors over an image.
inline constexpr double min_divisor_of_view = 0.01;

/// Whether `m` maps no point of the reference to infinity, and the overlap can be two views of a
/// plane. If not, a fit has followed noise. Homographies that patches have proposed may have
/// stronger perspective and tilt.
[[nodiscard]] bool is_plausible_view(const Homography& m, const Shape& reference,
                                     const Shape& moving, SearchMethod proposed_by);

}  // namespace warpalign::detail
