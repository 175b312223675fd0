// Transforms between two images, of points about the centres of both.
#include "registration/fitting/centred_transform.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The rotation and scale, as (cosine, sine) times the scale, by which the linear part of `found`
// differs from that of `start`.
Point turned(const Affine& start, const Affine& found) {
  const double determinant = start.a * start.e - start.b * start.d;
  const auto times_inverse = [&](double x, double y) {
    return Point{(x * start.e - y * start.d) / determinant,
                 (y * start.a - x * start.b) / determinant};
  };
  const Point first = times_inverse(found.a, found.b);
  const Point second = times_inverse(found.d, found.e);
  return {(first.x + second.y) / 2, (first.y - second.x) / 2};
}

Point turn_of(Motion motion, const Affine& start, const Affine& found) {
  if (motion == Motion::translation) return {1, 0};
  const Point turn = turned(start, found);
  if (motion == Motion::similarity) return turn;
  const double scale = std::hypot(turn.x, turn.y);
  return {turn.x / scale, turn.y / scale};
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

Homography as_moved(const Homography& start, const Homography& found, Motion motion,
                    const Shape& reference) {
  if (motion == Motion::affine || motion == Motion::homography) return found;
  const Affine before = start.affine();
  const Point turn = turn_of(motion, before, found.affine());
  Affine moved{turn.x * before.a + turn.y * before.d,  turn.x * before.b + turn.y * before.e,  0,
               -turn.y * before.a + turn.x * before.d, -turn.y * before.b + turn.x * before.e, 0};
  const Point centre = centre_of(reference);
  const Point place = found(centre);
  const Point without_shift = moved(centre);
  moved.c = place.x - without_shift.x;
  moved.f = place.y - without_shift.y;
  return moved;
}

}  // namespace warpalign::detail
