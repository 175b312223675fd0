// Builds the result of a registration from its matrix.
#include "registration/pair/registration_result.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <cmath>
#include <numbers>

namespace warpalign::detail {

Alignment alignment_of(const Affine& matrix, const Shape& reference, const Shape& moving) {
  Alignment result;
  result.matrix = matrix;
  result.homography = matrix;
  result.similarity = Similarity::of(matrix, reference, moving);
  return result;
}

Alignment alignment_of(Motion motion, const Homography& matrix, const Shape& reference,
                       const Shape& moving) {
  Alignment result;
  const Point centre = centre_of(reference);
  const Affine m = matrix.affine_at(centre);
  const Point mapped = m(centre);
  const Point target = centre_of(moving);
  result.motion = motion;
  result.matrix = m;
  result.homography = matrix;
  result.similarity = {std::atan2(m.b - m.d, m.a + m.e) * 180 / std::numbers::pi,
                       scale_of(m),
                       {mapped.x - target.x, mapped.y - target.y}};
  return result;
}

}  // namespace warpalign::detail
