// What two views of a plane may differ by.
#pragma once

#include "registration/pair/candidate.hpp"

namespace warpalign::detail {

/// Within an image, the least divisor of a homography must be at least this fraction of the
/// greatest.
inline constexpr double min_divisor_of_view = 0.01;

/// Whether `m` maps no point of the reference to infinity, and what the images have in common under
/// it may be two views of a plane. If not, a fit has followed chance. Where windows agree, views
/// may differ by more.
[[nodiscard]] bool is_plausible_view(const Homography& m, const Shape& reference,
                                     const Shape& moving, Generator proposed_by);

}  // namespace warpalign::detail
