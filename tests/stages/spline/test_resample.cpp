// Prefilter and evaluation in one plan against the oracle, on every device.
//
// Backends may have a fused kernel for both, which core uses when it applies. The images here have
// tiles inside, across edges and outside, and the transforms include some that the kernel supports
// and some that it does not.
#include "reference/spline/prefilter.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/resample.hpp>

#include <limits>
#include <numbers>

namespace {

using test::Point;
using warpalign::Affine;
using warpalign::Boundary;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::PrefilterMethod;
using warpalign::ResamplePlan;
using warpalign::ResampleSpec;
using warpalign::Shape;

/// 4e-7 of the largest coefficient for the prefilter and as much for the evaluation; points are
/// computed in more than single precision.
constexpr test::Allowance allowance{8e-7, 1e-6};

/// Rotates about the centres, with `factor` samples per pixel.
Affine rotated(const Shape& image, const Shape& output, double degrees, double factor = 1) {
  const double c = factor * std::cos(degrees * std::numbers::pi / 180);
  const double s = factor * std::sin(degrees * std::numbers::pi / 180);
  const auto middle = [](std::int64_t n) { return static_cast<double>(n - 1) / 2; };
  const double x = middle(output.width), y = middle(output.height);
  return {c, -s, middle(image.width) - c * x + s * y, s, c, middle(image.height) - s * x - c * y};
}

Point applied(const HomogeneousMatrix& t, double x, double y, double z) {
  const auto row = [&](std::size_t i) {
    return t.m[i] * x + t.m[i + 1] * y + t.m[i + 2] * z + t.m[i + 3];
  };
  return {row(0), row(4), row(8)};
}

/// With `constant` and `wrap` the value jumps at the edges, where single precision may be on
/// either side.
bool near_jump(const ResampleSpec& spec, const Point& p) {
  if (spec.spline.boundary != Boundary::constant && spec.spline.boundary != Boundary::wrap)
    return false;
  const std::array<std::int64_t, 3> extents{spec.images.shape.width, spec.images.shape.height,
                                            spec.images.shape.depth};
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.images.dimensions); ++i) {
    const double period = std::max(static_cast<double>(extents[i]) - 1, 1.0);
    if (std::abs(std::remainder(p[i], period)) < 1e-4) return true;
  }
  return false;
}

struct Problem {
  ResampleSpec spec;
  reference::Volume samples;
  reference::Spline spline;
};

/// Samples that `spec.input` holds exactly, and the spline through them.
Problem problem_of(const ResampleSpec& spec, std::uint32_t seed) {
  Problem problem{spec, {}, {}};
  problem.samples = spec.input == PixelType::f32
                        ? test::random_volume(spec.images.shape, -1, 1, seed)
                        : test::random_samples(spec.images.shape, spec.input, seed);
  const auto edge = test::edge_of(spec.spline.boundary);
  problem.spline = spec.spline.prefilter
                       ? reference::solve(problem.samples, spec.images.dimensions,
                                          spec.spline.degree, edge, spec.spline.cval)
                       : reference::unfiltered(problem.samples, spec.images.dimensions,
                                               spec.spline.degree, edge, spec.spline.cval);
  return problem;
}

std::vector<Point> points_of(const ResampleSpec& spec, const HomogeneousMatrix& transform) {
  warpalign::InterpolateSpec grid;
  grid.output = spec.output;
  return test::points_of(grid,
                         [&](double x, double y, double z) { return applied(transform, x, y, z); });
}

reference::Volume resampled(const warpalign::Device& device, const Problem& problem,
                            const HomogeneousMatrix& transform) {
  auto stream = device.make_stream();
  const auto image = test::to_device(device, stream, problem.samples, problem.spec.input);
  auto output = device.make_image(problem.spec.output_type, problem.spec.output);
  test::poison(stream, output);
  ResamplePlan plan(device, problem.spec);
  plan.execute(stream, image, transform, output);
  return test::volume_from_device(stream, output);
}

