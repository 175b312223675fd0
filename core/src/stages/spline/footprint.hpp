// The footprint of an output pixel in the input of an affine transform.
#pragma once

#include <warpalign/backend/stages/spline/footprint_means.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <vector>

namespace warpalign::detail {

/// The points of the footprint and their weights, which sum to 1; a single one if the transform
/// does not shrink. Empty if there were more than `max_points`.
[[nodiscard]] std::vector<backend::FootprintPoint> footprint_of(
    const HomogeneousMatrix& output_to_input, int dimensions, std::size_t max_points);

}  // namespace warpalign::detail
