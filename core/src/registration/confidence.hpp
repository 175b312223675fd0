// How sure a registration is.
#pragma once

#include <cstdint>

namespace warpalign::detail {

/// The significance (see Candidate) that half a confidence stands for: between what unrelated
/// pictures reach and what registered ones have; docs/registration.md reports both.
inline constexpr double significance_of_even_odds = 32;

/// At most this where the refinement was to be and ran away.
inline constexpr double confidence_unless_refined = 0.4;

/// The confidence, 0 to 1, in a registration of this significance.
double confidence_of(double significance);

/// The confidence, 0 to 1, in a registration by the fast pipeline on a canvas of `pixels` pixels
/// whose translation peak stands `deviations` standard deviations above 0.
double fast_confidence(double deviations, std::int64_t pixels);

}  // namespace warpalign::detail
