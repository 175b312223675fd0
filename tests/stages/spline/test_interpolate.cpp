// B-spline evaluation in full precision against the oracle, on every device.
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <limits>
#include <random>

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
  constexpr Shape outputs[]{{500, 1, 1}, {37, 21, 1}, {11, 7, 5}};
  return test::small_spline(dimensions, degree, boundary, outputs[dimensions - 1]);
}

#define WARPALIGN_CAPTURE(spec)                                   \
  CAPTURE(spec.images.dimensions);                                \
  CAPTURE(spec.spline.degree);                                    \
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary))); \
  CAPTURE(std::string(warpalign::name_of(spec.output_type)));     \
  CAPTURE(warpalign::to_string(spec.images.shape))

void compare_at(const warpalign::Device& device, const InterpolateSpec& spec,
                const std::vector<Point>& points) {
  WARPALIGN_CAPTURE(spec);
  const auto spline = test::random_spline(spec, 21);
  const auto found = test::interpolated_at(device, spec, spline, points);
  CHECK(test::worst(spline, points, found) <= 1);
}

template <class Body>
void for_all(const warpalign::Device& device, Body&& body) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    for (int degree = 0; degree <= 5; ++degree) {
      for (const Boundary boundary : test::boundaries()) {
        if (test::is_combination_for(device, dimensions, degree, boundary))
          body(spec_of(dimensions, degree, boundary));
      }
    }
  }
}

template <class T, class Execute>
void compare_grid(const warpalign::Device& device, const InterpolateSpec& spec,
                  const reference::SplineOf<T>& spline, std::vector<Point> points,
                  const test::Allowance& allowance, Execute&& execute) {
  WARPALIGN_CAPTURE(spec);
  auto found = test::interpolated(device, spec, spline, execute);
  CHECK(test::without_jumps(spec, spline, points, found) > points.size() / 2);
  CHECK(test::worst(spline, points, found, allowance) <= 1);
}

void compare_transform(const warpalign::Device& device, const InterpolateSpec& spec,
                       const HomogeneousMatrix& transform, double point_error) {
  const auto spline = test::random_spline(spec, 22);
  const auto points = test::points_of(spec, [&](double x, double y, double z) {
    return test::transformed(transform, {x, y, z});
  });
  compare_grid(device, spec, spline, points, {4e-7, point_error},
               [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                 plan.execute(stream, coefficients, transform, output);
               });
}

/// The transform's points are computed to 1e-6 of a pixel at any position, which is more than
/// single precision.
constexpr double point_error = 1e-6;

/// Images and outputs larger than a work group's tile or its copy in local memory, rotated, and
/// partly outside on every side. Row lengths are multiples of four and others.
void compare_tiles(int dimensions, int degree, Boundary boundary) {
  const HomogeneousMatrix plane = warpalign::Affine{0.97, 0.28, -31.7, -0.29, 0.94, 6.3};
  const HomogeneousMatrix half = warpalign::Affine{-1.9, 0.7, 150.3, 0.6, 1.8, -40.1};
  const auto space = HomogeneousMatrix::affine3(
      {0.93, 0.21, -0.19, -4.6, -0.22, 1.06, 0.11, 1.33, 0.14, -0.16, 0.81, 1.45});
  test::on_every_device([&](const warpalign::Device& device) {
    auto spec = spec_of(dimensions, degree, boundary);
    if (dimensions == 3) {
      spec.images.shape = {40, 37, 30};
      spec.output = {33, 19, 17};
      compare_transform(device, spec, space, point_error);
      return;
    }
    spec.output = {150, 131, 1};
    spec.images.shape = {160, 141, 1};
    compare_transform(device, spec, plane, point_error);
    spec.images.shape = {163, 80, 1};
    compare_transform(device, spec, half, point_error);
  });
}

}  // namespace

TEST_CASE("interpolate: every degree, boundary and dimension, inside and far outside") {
  test::on_every_device([](const warpalign::Device& device) {
    for_all(device, [&](const InterpolateSpec& spec) {
      compare_at(device, spec, test::random_points(spec, 23));
    });
  });
}

TEST_CASE("interpolate: every extent from 1 to 33 along every axis") {
  test::on_every_device([](const warpalign::Device& device) {
    for_all(device, [&](InterpolateSpec spec) {
      spec.output = {64, spec.images.dimensions == 1 ? 1 : 4, 1};
      for (const Shape& image : test::every_extent(spec.images.dimensions)) {
        spec.images.shape = image;
        compare_at(device, spec, test::random_points(spec, 24));
      }
    });
  });
}