void compare(const warpalign::Device& device, const Problem& problem,
             const HomogeneousMatrix& transform) {
  const ResampleSpec& spec = problem.spec;
  CAPTURE(warpalign::to_string(spec.images.shape));
  CAPTURE(warpalign::to_string(spec.output));
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  CAPTURE(spec.spline.degree);
  CAPTURE(transform.m[0]);
  CAPTURE(transform.m[1]);
  const auto points = points_of(spec, transform);
  auto found = resampled(device, problem, transform);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (near_jump(spec, points[i])) {
      found.values[i] = reference::evaluate(problem.spline, points[i]).value;
    }
  }
  CHECK(test::worst(problem.spline, points, found, allowance) <= 1);
}

ResampleSpec cubic(const Shape& image, const Shape& output, Boundary boundary = Boundary::mirror) {
  ResampleSpec spec;
  spec.images.shape = image;
  spec.output = output;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.375;
  return spec;
}

}  // namespace

TEST_CASE("resample: rotations of an image with tiles within it") {
  const Problem problem = problem_of(cubic({301, 283, 1}, {259, 263, 1}), 61);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double degrees :
         {0.0, 5.0, 17.0, -20.0, 31.0, 45.0, -45.0, 60.0, 73.0, 90.0, 135.0, 180.0, 197.0, 280.0}) {
      compare(device, problem, rotated(problem.spec.images.shape, problem.spec.output, degrees));
    }
  });
}

TEST_CASE("resample: rows that are multiples of a word, and others") {
  for (const Shape& image : {Shape{304, 200, 1}, Shape{302, 200, 1}, Shape{303, 200, 1}}) {
    const Problem problem = problem_of(cubic(image, {200, 150, 1}), 62);
    test::on_every_device([&](const warpalign::Device& device) {
      compare(device, problem, rotated(image, problem.spec.output, 12));
    });
  }
}

TEST_CASE("resample: enlarged, reduced, mirrored, sheared, moved") {
  const Problem problem = problem_of(cubic({230, 211, 1}, {190, 170, 1}), 63);
  const auto& [image, output] = std::pair(problem.spec.images.shape, problem.spec.output);
  std::vector<HomogeneousMatrix> transforms;
  for (const double factor : {0.06, 0.5, 0.9, 1.03, 1.2, 1.4, 2.0, 3.9, 6.0, 20.0}) {
    transforms.emplace_back(rotated(image, output, 0, factor));
    transforms.emplace_back(rotated(image, output, 33, factor));
    transforms.emplace_back(rotated(image, output, 78, factor));
  }
  transforms.emplace_back(Affine{-1, 0, 229, 0, 1, 0});
  transforms.emplace_back(Affine{0, 1, 0, 1, 0, 0});
  transforms.emplace_back(Affine{1, 0.8, -60, 0, 1, 10});
  transforms.emplace_back(Affine{1, 0, 10, -0.9, 1, 100});
  transforms.emplace_back(Affine{0.25, 0, 10.3, 0, 1, 4.7});
  transforms.emplace_back(Affine{0, 0, 17.25, 0, 0, 31.5});  // one point
  transforms.emplace_back(Affine{1, 0, 0.5, 0, 1, -1e6});
  transforms.emplace_back(Affine{1, 0, 3e9, 0, 1, 0});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const HomogeneousMatrix& transform : transforms) compare(device, problem, transform);
  });
}

TEST_CASE("resample: every boundary, inside, across the edges and outside") {
  for (const Boundary boundary : test::boundaries()) {
    const Problem problem = problem_of(cubic({173, 131, 1}, {330, 290, 1}, boundary), 64);
    test::on_every_device([&](const warpalign::Device& device) {
      for (const double degrees : {0.0, 17.0, 73.0, 135.0}) {
        compare(device, problem,
                rotated(problem.spec.images.shape, problem.spec.output, degrees, 0.97));
      }
    });
  }
}

