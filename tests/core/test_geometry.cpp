// Transforms of the plane, and FFT-friendly sizes.
#include <warpalign/error.hpp>
#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <limits>

using warpalign::Affine;
using warpalign::Homography;
using warpalign::Similarity;

TEST_CASE("geometry: composition applies the right factor first, and inverses undo") {
  const Affine m{1.5, -0.2, 3, 0.4, 0.9, -7};
  const Affine n{0.3, 1.1, 2, -0.8, 0.1, 5};
  const auto direct = m(n({3, 4}));
  const auto composed = (m * n)({3, 4});
  CHECK(composed.x == doctest::Approx(direct.x));
  CHECK(composed.y == doctest::Approx(direct.y));
  const auto back = m.inverse()(m({3, 4}));
  CHECK(back.x == doctest::Approx(3));
  CHECK(back.y == doctest::Approx(4));
  CHECK_THROWS_AS((void)Affine({1, 2, 0, 2, 4, 0}).inverse(), warpalign::Error);
}

TEST_CASE("geometry: an affine transform that is not finite has no inverse") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const Affine& bad : {Affine{nan, 0, 0, 0, 1, 0}, Affine{infinite, 0, 0, 0, 1, 0},
                            Affine{1, 0, nan, 0, 1, 0}, Affine{1, 0, 0, 0, 1, infinite}}) {
    CHECK_THROWS_WITH_AS((void)bad.inverse(), doctest::Contains("no inverse"), warpalign::Error);
  }
}

// All entries differ, and none is 0 or 1, so that each of them affects the result.
TEST_CASE("geometry: homographies are composed, and their inverses undo") {
  const Homography m(std::array<double, 9>{1.5, -0.2, 3, 0.4, 0.9, -7, 0.002, -0.003, 1.2});
  const Homography n(std::array<double, 9>{0.3, 1.1, 2, -0.8, 0.1, 5, -0.004, 0.001, 0.7});
  for (const warpalign::Point p : {warpalign::Point{3, 4}, {-20, 11}, {60, -35}}) {
    const auto direct = m(n(p));
    const auto composed = (m * n)(p);
    CHECK(composed.x == doctest::Approx(direct.x));
    CHECK(composed.y == doctest::Approx(direct.y));
    const auto back = m.inverse()(m(p));
    CHECK(back.x == doctest::Approx(p.x));
    CHECK(back.y == doctest::Approx(p.y));
  }
  const Homography flat(std::array<double, 9>{1, 2, 3, 2, 4, 6, 0.1, 0.2, 1});
  CHECK_THROWS_AS((void)flat.inverse(), warpalign::Error);
}

// The error of a first-order expansion decreases with the square of the step: 1e-8 for a step of
// 1e-4.
TEST_CASE("geometry: a homography's affine transform at a point agrees with it to first order") {
  const Homography m(std::array<double, 9>{1.5, -0.2, 3, 0.4, 0.9, -7, 0.002, -0.003, 1.2});
  constexpr double step = 1e-4;
  const Affine near = m.affine_at({30, -20});
  for (const warpalign::Point p : {warpalign::Point{30, -20}, {30 + step, -20}, {30, -20 + step}}) {
    CHECK(near(p).x == doctest::Approx(m(p).x).epsilon(1e-8));
    CHECK(near(p).y == doctest::Approx(m(p).y).epsilon(1e-8));
  }
}

TEST_CASE("geometry: a similarity's matrix is s [[cos r, sin r], [-sin r, cos r]] about centres") {
  const warpalign::Shape reference{101, 51, 1};
  const warpalign::Shape moving{201, 151, 1};
  const Affine m = Similarity{30, 2, {5, -6}}.matrix(reference, moving);
  CHECK(m.a == doctest::Approx(std::sqrt(3.0)));
  CHECK(m.b == doctest::Approx(1));
  CHECK(m.d == doctest::Approx(-1));
  CHECK(m.e == doctest::Approx(std::sqrt(3.0)));
  const auto centre = m({50, 25});
  CHECK(centre.x == doctest::Approx(105));
  CHECK(centre.y == doctest::Approx(69));
}

TEST_CASE("geometry: a similarity is recovered from its matrix") {
  const warpalign::Shape reference{101, 52, 1};
  const warpalign::Shape moving{200, 151, 1};
  const Similarity truth{-157, 0.37, {5.5, -6.25}};
  const Similarity found = Similarity::of(truth.matrix(reference, moving), reference, moving);
  CHECK(found.rotation_deg == doctest::Approx(truth.rotation_deg));
  CHECK(found.scale == doctest::Approx(truth.scale));
  CHECK(found.translation.x == doctest::Approx(truth.translation.x));
  CHECK(found.translation.y == doctest::Approx(truth.translation.y));
}

TEST_CASE("geometry: friendly sizes are the next with factors 2, 3, 5 and 7") {
  CHECK(warpalign::fft_friendly_size(1) == 1);
  CHECK(warpalign::fft_friendly_size(2) == 2);
  CHECK(warpalign::fft_friendly_size(11) == 12);
  CHECK(warpalign::fft_friendly_size(1, 2) == 2);
  CHECK(warpalign::fft_friendly_size(509) == 512);
  CHECK(warpalign::fft_friendly_size(641) == 648);
  CHECK(warpalign::fft_friendly_size(641, 8) == 648);
  CHECK(warpalign::fft_friendly_size(1024, 8) == 1024);
  CHECK(warpalign::fft_friendly_size(1025, 8) == 1080);
  CHECK_THROWS_AS((void)warpalign::fft_friendly_size(0), warpalign::Error);
  CHECK_THROWS_AS((void)warpalign::fft_friendly_size(100, 0), warpalign::Error);
  CHECK_THROWS_AS((void)warpalign::fft_friendly_size(100, 11), warpalign::Error);
  CHECK(warpalign::fft_friendly_size(1 << 30) == 1 << 30);
  CHECK(warpalign::fft_friendly_size(5, 1 << 30) == 1 << 30);
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS((void)warpalign::fft_friendly_size(largest, 2), warpalign::Error);
  CHECK_THROWS_AS((void)warpalign::fft_friendly_size(3, std::int64_t{1} << 62), warpalign::Error);
}