TEST_CASE("interpolate: images of one, two and three samples") {
  const auto test_images = [](InterpolateSpec spec, const std::vector<Shape>& images) {
    test::on_every_device([&](const warpalign::Device& device) {
      if (!test::is_combination_for(device, spec.images.dimensions, spec.spline.degree,
                                    spec.spline.boundary)) {
        return;
      }
      for (const Shape& image : images) {
        spec.images.shape = image;
        compare_at(device, spec, test::random_points(spec, 24));
      }
    });
  };
  for (int degree = 0; degree <= 5; ++degree) {
    for (const Boundary boundary : test::boundaries()) {
      test_images(spec_of(2, degree, boundary), {{1, 1}, {1, 3}, {2, 1}, {3, 2}});
      test_images(spec_of(3, degree, boundary), {{1, 1, 1}, {1, 2, 3}, {2, 2, 2}, {3, 1, 2}});
    }
  }
}

// With equal neighbours the errors of the sums of weights add up over the axes.
TEST_CASE("interpolate: a constant volume stays constant") {
  test::on_every_device([](const warpalign::Device& device) {
    for (int degree = 0; degree <= 5; ++degree) {
      auto spec = spec_of(3, degree, Boundary::mirror);
      spec.output = {97, 89, 11};
      WARPALIGN_CAPTURE(spec);
      auto spline = test::random_spline(spec, 43);
      for (double& value : spline.coefficients.values) value = 1.2345678F;
      std::mt19937 engine(44);
      const auto points = test::points_of(spec, [&](double, double, double) {
        Point p{};
        for (double& along : p) along = static_cast<float>(static_cast<double>(engine()) * 0x1p-30);
        return p;
      });
      CHECK(test::worst(spline, points, test::interpolated_at(device, spec, spline, points)) <= 1);
    }
  });
}

TEST_CASE("interpolate: samples taken as coefficients smooth, extended by the boundary") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int degree : {2, 3, 5}) {
      for (const Boundary boundary : test::boundaries()) {
        auto spec = spec_of(2, degree, boundary);
        spec.spline.prefilter = std::nullopt;
        compare_at(device, spec, test::random_points(spec, 25));
      }
    }
  });
}

// The coordinates are floats, so the folded point is known exactly at any size.
TEST_CASE("interpolate: huge, infinite and NaN coordinates have the mode's value") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> strange{1e5F,   -1e5F,    1e6F + 0.5F,  16777215,      -16777218,
                                      1e9F,   -1e9F,    2147483648.0, -2147483648.0, 4294967296.0,
                                      1e18F,  -1e18F,   1e30F,        -1e30F,        3e38F,
                                      -3e38F, infinity, -infinity,    NAN,           3.25};
    for_all(device, [&](InterpolateSpec spec) {
      if (spec.spline.degree == 2 || spec.spline.degree == 4)
        return;  // they would test nothing that degrees 0, 3 and 5 do not
      // For power-of-two periods, coordinates of 2^24 and more are multiples of the period; 37, 23
      // and 18 - 1 are no such periods.
      spec.output = {20, spec.images.dimensions >= 2 ? 20 : 1, 1};
      WARPALIGN_CAPTURE(spec);
      auto points = test::points_of(spec, [&](double x, double y, double) {
        const double other = strange[static_cast<std::size_t>(y)];
        return Point{strange[static_cast<std::size_t>(x)], spec.images.dimensions > 1 ? other : 0,
                     spec.images.dimensions > 2 ? 2.5 : 0};
      });
      const auto spline = test::random_spline(spec, 26);
      auto found = test::interpolated_at(device, spec, spline, points);
      // values jump at negative multiples of n - 1
      for (std::size_t i = 0; i < points.size(); ++i) {
        const bool finite = std::isfinite(points[i][0]) && std::isfinite(points[i][1]);
        if (spec.spline.boundary == Boundary::wrap && finite && test::near_jump(spec, points[i])) {
          found.values[i] = reference::evaluate(spline, points[i]).value;
        }
      }
      CHECK(test::worst(spline, points, found) <= 1);
    });
  });
}

