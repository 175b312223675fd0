// How sure a registration is.
#pragma once

namespace warpalign::detail {

/// The confidence, 0 to 1, in a registration whose translation peak stands `deviations` standard
/// deviations above 0. One half lies between what unrelated pictures reach and what registered ones
/// have; docs/registration.md reports both.
double confidence_of(double deviations);

}  // namespace warpalign::detail
