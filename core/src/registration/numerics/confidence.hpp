// The confidence in a registration, computed from its significance.
#pragma once

#include <cstdint>

namespace warpalign::detail {

/// The significance (see Candidate) at which the confidence is one half where chance was not
/// tested: half of what is beyond doubt. It lies between what unrelated images reach and what
/// correctly registered ones have; docs/accuracy.md reports both.
inline constexpr double half_confidence_significance = 32;

/// The same for affine transforms and homographies that are fitted where no similarity was certain.
/// With more parameters, and at several places, more is explained by chance and by resemblance: of
/// real pictures of different places, and of wrong places of the same one, the highest that had a
/// tenth in common reached 53.
inline constexpr double richer_half_confidence_significance = 54;

/// The same for volumes.
inline constexpr double volume_half_confidence_significance = 5.5;

/// Upper bound of the confidence where a refinement was requested but did not succeed.
inline constexpr double max_unrefined_confidence = 0.4;

/// The confidence, 0 to 1, in a registration with this significance; `half` is the significance at
/// which it is one half.
double confidence_of(double significance, double half = half_confidence_significance);

/// atanh(correlation) sqrt(independent): Fisher's z in units of its standard deviation, for many
/// independent pixels.
double significance_of(double correlation, double independent);

/// By how many standard deviations more than the best of as many wrong places reaches by chance a
/// correlation must differ from 0 for a confidence of one half: the best of all places is moved and
/// scaled until it fits best, which chance takes part in. Of the best places of 330 unrelated pairs
/// of real pictures, for which 7.2 deviations were expected once in ten thousand searches, the
/// highest had 6.6.
inline constexpr double chance_margin = 1;

/// The confidence, 0 to 1, where `evidence` times as much speaks for a place as a confidence of one
/// half needs, and the best other place has `rival` times the deviations from chance: the images
/// may resemble each other at both.
double evidence_confidence(double evidence, double rival);

/// Upper bound of the confidence, 0 to 1, where another shift scores `rival` times as much. 1 for 0.
double rival_confidence(double rival);

/// Fisher's z of a correlation over `independent` independent voxels, in units of its standard
/// deviation; 0 where there are too few voxels.
double volume_significance(double correlation, double independent);

/// The confidence, 0 to 1, in a registration of volumes with this significance.
double volume_confidence(double significance, double half = volume_half_confidence_significance);

/// The confidence, 0 to 1, in a registration by the fast pipeline on a padded frame of `pixels`
/// pixels whose translation peak stands `deviations` standard deviations above 0.
double fast_confidence(double deviations, std::int64_t pixels);

}  // namespace warpalign::detail
