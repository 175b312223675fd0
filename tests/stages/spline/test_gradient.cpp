// Value and gradient of a spline in one pass against the oracle, on every device.
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <algorithm>
#include <limits>

namespace {

using test::Point;
using warpalign::Boundary;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::InterpolatePlan;
using warpalign::InterpolateSpec;
using warpalign::PixelType;
using warpalign::Shape;

InterpolateSpec spec_of(int dimensions, int degree, Boundary boundary) {
  constexpr Shape outputs[]{{300, 1, 1}, {29, 17, 1}, {11, 7, 5}};
  return test::small_spline(dimensions, degree, boundary, outputs[dimensions - 1]);
}

struct Pass {
  reference::Volume value;
  reference::Volume gradient;
};

template <class Points>
Pass run(const warpalign::Device& device, const InterpolateSpec& spec,
         const reference::Spline& spline, const Points& points) {
  auto stream = device.make_stream();
  const auto coefficients = test::to_device(device, stream, spline.coefficients);
  auto output = device.make_image(PixelType::f32, spec.output);
  auto gradient = device.make_image(PixelType::f32, InterpolatePlan::coordinates_shape(spec));
  test::poison(stream, output);
  test::poison(stream, gradient);
  const InterpolatePlan plan(device, spec);
  if constexpr (std::is_same_v<Points, HomogeneousMatrix>) {
    plan.execute_with_gradient(stream, coefficients, points, output, gradient);
  } else {
    const auto field = test::to_device(device, stream, test::coordinate_field(spec, points));
    plan.execute_with_gradient(stream, coefficients, field, output, gradient);
    stream.finish();
  }
  return {test::volume_from_device(stream, output), test::volume_from_device(stream, gradient)};
}

/// The largest error of the gradient relative to the largest coefficient. Leaves out points with
/// `skip(point)`.
template <class Skip>
double gradient_error(const reference::Spline& spline, const std::vector<Point>& points,
                      const reference::Volume& gradient, Skip&& skip) {
  const double scale = test::largest(spline.coefficients);
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (skip(points[i])) continue;
    const auto truth = reference::evaluate(spline, points[i]);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(spline.dimensions); ++axis) {
      const double found = gradient.values[axis * points.size() + i];
      const double error = std::abs(found - truth.gradient[axis]) / scale;
      if (!(error <= worst) && !std::isnan(worst)) {
        worst = error;
        if (!(error <= 8e-7)) {
          std::printf("  d/d%c at (%.9g, %.9g, %.9g): %.9g instead of %.9g\n", "xyz"[axis],
                      points[i][0], points[i][1], points[i][2], found, truth.gradient[axis]);
        }
      }
    }
  }
  return worst;
}

/// The absolute slopes of a B-spline's pieces add up to 2, and its weights to 1: hence twice the
/// tolerance of values.
constexpr double contract = 8e-7;

constexpr auto none = [](const Point&) { return false; };

/// Whether the point is just below a sample, so that its fraction rounds to 1 in single precision.
/// Degree 1, whose slope jumps at samples, may then have either slope.
bool just_below_sample(const Point& p) {
  return std::any_of(p.begin(), p.end(), [](double x) {
    const double rest = std::ceil(x) - x;
    return rest > 0 && rest < 0x1p-24;
  });
}

}  // namespace

TEST_CASE("gradient: every degree, boundary and dimension, inside and outside") {
  test::on_every_device([](const warpalign::Device& device) {
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      for (int degree = 1; degree <= 5; ++degree) {
        for (const Boundary boundary : test::boundaries()) {
          if (!test::is_combination_for(device, dimensions, degree, boundary)) continue;
          const auto spec = spec_of(dimensions, degree, boundary);
          CAPTURE(dimensions);
          CAPTURE(degree);
          CAPTURE(std::string(warpalign::name_of(boundary)));
          const auto spline = test::random_spline(spec, 41);
          const auto points = test::random_points(spec, 42);
          const auto found = run(device, spec, spline, points);
          CHECK(test::worst(spline, points, found.value) <= 1);
          const auto skip = [&](const Point& p) { return degree == 1 && just_below_sample(p); };
          CHECK(gradient_error(spline, points, found.gradient, skip) <= contract);
        }
      }
    }
  });
}

