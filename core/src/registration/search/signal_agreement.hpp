// Whether two searches of the same pair, by intensity and by orientation, have one answer.
#pragma once

#include "registration/pair/candidate.hpp"

#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// The evidence that two answers are right because they are nearly the same, as
/// Candidate::evidence() counts it: at 1, the confidence is 0.5. Searches of unrelated images by
/// different signals seldom end near each other, so two answers that agree are certain where
/// neither would be alone. 0 if their scores together are no better than those of unrelated images.
[[nodiscard]] double agreement_evidence(const Shape& reference, const Candidate& by_intensity,
                                        const Candidate& by_orientation);

}  // namespace warpalign::detail