TEST_CASE("interpolate: complex coefficients") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto& [dimensions, degree] : {std::pair{1, 5}, {2, 0}, {2, 1}, {2, 3}, {3, 3}}) {
      for (const Boundary boundary :
           {Boundary::mirror, Boundary::grid_constant, Boundary::constant}) {
        auto spec = spec_of(dimensions, degree, boundary);
        spec.coefficients = spec.output_type = PixelType::c32;
        WARPALIGN_CAPTURE(spec);
        const auto spline = test::random_complex_spline(spec, 27);
        const auto points = test::random_points(spec, 28);
        const auto found = test::interpolated_at(device, spec, spline, points);
        CHECK(test::worst(spline, points, found) <= 1);
      }
    }
  });
}

TEST_CASE("interpolate: integers are rounded and saturated, halves are halves") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto& [type, most] : {std::pair{PixelType::u8, 255.0}, {PixelType::u16, 65535.0}}) {
      for (const int degree : {1, 3}) {
        auto spec = spec_of(2, degree, Boundary::mirror);
        spec.output_type = type;
        WARPALIGN_CAPTURE(spec);
        auto spline = test::random_spline(spec, 29);
        for (double& c : spline.coefficients.values) {
          // some values exceed both ends of the range
          c = static_cast<float>((0.5 + 0.8 * c) * most);
        }
        const auto points = test::random_points(spec, 30);
        const auto found = test::interpolated_at(device, spec, spline, points);
        const double error = 4e-7 * test::largest(spline.coefficients);
        int saturated = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
          const double value = reference::evaluate(spline, points[i]).value;
          // If the value is a tie to within the tolerance, either neighbour is right.
          const bool right = found.values[i] == reference::as_integer(value - error, most) ||
                             found.values[i] == reference::as_integer(value + error, most);
          CAPTURE(value);
          CHECK(right);
          saturated += value < 0 || value > most;
        }
        CHECK(saturated > 20);
      }
    }
    auto spec = spec_of(2, 3, Boundary::mirror);
    spec.output_type = PixelType::f16;
    const auto spline = test::random_spline(spec, 31);
    const auto points = test::random_points(spec, 32);
    const auto found = test::interpolated_at(device, spec, spline, points);
    // Halves in [1, 2) have a spacing of 2^-10. The results stay below 4: half of a spacing of
    // 2^-9.
    CHECK(test::largest(spline.coefficients) < 4 * 4);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = reference::evaluate(spline, points[i]).value;
      CHECK(std::abs(found.values[i] - value) <= std::abs(value) * 0x1p-11 + 4e-7 * 16);
    }
  });
}

TEST_CASE("interpolate: halves round away from zero, and every integer is kept") {
  test::on_every_device([](const warpalign::Device& device) {
    auto spec = spec_of(1, 0, Boundary::nearest);
    spec.images.shape = spec.output = {10, 1, 1};
    reference::Spline spline;
    spline.dimensions = 1;
    spline.coefficients = reference::Volume(10);
    spline.coefficients.values = {0.5, 1.5, 2.5, -0.5, -7, 254.5, 255.5, 300, 1e9, 0.49999997};
    const std::vector<double> bytes{1, 2, 3, 0, 0, 255, 255, 255, 255, 0};
    const std::vector<double> words{1, 2, 3, 0, 0, 255, 256, 300, 65535, 0};
    for (const auto& [type, expected] :
         {std::pair{PixelType::u8, bytes}, {PixelType::u16, words}}) {
      spec.output_type = type;
      const auto found = test::interpolated(
          device, spec, spline,
          [](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
            plan.execute(stream, coefficients, HomogeneousMatrix(), output);
          });
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(spline.coefficients.values[i]);
        CHECK(found.values[i] == expected[i]);
      }
    }
  });
}

TEST_CASE("interpolate: affine transforms") {
  test::on_every_device([](const warpalign::Device& device) {
    const HomogeneousMatrix line = warpalign::Affine{0.13, 0, -9.3, 0, 1, 0};
    const HomogeneousMatrix plane = warpalign::Affine{0.87, 0.33, -3.1, -0.36, 0.91, 6.3};
    const auto space = HomogeneousMatrix::affine3(
        {0.93, 0.21, -0.19, -0.6, -0.22, 1.06, 0.11, 0.33, 0.14, -0.16, 0.81, 1.45});
    for_all(device, [&](const InterpolateSpec& spec) {
      const HomogeneousMatrix& t = spec.images.dimensions == 1   ? line
                                   : spec.images.dimensions == 2 ? plane
                                                                 : space;
      compare_transform(device, spec, t, point_error);
    });
  });
}