TEST_CASE("gradient: under a transform it is relative to the input's coordinates") {
  test::on_every_device([](const warpalign::Device& device) {
    const HomogeneousMatrix t = warpalign::Affine{0.87, 0.33, -3.1, -0.36, 0.91, 6.3};
    for (int degree = 2; degree <= 5; ++degree) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::nearest}) {
        const auto spec = spec_of(2, degree, boundary);
        CAPTURE(degree);
        const auto spline = test::random_spline(spec, 43);
        const auto points = test::points_of(spec, [&](double x, double y, double) {
          return Point{0.87 * x + 0.33 * y - 3.1, -0.36 * x + 0.91 * y + 6.3, 0};
        });
        const auto found = run(device, spec, spline, t);
        CHECK(test::worst(spline, points, found.value, {4e-7, 1e-6}) <= 1);
        // A point may be off by 1e-6 of a pixel (the tolerance for affine transforms); second
        // differences of the coefficients are at most 4 times the largest, on both axes.
        CHECK(gradient_error(spline, points, found.gradient, none) <= contract + 8e-6);
      }
    }
  });
}

TEST_CASE("gradient: at a sample, degree 1 has the slope towards larger coordinates") {
  test::on_every_device([](const warpalign::Device& device) {
    auto spec = spec_of(1, 1, Boundary::mirror);
    spec.images.shape = spec.output = {5, 1, 1};
    reference::Spline spline =
        reference::unfiltered(reference::Volume(5), 1, 1, reference::Edge::mirror);
    spline.coefficients.values = {0, 1, 4, 9, 16};
    const auto found = run(device, spec, spline, HomogeneousMatrix());
    CHECK(found.gradient.values == std::vector<double>{1, 3, 5, 7, -7});
  });
}

TEST_CASE("gradient: zero where the value is constant") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary :
         {Boundary::constant, Boundary::grid_constant, Boundary::nearest}) {
      auto spec = spec_of(2, 3, boundary);
      CAPTURE(std::string(warpalign::name_of(boundary)));
      spec.output = {6, 1, 1};
      const auto spline = test::random_spline(spec, 44);
      const std::vector<Point> points{{-100, 5, 0},      {1e9F, 5, 0}, {INFINITY, 5, 0},
                                      {-INFINITY, 5, 0}, {NAN, 5, 0},  {5, NAN, 0}};
      const auto found = run(device, spec, spline, points);
      for (std::size_t i = 0; i < points.size(); ++i) {
        CAPTURE(i);
        const double along_x = found.gradient.values[i];
        const double along_y = found.gradient.values[points.size() + i];
        CHECK(along_x == 0);
        // Beyond the edge, `nearest` still varies along y.
        if (boundary == Boundary::nearest && i < 4) {
          const auto truth = reference::evaluate(spline, points[i]);
          CHECK(std::abs(along_y - truth.gradient[1]) <=
                contract * test::largest(spline.coefficients));
        } else {
          CHECK(along_y == 0);
        }
      }
    }
    for (const Boundary boundary : {Boundary::mirror, Boundary::grid_wrap}) {
      auto spec = spec_of(2, 3, boundary);
      spec.output = {2, 1, 1};
      const auto spline = test::random_spline(spec, 45);
      const auto found =
          run(device, spec, spline, std::vector<Point>{{NAN, 5, 0}, {INFINITY, 5, 0}});
      for (const double value : found.value.values) CHECK(value == spec.spline.cval);
      for (const double value : found.gradient.values) CHECK(value == 0);
    }
  });
}

TEST_CASE("gradient: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const auto good = spec_of(2, 3, Boundary::mirror);
    const auto coefficients = device.make_image(PixelType::f32, good.images.shape);
    auto output = device.make_image(PixelType::f32, good.output);
    auto bytes = device.make_image(PixelType::u8, good.output);
    auto gradient = device.make_image(PixelType::f32, InterpolatePlan::coordinates_shape(good));
    const auto refused = [&](auto&& change, warpalign::Image& target, warpalign::Image& slopes) {
      InterpolateSpec spec = good;
      change(spec);
      const InterpolatePlan plan(device, spec);
      CHECK_THROWS_AS(
          plan.execute_with_gradient(stream, coefficients, HomogeneousMatrix(), target, slopes),
          Error);
    };
    refused([](auto& s) { s.spline.degree = 0; }, output, gradient);
    refused([](auto& s) { s.output_type = PixelType::u8; }, bytes, gradient);
    refused([](auto& s) { s.spline.precision = warpalign::Precision::texture; }, output, gradient);
    refused([](auto&) {}, output, output);
    refused([](auto&) {}, bytes, gradient);
    const InterpolatePlan plan(device, good);
    HomogeneousMatrix broken;
    broken.m[0] = NAN;
    CHECK_THROWS_AS(plan.execute_with_gradient(stream, coefficients, broken, output, gradient),
                    Error);
    CHECK_THROWS_AS(plan.execute_with_gradient(stream, coefficients, output, output, gradient),
                    Error);
  });
}
