// The cubic B-spline through samples.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// Replaces samples of a grid by the coefficients of the cubic B-spline through them (Unser 1999),
/// mirrored about the outermost samples. `values` has `components` numbers for each point of the
/// grid, x fastest.
void filter_bspline(std::vector<double>& values, const std::array<std::size_t, 3>& extent,
                    std::size_t components);

}  // namespace warpalign::detail