TEST_CASE("resample: images and outputs of one pixel and more") {
  for (const Boundary boundary : test::boundaries()) {
    for (const Shape& image : {Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{1, 5, 1}, Shape{3, 2, 1},
                               Shape{13, 7, 1}, Shape{40, 33, 1}}) {
      const Problem problem = problem_of(cubic(image, {70, 9, 1}, boundary), 65);
      test::on_every_device([&](const warpalign::Device& device) {
        compare(device, problem, rotated(image, problem.spec.output, 17, 0.9));
        compare(device, problem, rotated(image, problem.spec.output, 80, 0.4));
      });
    }
  }
  const Problem problem = problem_of(cubic({150, 140, 1}, {1, 1, 1}), 66);
  test::on_every_device([&](const warpalign::Device& device) {
    compare(device, problem, rotated(problem.spec.images.shape, problem.spec.output, 10));
  });
}

TEST_CASE("resample: every degree, in one, two and three dimensions") {
  // No point is halfway between two samples, where degree 0 jumps.
  for (int degree = 0; degree <= 5; ++degree) {
    for (const auto& [dimensions, image, output] :
         {std::tuple{1, Shape{150, 1, 1}, Shape{99, 1, 1}},
          std::tuple{2, Shape{61, 47, 1}, Shape{50, 41, 1}},
          std::tuple{3, Shape{17, 15, 13}, Shape{13, 12, 11}}}) {
      ResampleSpec spec = cubic(image, output);
      spec.images.dimensions = dimensions;
      spec.spline.degree = degree;
      if (degree < 2) spec.spline.prefilter.reset();
      const Problem problem = problem_of(spec, 67);
      const HomogeneousMatrix transform =
          dimensions == 1 ? HomogeneousMatrix(Affine{0.9713, 0, 1.3171, 0, 1, 0})
          : dimensions == 2
              ? HomogeneousMatrix(rotated(image, output, 29))
              : HomogeneousMatrix::affine3({0.9017, 0.2023, 0.1031, 1.3037, -0.2041, 0.9043, 0.1047,
                                            2.2053, 0.1059, -0.1061, 0.9567, 0.3071});
      test::on_every_device(
          [&](const warpalign::Device& device) { compare(device, problem, transform); });
    }
  }
}

TEST_CASE("resample: types") {
  // The stages' own tests compare each type with the oracle; here the plan must pass the types on.
  for (const PixelType input : {PixelType::u8, PixelType::u16, PixelType::f16}) {
    ResampleSpec spec = cubic({150, 141, 1}, {90, 80, 1});
    spec.input = input;
    const Problem problem = problem_of(spec, 68);
    test::on_every_device([&](const warpalign::Device& device) {
      compare(device, problem, rotated(spec.images.shape, spec.output, 40));
    });
  }
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f16}) {
    ResampleSpec spec = cubic({150, 141, 1}, {120, 111, 1});
    Problem problem = problem_of(spec, 69);
    for (double& sample : problem.samples.values) sample = std::round(100 + 90 * sample);
    problem.spline = reference::solve(problem.samples, 2, 3, reference::Edge::mirror);
    const auto transform = rotated(spec.images.shape, spec.output, 71);
    test::on_every_device([&](const warpalign::Device& device) {
      problem.spec.output_type = PixelType::f32;
      const auto exact = resampled(device, problem, transform);
      problem.spec.output_type = type;
      const auto found = resampled(device, problem, transform);
      const double largest = type == PixelType::u8 ? 255 : 65535;
      for (std::size_t i = 0; i < exact.values.size(); ++i) {
        const double expected = type == PixelType::f16
                                    ? test::from_half(test::to_half(exact.values[i]))
                                    : reference::as_integer(exact.values[i], largest);
        REQUIRE(found.values[i] == expected);
      }
    });
  }
}

