// The reported values of a transform, compared with their definitions.
#include "registration/pair/registration_result.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

namespace detail = warpalign::detail;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape reference{101, 61, 1};
constexpr Shape moving{81, 91, 1};
constexpr Point centre{50, 30};
constexpr Point target{40, 45};

}  // namespace

TEST_CASE("registration result: a similarity's own parameters, its matrix and its homography") {
  const Similarity similarity{-33, 1.4, {7, -5}};
  const Affine matrix = similarity.matrix(reference, moving);
  const auto result = detail::alignment_of(matrix, reference, moving);
  CHECK(result.motion == Motion::similarity);
  CHECK(result.similarity.rotation_deg == doctest::Approx(-33));
  CHECK(result.similarity.scale == doctest::Approx(1.4));
  CHECK(result.similarity.translation.x == doctest::Approx(7));
  CHECK(result.similarity.translation.y == doctest::Approx(-5));
  CHECK(result.homography.is_affine());
  CHECK(result.homography({3, 4}).x == doctest::Approx(matrix({3, 4}).x));
}

TEST_CASE("registration result: a homography is reported with its approximation at the centre") {
  Homography homography(Similarity{20, 1.2, {3, -2}}.matrix(reference, moving));
  homography.h[6] = 1e-3;
  homography.h[7] = -2e-3;
  const auto result = detail::alignment_of(Motion::homography, homography, reference, moving);
  CHECK(result.motion == Motion::homography);
  CHECK(result.homography.h == homography.h);
  // The value and the slopes must agree, by finite differences.
  constexpr double step = 1e-4;
  const auto slope = [&](const auto& m, double x, double y) {
    const Point there = m({centre.x + x * step, centre.y + y * step});
    const Point back = m({centre.x - x * step, centre.y - y * step});
    return Point{(there.x - back.x) / (2 * step), (there.y - back.y) / (2 * step)};
  };
  const Point mapped_centre = homography(centre);
  CHECK(result.matrix(centre).x == doctest::Approx(mapped_centre.x));
  CHECK(result.matrix(centre).y == doctest::Approx(mapped_centre.y));
  for (const Point along : {Point{1, 0}, Point{0, 1}}) {
    const Point expected = slope(homography, along.x, along.y);
    const Point found = slope(result.matrix, along.x, along.y);
    CHECK(found.x == doctest::Approx(expected.x).epsilon(1e-6));
    CHECK(found.y == doctest::Approx(expected.y).epsilon(1e-6));
  }
  CHECK(result.similarity.translation.x == doctest::Approx(mapped_centre.x - target.x));
  CHECK(result.similarity.translation.y == doctest::Approx(mapped_centre.y - target.y));
  const Affine& m = result.matrix;
  CHECK(result.similarity.scale == doctest::Approx(std::sqrt(m.a * m.e - m.b * m.d)));
}

TEST_CASE("registration result: the similarity is the rotation and scale without the stretch") {
  // A symmetric stretch of area 1, followed by a rotation by 25 degrees counter-clockwise as
  // displayed.
  const Affine rotation = Similarity{25, 1.5, {}}.matrix(reference, reference);
  for (const Affine& stretch :
       {Affine{1.25, 0, 0, 0, 0.8, 0}, Affine{1.25, 0.75, 0, 0.75, 1.25, 0}}) {
    const auto result =
        detail::alignment_of(Motion::affine, Homography(rotation * stretch), reference, moving);
    CHECK(result.similarity.rotation_deg == doctest::Approx(25));
    CHECK(result.similarity.scale == doctest::Approx(1.5));
  }
}