TEST_CASE("interpolate: shifts, whose points all have the same weights") {
  test::on_every_device([](const warpalign::Device& device) {
    for_all(device, [&](InterpolateSpec spec) {
      if (spec.images.dimensions == 3) return;
      // Rows of more than one segment of 64 points, and some of another length.
      const std::int64_t height = spec.images.dimensions == 1 ? 1 : 9;
      spec.images.shape = {187, height, 1};
      spec.output = {171, height, 1};
      compare_transform(device, spec, warpalign::Affine{1, 0, 4.31, 0, 1, height == 1 ? 0 : -0.62},
                        point_error);
    });
  });
}

TEST_CASE("interpolate: cubic splines of images of several tiles") {
  for (const Boundary boundary : {Boundary::constant, Boundary::nearest}) {
    compare_tiles(2, 3, boundary);
    compare_tiles(3, 3, boundary);
  }
}

TEST_CASE("interpolate: other boundaries and degrees of images of several tiles") {
  for (const Boundary boundary : test::boundaries()) {
    if (boundary == Boundary::constant || boundary == Boundary::nearest) {
      for (const int degree : {4, 5}) {
        compare_tiles(2, degree, boundary);
        compare_tiles(3, degree, boundary);
      }
    } else {
      compare_tiles(2, 3, boundary);
      compare_tiles(3, 3, boundary);
    }
  }
}

TEST_CASE("interpolate: homographies and perspective transforms of space") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto plane =
        HomogeneousMatrix::homography({1.1, 0.2, -2.3, -0.15, 0.9, 3.7, 0.011, -0.007, 1.05});
    auto space = HomogeneousMatrix::affine3(
        {0.93, 0.21, -0.19, -0.6, -0.22, 1.06, 0.11, 0.33, 0.14, -0.16, 0.81, 1.45});
    space.m[12] = 0.02;
    space.m[13] = -0.03;
    space.m[14] = 0.04;
    for (const Boundary boundary : test::boundaries()) {
      compare_transform(device, spec_of(2, 3, boundary), plane, point_error);
      compare_transform(device, spec_of(2, 2, boundary), plane, point_error);
    }
    compare_transform(device, spec_of(3, 3, Boundary::mirror), space, point_error);
    compare_transform(device, spec_of(3, 1, Boundary::grid_constant), space, point_error);
  });
}

// A denominator of zero gives infinity or NaN: the result is that of the boundary mode, without a
// fault.
TEST_CASE("interpolate: a homography's horizon has the mode's value") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto t =
        HomogeneousMatrix::homography({1, 0, 0, 0, 1, 0, 0.125, 0, -1});  // w = 0 at x = 8
    for (const Boundary boundary : test::boundaries()) {
      const auto spec = spec_of(2, 3, boundary);
      CAPTURE(std::string(warpalign::name_of(boundary)));
      const auto spline = test::random_spline(spec, 33);
      const auto found =
          test::interpolated(device, spec, spline,
                             [&](const auto& plan, auto& stream, const auto& coefficients,
                                 auto& output) { plan.execute(stream, coefficients, t, output); });
      for (const double value : found.values) {
        CHECK(std::abs(value) <= std::max(test::largest(spline.coefficients), spec.spline.cval));
      }
      // At x = 8 the point is (8, y, 1) / 0, infinite in x. The value is cval, except for
      // `nearest`, whose edge depends on y.
      if (boundary != Boundary::nearest) CHECK(found.at(8, 4) == doctest::Approx(spec.spline.cval));
    }
  });
}

// Single-precision coordinates of 16000 are off by 1e-3 of a pixel, which would fail this test.
TEST_CASE("interpolate: transforms of long images keep their precision") {
  test::on_every_device([](const warpalign::Device& device) {
    auto spec = spec_of(1, 3, Boundary::mirror);
    spec.images.shape = {16000, 1, 1};
    spec.output = {16001, 1, 1};
    spec.spline.prefilter = warpalign::PrefilterMethod::exact;
    auto spline = reference::unfiltered(test::random_volume(spec.images.shape, -1, 1, 34), 1, 3,
                                        reference::Edge::mirror);
    const auto run = [&](const HomogeneousMatrix& transform) {
      const auto points = test::points_of(spec, [&](double x, double, double) {
        return test::transformed(transform, {x, 0, 0});
      });
      compare_grid(device, spec, spline, points, {4e-7, point_error},
                   [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                     plan.execute(stream, coefficients, transform, output);
                   });
    };
    run(warpalign::Affine{0.99937, 0, 0.123456789, 0, 1, 0});
    run(HomogeneousMatrix::zoom(spec.images.shape, spec.output));
    run(HomogeneousMatrix::homography({1.0001, 0, 1.0 / 3, 0, 1, 0, 1e-6, 0, 1}));
  });
}

