// How sure a registration is.
#pragma once

#include <cstdint>

namespace warpalign::detail {

/// The confidence, 0 to 1, in a registration on a canvas of `pixels` pixels whose translation peak
/// stands `deviations` standard deviations above 0. One half lies between what unrelated pictures
/// reach and what registered ones have; docs/registration.md reports both.
double confidence_of(double deviations, std::int64_t pixels);

}  // namespace warpalign::detail
