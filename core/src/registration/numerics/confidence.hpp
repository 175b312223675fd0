// The confidence in a registration, computed from its significance.
#pragma once

#include <cstdint>

namespace warpalign::detail {

/// The significance (see Candidate) at which the confidence is one half if there was no null test.
/// It lies between the significances of unrelated pairs and of correctly registered pairs;
/// docs/accuracy-confidence.md reports both.
inline constexpr double half_confidence_significance = 32;

/// The same for affine transforms and homographies, which are fitted if no similarity is reliable.
/// More parameters and several candidates explain more by chance and by resemblance. Over
/// photographs of different scenes, and wrong poses of the same scene, the significance reached 53
/// at overlaps of at least 10 %.
inline constexpr double projective_half_confidence_significance = 54;

/// The same for volumes.
inline constexpr double volume_half_confidence_significance = 5.5;

/// Upper bound of the confidence if a requested refinement failed.
inline constexpr double max_unrefined_confidence = 0.4;

/// The confidence, 0 to 1, in a registration with this significance; `half` is the significance at
/// which it is one half.
double confidence_of(double significance, double half = half_confidence_significance);

/// atanh(correlation) sqrt(independent): Fisher's z in units of its standard deviation, for a large
/// effective sample size `independent`.
double significance_of(double correlation, double independent);

/// How far the z-score must exceed the maximum that as many wrong poses reach by chance, for a
/// confidence of one half. A margin is needed because the best pose is also fitted, which increases
/// its correlation by chance. Over 330 unrelated pairs of photographs the highest z-score was 6.6;
/// a z-score of 7.2 was expected once in ten thousand searches.
inline constexpr double null_z_margin = 1;

/// The confidence, 0 to 1, in a pose. `evidence`: the pose's score as a multiple of the score at
/// which the confidence is one half. `second_best_ratio`: the second-best ratio; a ratio near 1
/// lowers the confidence, because the images resemble each other at both poses.
double null_test_confidence(double evidence, double second_best_ratio);

/// Upper bound of the confidence, 0 to 1, where another shift scores `ratio` times as much. 1 for
/// 0.
double uniqueness_confidence(double ratio);

/// Fisher's z of a correlation over `independent` independent voxels, in units of its standard
/// deviation; 0 if there are too few voxels.
double volume_significance(double correlation, double independent);

/// The confidence, 0 to 1, in a registration of volumes with this significance.
double volume_confidence(double significance, double half = volume_half_confidence_significance);

/// The confidence, 0 to 1, in a registration by the fast pipeline. `deviations`: the height of the
/// translation peak in standard deviations. `pixels`: the size of the padded frame.
double fast_confidence(double deviations, std::int64_t pixels);

}  // namespace warpalign::detail
