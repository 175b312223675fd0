// How sure a registration is.
#pragma once

#include <cstdint>

namespace warpalign::detail {

/// The significance (see Candidate) that half a confidence stands for: between what unrelated
/// pictures reach and what registered ones have; docs/registration.md reports both.
inline constexpr double significance_of_even_odds = 32;

/// The same for volumes.
inline constexpr double volume_significance_of_even_odds = 5.5;

/// At most this where the refinement was to be and ran away.
inline constexpr double confidence_unless_refined = 0.4;

/// The confidence, 0 to 1, in a registration of this significance.
double confidence_of(double significance);

/// Fisher's z of a correlation over `independent` voxels, in its standard deviations; 0 where there
/// are too few.
double volume_significance(double correlation, double independent);

/// The confidence, 0 to 1, in a registration of volumes.
double volume_confidence(double significance);

/// The confidence, 0 to 1, in a registration by the fast pipeline on a canvas of `pixels` pixels
/// whose translation peak stands `deviations` standard deviations above 0.
double fast_confidence(double deviations, std::int64_t pixels);

}  // namespace warpalign::detail