TEST_CASE("interpolate: a zoom meets the samples at its corners") {
  test::on_every_device([](const warpalign::Device& device) {
    auto spec = spec_of(2, 3, Boundary::constant);
    spec.output = {2 * 22 + 1, 3 * 17 + 1, 1};
    const auto transform = HomogeneousMatrix::zoom(spec.images.shape, spec.output);
    const auto samples = test::random_volume(spec.images.shape, -1, 1, 35);
    const auto spline = reference::unfiltered(
        test::as_floats(reference::solve(samples, 2, 3, reference::Edge::mirror).coefficients), 2,
        3, reference::Edge::constant, spec.spline.cval);
    const auto found = test::interpolated(
        device, spec, spline,
        [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
          plan.execute(stream, coefficients, transform, output);
        });
    // The last column's point is exactly 22; anything more, and `constant` would give cval.
    const double allowed = 1e-6 * test::largest(spline.coefficients);
    for (std::int64_t y = 0; y < 18; ++y) {
      for (std::int64_t x = 0; x < 23; ++x) {
        CHECK(std::abs(found.at(2 * x, 3 * y) - samples.at(x, y)) <= allowed);
      }
    }
  });
}

// exp, cos and sin in single precision are off by a few 2^-24: at radii of up to 30 pixels, by
// 1e-5.
TEST_CASE("interpolate: a log-polar grid, angles from x towards y") {
  test::on_every_device([](const warpalign::Device& device) {
    const warpalign::LogPolarSampling grid{10.25, 8.5, std::log(0.5), std::log(30 / 0.5) / 36,
                                           -1.25, 0.31};
    for (const int degree : {1, 3, 5}) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::constant, Boundary::nearest}) {
        const auto spec = spec_of(2, degree, boundary);
        const auto spline = test::random_spline(spec, 36);
        const auto points = test::points_of(spec, [&](double i, double j, double) {
          const double radius = std::exp(grid.log_radius0 + i * grid.log_step);
          const double angle = grid.angle0 + j * grid.angle_step;
          return Point{grid.centre_x + radius * std::cos(angle),
                       grid.centre_y + radius * std::sin(angle), 0};
        });
        compare_grid(device, spec, spline, points, {4e-7, 2e-5},
                     [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                       plan.execute(stream, coefficients, grid, output);
                     });
      }
    }
  });
}

TEST_CASE("interpolate: one plan serves many executions") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto spec = spec_of(2, 3, Boundary::mirror);
    const auto spline = test::random_spline(spec, 37);
    auto stream = device.make_stream();
    const auto coefficients = test::to_device(device, stream, spline.coefficients);
    const InterpolatePlan plan(device, spec);
    std::vector<warpalign::Image> outputs;
    for (int i = 0; i < 4; ++i) {  // enqueued without waiting, each with its own transform
      outputs.push_back(device.make_image(PixelType::f32, spec.output));
      plan.execute(stream, coefficients, warpalign::Affine::translation(0.25 * i, -i),
                   outputs.back());
    }
    for (int i = 0; i < 4; ++i) {
      const auto points = test::points_of(spec, [&](double x, double y, double) {
        return Point{x + 0.25 * i, y - i, 0};
      });
      const auto found = test::volume_from_device(stream, outputs[static_cast<std::size_t>(i)]);
      CHECK(test::worst(spline, points, found, {4e-7, point_error}) <= 1);
    }
  });
}

