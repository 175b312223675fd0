// The evaluation's pairs agree with their truth: each image drawn from a scene with a known formula
// lies where its transform says, to a thousandth of a pixel.
#include "accuracy/draw.hpp"
#include "accuracy/pair.hpp"
#include "support/corners.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <numbers>

namespace {

using accuracy::Scene;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;

constexpr double pi = std::numbers::pi;

/// Waves of a whole number of periods over a torus, the shortest 32 points long.
struct Waves {
  struct Wave {
    double across, down, phase;
  };
  static constexpr double side = 512;
  static constexpr std::array<Wave, 5> waves{
      {{3, 11, 0.1}, {-13, 4, 0.7}, {9, 9, 0.4}, {16, -2, 0.9}, {-6, 15, 0.3}}};

  [[nodiscard]] double operator()(Point p) const {
    double sum = 128;
    for (const Wave& w : waves) {
      sum += 20 * std::cos(2 * pi * ((w.across * p.x + w.down * p.y) / side + w.phase));
    }
    return sum;
  }
};

Scene raster_of(const Waves& waves) {
  const auto side = static_cast<std::int64_t>(waves.side);
  Scene scene(side, side, accuracy::Outside::repeat);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      scene.at(x, y) = static_cast<float>(waves({static_cast<double>(x), static_cast<double>(y)}));
    }
  }
  return scene;
}

/// How far `picture` lies from where `to_scene` says, in its pixels: least squares over the two
/// components of a shift, against the scene's formula.
Point displacement(const reference::Plane& picture, const Waves& waves,
                   const Homography& to_scene) {
  double xx = 0, xy = 0, yy = 0, xe = 0, ye = 0;
  constexpr double step = 0.05;
  for (std::int64_t v = 0; v < picture.height; ++v) {
    for (std::int64_t u = 0; u < picture.width; ++u) {
      const auto at = [&](double dx, double dy) {
        return waves(to_scene({static_cast<double>(u) + dx, static_cast<double>(v) + dy}));
      };
      const double gx = (at(step, 0) - at(-step, 0)) / (2 * step);
      const double gy = (at(0, step) - at(0, -step)) / (2 * step);
      const double error = picture.at(u, v) - at(0, 0);
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
      xe += gx * error;
      ye += gy * error;
    }
  }
  const double determinant = xx * yy - xy * xy;
  return {(yy * xe - xy * ye) / determinant, (xx * ye - xy * xe) / determinant};
}

}  // namespace

TEST_CASE("accuracy pairs: both pictures lie where the truth says") {
  const Waves waves;
  const Scene scene = raster_of(waves);
  struct Case {
    Shape reference, moving;
    Similarity similarity;
    Homography distortion;
  };
  for (const Case& c :
       {Case{{128, 128, 1}, {128, 128, 1}, {0, 1, {0.37, -0.61}}, {}},
        Case{{120, 96, 1}, {101, 131, 1}, {-71.3, 1.7, {9.2, 4.1}}, {}},
        Case{{120, 120, 1}, {90, 90, 1}, {160, 0.45, {-7.7, 3.3}}, {}},
        Case{{120, 110, 1},
             {130, 120, 1},
             {12, 1.1, {3.3, -2.2}},
             test::moving_corners({120, 110, 1}, {{{4, -3}, {-5, 2}, {6, 5}, {-2, -4}}})}}) {
    CAPTURE(c.similarity.rotation_deg);
    CAPTURE(c.similarity.scale);
    const auto placed = accuracy::place(scene, c.reference, c.moving, c.similarity, {200.3, 317.9},
                                        23, c.distortion);
    const auto truth = Homography(c.similarity.matrix(c.reference, c.moving)) * c.distortion;
    // The two views differ by the truth, to rounding.
    const auto over_moving = placed.moving_to_scene * truth;
    for (const Point p : {Point{0, 0}, Point{95, 0}, Point{0, 95}}) {
      const auto a = over_moving(p);
      const auto b = placed.reference_to_scene(p);
      CHECK(std::hypot(a.x - b.x, a.y - b.y) <= 1e-9);
    }
    // Measured 2e-4 to 6e-4 px: the mean over a pixel and linear interpolation flatten the waves
    // a little, which a fit of the shift alone takes for some of it.
    for (const auto& [shape, view] : {std::pair{c.reference, placed.reference_to_scene},
                                      std::pair{c.moving, placed.moving_to_scene}}) {
      const auto off = displacement(accuracy::draw(scene, view, shape), waves, view);
      CHECK(std::hypot(off.x, off.y) <= 1e-3);
    }
  }
}

TEST_CASE("accuracy pairs: pixels are means over their own area") {
  // A wave along x: the mean over a pixel of width w is the wave times sinc(w / wave length).
  Scene scene(256, 256, accuracy::Outside::repeat);
  const double length = 16;
  for (std::int64_t y = 0; y < 256; ++y) {
    for (std::int64_t x = 0; x < 256; ++x) {
      scene.at(x, y) = static_cast<float>(100 * std::cos(2 * pi * static_cast<double>(x) / length));
    }
  }
  for (const double pixel : {2.0, 6.0}) {
    const Shape shape{16, 16, 1};
    const auto picture = accuracy::draw(scene, Affine{pixel, 0, 40, 0, pixel, 40}, shape);
    const double sinc = std::sin(pi * pixel / length) / (pi * pixel / length);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double wave = 100 * std::cos(2 * pi * (40 + pixel * static_cast<double>(x)) / length);
      // Linear interpolation flattens a wave of 16 points by up to 1.3 % at the samples,
      // and the grid of samples in place of an integral adds under 1 %.
      CHECK(std::abs(picture.at(x, 3) - sinc * wave) <= 2.3);
    }
  }
}

TEST_CASE("accuracy pairs: an index gives the same pair, whatever was made before") {
  const accuracy::Originals originals(accuracy::Use::tune, 192);
  const auto first = accuracy::make_pair(originals, {1, 2, 3}, 192);
  (void)accuracy::make_pair(originals, {1, 0, 0}, 192);
  const auto again = accuracy::make_pair(originals, {1, 2, 3}, 192);
  CHECK(first.reference.pixels == again.reference.pixels);
  CHECK(first.moving.pixels == again.moving.pixels);
  CHECK(first.truth.h == again.truth.h);
  CHECK(accuracy::make_pair(originals, {2, 2, 3}, 192).moving.pixels != again.moving.pixels);
}

TEST_CASE("accuracy pairs: every group can be made, and holds what it promises") {
  const accuracy::Originals originals(accuracy::Use::report, 192);
  const auto& groups = accuracy::all_groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t index = 0; index < 6; ++index) {
      CAPTURE(groups[group].name);
      CAPTURE(index);
      const auto pair = accuracy::make_pair(originals, {5, group, index}, 192);
      CHECK(pair.reference.pixels.size() ==
            static_cast<std::size_t>(pair.reference.shape.pixels()));
      CHECK(pair.moving.pixels.size() == static_cast<std::size_t>(pair.moving.shape.pixels()));
      CHECK(pair.related == (std::string(groups[group].name) != "unrelated"));
      if (pair.related) CHECK(pair.common >= pair.recipe.min_common);
    }
  }
}