TEST_CASE("resample: FIR prefilter, none, and points of a field") {
  test::on_every_device([](const warpalign::Device& device) {
    ResampleSpec spec = cubic({150, 141, 1}, {90, 80, 1});
    spec.spline.prefilter.reset();
    const HomogeneousMatrix transform = rotated(spec.images.shape, spec.output, 17);
    Problem problem = problem_of(spec, 70);
    compare(device, problem, transform);

    problem.spec.spline.prefilter = PrefilterMethod::fir;
    problem.spec.spline.taps = 9;
    problem.spline = reference::unfiltered(
        reference::prefilter_fir(problem.samples, 2, 9, reference::Edge::mirror), 2, 3,
        reference::Edge::mirror);
    compare(device, problem, transform);

    // The same points rounded to floats, which the tolerance for points does not include.
    problem = problem_of(cubic(spec.images.shape, spec.output), 71);
    auto points = points_of(problem.spec, transform);
    for (Point& p : points) {
      for (double& c : p) c = static_cast<float>(c);
    }
    warpalign::InterpolateSpec grid;
    grid.output = spec.output;
    auto stream = device.make_stream();
    const auto image = test::to_device(device, stream, problem.samples);
    const auto field = test::to_device(device, stream, test::coordinate_field(grid, points));
    auto output = device.make_image(PixelType::f32, spec.output);
    test::poison(stream, output);
    ResamplePlan plan(device, problem.spec);
    plan.execute(stream, image, field, output);
    CHECK(test::worst(problem.spline, points, test::volume_from_device(stream, output),
                      {8e-7, 0}) <= 1);
  });
}

TEST_CASE("resample: one plan with many transforms and images") {
  const Problem first = problem_of(cubic({220, 210, 1}, {150, 150, 1}), 72);
  const Problem second = problem_of(first.spec, 73);
  test::on_every_device([&](const warpalign::Device& device) {
    auto stream = device.make_stream();
    ResamplePlan plan(device, first.spec);
    // The fused kernel supports 1, but not 2.
    for (const double factor : {1.0, 2.0, 1.0}) {
      for (const Problem* problem : {&first, &second}) {
        const auto image = test::to_device(device, stream, problem->samples);
        auto output = device.make_image(PixelType::f32, problem->spec.output);
        const HomogeneousMatrix transform =
            rotated(problem->spec.images.shape, problem->spec.output, 17, factor);
        plan.execute(stream, image, transform, output);
        const auto found = test::volume_from_device(stream, output);
        CHECK(test::worst(problem->spline, points_of(problem->spec, transform), found, allowance) <=
              1);
      }
    }
  });
}

TEST_CASE("resample: wrong arguments are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const ResampleSpec good = cubic({20, 10, 1}, {8, 8, 1});
    const auto refused = [&](const auto& change) {
      ResampleSpec spec = good;
      change(spec);
      CHECK_THROWS_AS(ResamplePlan(device, spec), Error);
    };
    refused([](ResampleSpec& s) { s.spline.degree = 6; });
    refused([](ResampleSpec& s) { s.spline.degree = 1; });  // degree 1 has no prefilter
    refused([](ResampleSpec& s) { s.images.dimensions = 1; });
    refused([](ResampleSpec& s) { s.images.shape.width = 0; });
    refused([](ResampleSpec& s) { s.output.height = 0; });
    refused([](ResampleSpec& s) { s.spline.cval = std::numeric_limits<double>::infinity(); });
    refused([](ResampleSpec& s) { s.output_type = PixelType::c32; });
    refused([](ResampleSpec& s) { s.input = PixelType::c32; });

    auto stream = device.make_stream();
    ResamplePlan plan(device, good);
    auto image = device.make_image(PixelType::f32, good.images.shape);
    auto output = device.make_image(PixelType::f32, good.output);
    auto small = device.make_image(PixelType::f32, {8, 7, 1});
    auto bytes = device.make_image(PixelType::u8, good.images.shape);
    CHECK_THROWS_AS(plan.execute(stream, image, HomogeneousMatrix(), small), Error);
    CHECK_THROWS_AS(plan.execute(stream, bytes, HomogeneousMatrix(), output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, small, output), Error);
    HomogeneousMatrix unbounded;
    unbounded.m[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(plan.execute(stream, image, unbounded, output), Error);

    ResampleSpec same = good;
    same.output = good.images.shape;
    ResamplePlan in_place(device, same);
    CHECK_THROWS_AS(in_place.execute(stream, image, HomogeneousMatrix(), image), Error);
  });
}
