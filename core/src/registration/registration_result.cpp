// From a matrix to what a registration reports of it.
#include "registration/registration_result.hpp"

#include <cmath>
#include <numbers>

namespace warpalign::detail {

// s [[cos r, sin r], [-sin r, cos r]] and a shift.
Registered registered(const Affine& matrix, const Shape& reference, const Shape& moving) {
  Registered result;
  result.matrix = matrix;
  result.similarity.rotation_deg = std::atan2(matrix.b, matrix.a) * 180 / std::numbers::pi;
  result.similarity.scale = std::hypot(matrix.a, matrix.b);
  const Point landed = matrix(centre_of(reference));
  const Point centre = centre_of(moving);
  result.similarity.translation = {landed.x - centre.x, landed.y - centre.y};
  return result;
}

}  // namespace warpalign::detail
