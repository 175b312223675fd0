// Refines a transform between images of different modalities.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Fits `motion` to the gradient orientation on finer and finer levels. Returns the transform from
/// reference to moving pixels, or nothing if a fit diverges or does not settle (see
/// is_stationary()). `similarity`: approximates `start`. Waits for the device.
[[nodiscard]] std::optional<Homography> refine_by_orientation(const PairContext& work,
                                                              SimilarityFit& fitter, Motion motion,
                                                              const Affine& similarity,
                                                              const Homography& start);

}  // namespace warpalign::detail
