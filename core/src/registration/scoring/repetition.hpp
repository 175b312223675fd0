// The period of a texture that repeats itself, from the shifts at which it matches itself.
#pragma once

#include <warpalign/geometry.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// The shortest vectors of the lattice that shifts form, the shortest first: two, or one where all
/// shifts lie on a line; none unless the lattice explains at least two shifts. Shifts that are no
/// points of the lattice are left out. Of a vector and its opposite it is the one that points to
/// the right, or straight down. In the units of the shifts.
[[nodiscard]] std::vector<Point> period_of(std::span<const Point> shifts);

}  // namespace warpalign::detail
