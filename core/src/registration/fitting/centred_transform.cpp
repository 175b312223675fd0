// Transforms between two images in coordinates relative to the images' centres.
#include "registration/fitting/centred_transform.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The rotation and scale from the linear part of `start` to that of `found`, as (cosine, sine)
// times the scale.
Point relative_rotation(const Affine& start, const Affine& found) {
  const double determinant = start.a * start.e - start.b * start.d;
  const auto times_inverse = [&](double x, double y) {
    return Point{(x * start.e - y * start.d) / determinant,
                 (y * start.a - x * start.b) / determinant};
  };
  const Point first = times_inverse(found.a, found.b);
  const Point second = times_inverse(found.d, found.e);
  return {(first.x + second.y) / 2, (first.y - second.x) / 2};
}

Point rotation_for(Motion motion, const Affine& start, const Affine& found) {
  if (motion == Motion::translation) return {1, 0};
  const Point rotation = relative_rotation(start, found);
  if (motion == Motion::similarity) return rotation;
  const double scale = std::hypot(rotation.x, rotation.y);
  return {rotation.x / scale, rotation.y / scale};
}

}  // namespace

Homography about_centres(const Homography& pixels, const Shape& reference, const Shape& moving) {
  const Point from = centre_of(reference);
  const Point to = centre_of(moving);
  Homography centred = Homography(Affine::translation(-to.x, -to.y)) * pixels *
                       Homography(Affine::translation(from.x, from.y));
  const double divisor = centred.h[8];
  for (double& number : centred.h) number /= divisor;
  return centred;
}

Homography in_pixels(const double* centred, const Shape& reference, const Shape& moving) {
  const Point from = centre_of(reference);
  const Point to = centre_of(moving);
  Homography matrix;
  std::copy_n(centred, matrix.h.size(), matrix.h.begin());
  return Homography(Affine::translation(to.x, to.y)) * matrix *
         Homography(Affine::translation(-from.x, -from.y));
}

Homography project_onto_motion(const Homography& start, const Homography& found, Motion motion,
                               const Shape& reference) {
  if (motion == Motion::affine || motion == Motion::homography) return found;
  const Affine before = start.affine();
  const Point rotation = rotation_for(motion, before, found.affine());
  Affine moved{rotation.x * before.a + rotation.y * before.d,
               rotation.x * before.b + rotation.y * before.e,
               0,
               -rotation.y * before.a + rotation.x * before.d,
               -rotation.y * before.b + rotation.x * before.e,
               0};
  const Point centre = centre_of(reference);
  const Point mapped_centre = found(centre);
  const Point without_shift = moved(centre);
  moved.c = mapped_centre.x - without_shift.x;
  moved.f = mapped_centre.y - without_shift.y;
  return moved;
}

}  // namespace warpalign::detail
