// The refinement of a transform between images of other modalities.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Fits `motion` to the gradient orientation on finer and finer levels, and returns
/// the transform from reference to moving pixels; nothing where a fit diverges or does not come to
/// rest. `similarity`: about what the transform `start` is. Waits for the device.
[[nodiscard]] std::optional<Homography> refined_by_directions(const PairContext& work,
                                                              SimilarityFit& fitter, Motion motion,
                                                              const Affine& similarity,
                                                              const Homography& start);

}  // namespace warpalign::detail