TEST_CASE("interpolate: after the prefilter, samples come back") {
  test::on_every_device([](const warpalign::Device& device) {
    for (int degree = 2; degree <= 5; ++degree) {
      for (const Boundary boundary : test::boundaries()) {
        auto spec = spec_of(2, degree, boundary);
        spec.output = spec.images.shape;
        WARPALIGN_CAPTURE(spec);
        warpalign::PrefilterSpec filter;
        filter.images.shape = spec.images.shape;
        filter.spline.degree = degree;
        filter.spline.boundary = boundary;
        filter.spline.cval = spec.spline.cval;
        auto stream = device.make_stream();
        const auto samples = test::random_volume(spec.images.shape, -1, 1, 38);
        const auto input = test::to_device(device, stream, samples);
        auto coefficients =
            device.make_image(PixelType::f32, InterpolatePlan::coefficient_shape(spec));
        auto output = device.make_image(PixelType::f32, spec.output);
        warpalign::PrefilterPlan(device, filter).execute(stream, input, coefficients);
        const InterpolatePlan plan(device, spec);
        plan.execute(stream, coefficients, HomogeneousMatrix(), output);
        // The tolerances of both stages, relative to the largest coefficient.
        const double scale = test::largest(test::volume_from_device(stream, coefficients));
        const auto found = test::volume_from_device(stream, output);
        CHECK(test::max_difference(found, samples) <= 8e-7 * scale);
      }
    }
  });
}

TEST_CASE("interpolate: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto good = spec_of(2, 3, Boundary::mirror);
    const auto refused = [&](auto&& change) {
      InterpolateSpec spec = good;
      change(spec);
      CHECK_THROWS_AS(InterpolatePlan(device, spec), Error);
    };
    using warpalign::Precision;
    refused([](auto& s) { s.spline.degree = -1; });
    refused([](auto& s) { s.spline.degree = 6; });
    refused([](auto& s) { s.images.dimensions = 0; });
    refused([](auto& s) { s.images.dimensions = 4; });
    refused([](auto& s) { s.images.dimensions = 1; });
    refused([](auto& s) { s.images.shape.depth = 2; });
    refused([](auto& s) { s.output.depth = 2; });
    refused([](auto& s) { s.images.shape.width = 0; });
    refused([](auto& s) { s.output.height = 0; });
    refused([](auto& s) { s.spline.cval = NAN; });
    refused([](auto& s) { s.spline.cval = INFINITY; });
    refused([](auto& s) { s.coefficients = PixelType::u8; });
    refused([](auto& s) { s.coefficients = PixelType::c32; });
    refused([](auto& s) { s.output_type = PixelType::c32; });
    refused([](auto& s) {
      s.spline.precision = Precision::texture;
      s.spline.degree = 2;
    });
    refused([](auto& s) {
      s.spline.precision = Precision::texture;
      s.spline.degree = 0;
    });
    refused([](auto& s) {
      s.spline.precision = Precision::texture_lut;
      s.spline.degree = 5;
    });
    refused([](auto& s) {
      s.spline.precision = Precision::texture;
      s.images.dimensions = 1;
      s.images.shape.height = s.output.height = 1;
    });
    refused([](auto& s) {
      s.spline.precision = Precision::texture;
      s.coefficients = s.output_type = PixelType::c32;
    });

    auto stream = device.make_stream();
    const InterpolatePlan plan(device, good);
    const auto coefficients = device.make_image(PixelType::f32, good.images.shape);
    auto output = device.make_image(PixelType::f32, good.output);
    auto small = device.make_image(PixelType::f32, {3, 3, 1});
    auto bytes = device.make_image(PixelType::u8, good.output);
    const auto field = device.make_image(PixelType::f32, {37, 21, 2});
    CHECK_THROWS_AS(plan.execute(stream, small, HomogeneousMatrix(), output), Error);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, HomogeneousMatrix(), small), Error);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, HomogeneousMatrix(), bytes), Error);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, small, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, output, output), Error);
    HomogeneousMatrix broken;
    for (const double value : {NAN, INFINITY}) {
      broken.m[3] = value;
      CHECK_THROWS_AS(plan.execute(stream, coefficients, broken, output), Error);
    }
    warpalign::LogPolarSampling grid;
    grid.angle_step = NAN;
    CHECK_THROWS_AS(plan.execute(stream, coefficients, grid, output), Error);
    const auto space = spec_of(3, 1, Boundary::mirror);
    const auto cube = device.make_image(PixelType::f32, space.images.shape);
    auto cube_output = device.make_image(PixelType::f32, space.output);
    CHECK_THROWS_AS(InterpolatePlan(device, space)
                        .execute(stream, cube, warpalign::LogPolarSampling(), cube_output),
                    Error);
    // The plan expects a margin, so coefficients without one are refused.
    const auto nearest = spec_of(2, 3, Boundary::nearest);
    CHECK_THROWS_AS(
        InterpolatePlan(device, nearest).execute(stream, coefficients, HomogeneousMatrix(), output),
        Error);
  });
}
