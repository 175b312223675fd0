// Splines at the points of a displacement field against the oracle, on every device with double
// precision: by the stage itself, and by the plan that chooses between it and coordinates in
// memory.
#include "support/devices.hpp"
#include "support/drawn_field.hpp"
#include "support/splines.hpp"

#include <warpalign/backend/stages/spline/warp_by_field.hpp>
#include <warpalign/error.hpp>
#include <warpalign/transform_warp.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace {

using test::DrawnField;
using test::Point;
using test::Samples;
using warpalign::Boundary;
using warpalign::DeviceTransform;
using warpalign::HomogeneousMatrix;
using warpalign::InterpolateSpec;
using warpalign::OutsideField;
using warpalign::PixelType;
using warpalign::PointGrid;
using warpalign::Shape;
using warpalign::Transform;
using warpalign::WarpByFieldPlan;

// Displacements of up to 3 pixels, and their linear maps, are single precision: 2e-7 of them. The
// coordinates themselves are exact to 1e-8 in images as small as these.
constexpr double moved = 1e-6;

void on_devices_with_double(const std::function<void(const warpalign::Device&)>& body) {
  test::on_every_device([&](const warpalign::Device& device) {
    if (device.info().double_precision) body(device);
  });
}

/// Neither extent is a multiple of those of a tile.
InterpolateSpec spec_of(int dimensions, int degree, Boundary boundary) {
  return test::small_spline(dimensions, degree, boundary,
                            dimensions == 2 ? Shape{37, 41, 1} : Shape{19, 11, 6});
}

/// Whose samples are pixels of the output, or points of another grid, smaller than the output.
DrawnField field_for(const InterpolateSpec& spec, bool on_grid, bool as_double, double largest) {
  const int dimensions = spec.images.dimensions;
  if (on_grid) {
    return {dimensions, {.shape = spec.output}, Samples::linear, largest, 7, as_double};
  }
  const PointGrid grid =
      dimensions == 2
          ? PointGrid{.shape = {15, 13, 1}, .origin = {2, 3, 0}, .spacing = {1.5, 2, 1}}
          : PointGrid{.shape = {7, 6, 5}, .origin = {1, 0, 1}, .spacing = {1.5, 1.2, 0.8}};
  return {dimensions, grid, Samples::linear, largest, 7, as_double};
}

HomogeneousMatrix affine_of(int dimensions) {
  HomogeneousMatrix m;
  m.m = {0.95, 0.11, 0.04, -1.3, -0.09, 1.04, -0.06, 0.7, 0.05, 0.03, 0.93, 0.4, 0, 0, 0, 1};
  if (dimensions == 2) m.m = {0.95, 0.11, 0, -1.3, -0.09, 1.04, 0, 0.7, 0, 0, 1, 0, 0, 0, 0, 1};
  return m;
}

/// The spline at the points of the transform, and NaN where the kernel wrote nothing.
reference::Volume warped(const warpalign::Device& device, const InterpolateSpec& spec,
                         const reference::Spline& spline, const Transform& transform,
                         OutsideField outside = OutsideField::edge) {
  auto stream = device.make_stream();
  const auto coefficients = test::to_device(device, stream, spline.coefficients);
  auto output = device.make_image(spec.output_type, spec.output);
  test::poison(stream, output);
  const DeviceTransform on_device(device, transform);
  WarpByFieldPlan(device, spec).execute(stream, coefficients, on_device, output, outside);
  return test::volume_from_device(stream, output);
}

void compare(const warpalign::Device& device, const InterpolateSpec& spec,
             const Transform& transform, const std::function<Point(const Point&)>& oracle,
             double allowed = moved) {
  CAPTURE(spec.images.dimensions);
  CAPTURE(spec.spline.degree);
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  const auto spline = test::random_spline(spec, 21);
  const std::vector<Point> points = test::points_of(spec, [&](double x, double y, double z) {
    return oracle({x, y, z});
  });
  auto found = warped(device, spec, spline, transform);
  CHECK(test::without_jumps(spec, spline, points, found) > points.size() / 2);
  CHECK(test::worst(spline, points, found, {.point = allowed}) <= 1);
}

}  // namespace

TEST_CASE("warp_by_field: agrees with the oracle in every boundary mode") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const int degree : {1, 3}) {
        for (const Boundary boundary : test::boundaries()) {
          const InterpolateSpec spec = spec_of(dimensions, degree, boundary);
          const DrawnField field = field_for(spec, true, false, 3);
          compare(device, spec, field.transform, field);
        }
      }
    }
  });
}

TEST_CASE("warp_by_field: matrices before and after a field of any grid and type") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const bool on_grid : {false, true}) {
        for (const bool as_double : {false, true}) {
          CAPTURE(on_grid);
          CAPTURE(as_double);
          const InterpolateSpec spec = spec_of(dimensions, 3, Boundary::constant);
          const DrawnField field = field_for(spec, on_grid, as_double, 3);
          const HomogeneousMatrix m = affine_of(dimensions);
          const Transform affine =
              Transform::of_matrix(warpalign::TransformKind::affine, dimensions, m);
          const auto by_matrix = [&](const Point& p) { return test::transformed(m, p); };
          compare(device, spec, affine * field.transform,
                  [&](const Point& p) { return by_matrix(field(p)); });
          compare(device, spec, affine * affine * field.transform * affine,
                  [&](const Point& p) { return by_matrix(by_matrix(field(by_matrix(p)))); });
        }
      }
    }
  });
}

TEST_CASE("warp_by_field: a homography after the field divides") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      const InterpolateSpec spec = spec_of(dimensions, 3, Boundary::mirror);
      const DrawnField field = field_for(spec, true, false, 3);
      HomogeneousMatrix m = affine_of(dimensions);
      m.m[12] = 4e-3;
      m.m[13] = -3e-3;
      if (dimensions == 3) m.m[14] = 5e-3;
      const Transform homography =
          Transform::of_matrix(warpalign::TransformKind::homography, dimensions, m);
      compare(device, spec, homography * field.transform,
              [&](const Point& p) { return test::transformed(m, field(p)); });
    }
  });
}

TEST_CASE("warp_by_field: beyond its grid, the field has the value at the edge, none, or NaN") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      const InterpolateSpec spec = spec_of(dimensions, 3, Boundary::mirror);
      const DrawnField field = field_for(spec, false, false, 3);
      const auto spline = test::random_spline(spec, 5);
      const auto is_inside = [&](const Point& p) {
        const auto lies = [](double x, double origin, double spacing, std::int64_t n) {
          const double t = (x - origin) / spacing;
          return t >= -1e-9 && t <= static_cast<double>(n - 1) + 1e-9;
        };
        const PointGrid& grid = field.grid;
        return lies(p[0], grid.origin.x, grid.spacing.x, grid.shape.width) &&
               lies(p[1], grid.origin.y, grid.spacing.y, grid.shape.height) &&
               (dimensions == 2 || lies(p[2], grid.origin.z, grid.spacing.z, grid.shape.depth));
      };
      const auto pixels = test::points_of(spec, [](double x, double y, double z) {
        return Point{x, y, z};
      });
      std::vector<Point> points;
      for (const Point& p : pixels) points.push_back(is_inside(p) ? field(p) : p);
      const auto kept = warped(device, spec, spline, field.transform, OutsideField::zero);
      CHECK(test::worst(spline, points, kept, {.point = moved}) <= 1);
      const auto marked = warped(device, spec, spline, field.transform, OutsideField::nan);
      std::size_t outside = 0;
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        if (is_inside(pixels[i])) {
          CHECK(marked.values[i] == kept.values[i]);
        } else {
          CHECK(marked.values[i] == spec.spline.cval);
          ++outside;
        }
      }
      CHECK(outside > 0);
      CHECK(outside < pixels.size());
    }
  });
}

// Samples 0, 1, 0, 1, ... of degree 1 show the fraction of a coordinate itself.
TEST_CASE("warp_by_field: fractions are exact far from the origin") {
  on_devices_with_double([](const warpalign::Device& device) {
    InterpolateSpec spec;
    spec.images.shape = {8192, 6, 1};
    spec.output = {8192, 5, 1};
    spec.spline.degree = 1;
    spec.spline.boundary = Boundary::mirror;
    spec.spline.prefilter.reset();
    reference::Spline spline{reference::Volume(8192, 6, 1), 0, 2, 1, reference::Edge::mirror, 0};
    for (std::size_t i = 0; i < spline.coefficients.values.size(); ++i)
      spline.coefficients.values[i] = static_cast<double>(i % 2);
    HomogeneousMatrix m;
    m.m = {0.9991, 0.0123, 0, 0.37, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const Transform affine = Transform::of_matrix(warpalign::TransformKind::affine, 2, m);
    // Of the pixels' own grid, and of one with 16 pixels between samples.
    const DrawnField own(2, {.shape = spec.output}, Samples::linear, 3, 7, false);
    const DrawnField coarse(2, {.shape = {513, 3, 1}, .spacing = {16, 4, 1}}, Samples::linear, 3, 7,
                            false);
    const auto check = [&](const Transform& transform,
                           const std::function<Point(const Point&)>& oracle) {
      const auto points = test::points_of(spec, [&](double x, double y, double z) {
        return oracle({x, y, z});
      });
      const auto found = warped(device, spec, spline, transform);
      double largest = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        largest = std::max(
            largest, std::abs(found.values[i] - reference::evaluate(spline, points[i]).value));
      }
      // 1e-6 pixels as stated, and the rounding of the value. A coordinate as a float is off by up
      // to 2.4e-4 here.
      CHECK(largest <= 2e-6);
    };
    check(own.transform, own);
    check(coarse.transform, coarse);
    check(affine * coarse.transform * affine,
          [&](const Point& p) { return test::transformed(m, coarse(test::transformed(m, p))); });
  });
}

TEST_CASE("warp_by_field: tiles away from the edges") {
  on_devices_with_double([](const warpalign::Device& device) {
    InterpolateSpec spec = spec_of(3, 3, Boundary::constant);
    spec.images.shape = {61, 37, 33};
    spec.output = {52, 29, 21};
    const DrawnField field = field_for(spec, true, false, 1.5);
    const Transform shift = Transform::translation(warpalign::Point3{4.5, 4, 5.25});
    compare(device, spec, shift * field.transform, [&](const Point& p) {
      const Point q = field(p);
      return Point{q[0] + 4.5, q[1] + 4, q[2] + 5.25};
    });
  });
}

TEST_CASE("warp_by_field: points that are far from one another need no common copy") {
  on_devices_with_double([](const warpalign::Device& device) {
    InterpolateSpec spec = spec_of(3, 3, Boundary::mirror);
    spec.images.shape = {41, 39, 40};
    const DrawnField field = field_for(spec, true, false, 40);
    // Displacements of up to 40 pixels: 2e-7 of them.
    compare(device, spec, field.transform, field, 1e-5);
  });
}

TEST_CASE("warp_by_field: displacements beyond all images give the value outside") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const float far : {1e12F, -1e35F}) {
      InterpolateSpec spec = spec_of(3, 3, Boundary::constant);
      const std::vector<float> values(static_cast<std::size_t>(spec.output.pixels()), far);
      const std::array<const float*, 3> components{values.data(), values.data(), values.data()};
      const Transform field = Transform::displacement(PointGrid{.shape = spec.output}, components);
      const auto spline = test::random_spline(spec, 3);
      for (const double value : warped(device, spec, spline, field).values)
        CHECK(value == spec.spline.cval);
      spec.spline.boundary = Boundary::nearest;
      const auto edges = test::random_spline(spec, 3);
      const double corner = far > 0 ? 1e6 : -1e6;
      const double expected = reference::evaluate(edges, {corner, corner, corner}).value;
      for (const double value : warped(device, spec, edges, field).values)
        CHECK(std::abs(value - expected) <= 4e-7 * 4);  // of the largest coefficient
    }
  });
}

TEST_CASE("warp_by_field: each array of a batch, in every type of output") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      InterpolateSpec spec = spec_of(dimensions, 3, Boundary::mirror);
      const DrawnField field = field_for(spec, true, false, 2);
      const DeviceTransform on_device(device, field.transform);
      std::vector<float> all;
      std::vector<std::vector<double>> each;
      for (const std::uint32_t seed : {1U, 2U, 3U}) {
        const auto spline = test::random_spline(spec, seed);
        for (const double value : spline.coefficients.values)
          all.push_back(static_cast<float>(value * 100));
        each.push_back(warped(device, spec, spline, field.transform).values);
      }
      spec.images.count = 3;
      auto stream = device.make_stream();
      const Shape stored = warpalign::InterpolatePlan::coefficient_shape(spec);
      auto coefficients = device.make_image(PixelType::f32, stored);
      stream.upload(all.data(), all.size() * sizeof(float), coefficients.buffer());
      spec.output_type = PixelType::u8;
      const Shape outputs = warpalign::stacked(spec.output, dimensions, 3);
      auto output = device.make_image(PixelType::u8, outputs);
      WarpByFieldPlan(device, spec).execute(stream, coefficients, on_device, output);
      std::vector<std::uint8_t> found(static_cast<std::size_t>(outputs.pixels()));
      stream.download(output.buffer(), found.data(), found.size());
      stream.finish();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double exact = 100 * each[i / each[0].size()][i % each[0].size()];
        // Rounded to the nearest integer; the factor of 100 is rounded, too.
        CHECK(std::abs(found[i] - std::clamp(exact, 0.0, 255.0)) <= 0.5 + 1e-4);
      }
    }
  });
}

TEST_CASE("warp_by_field: other chains and splines are refused before anything runs") {
  on_devices_with_double([](const warpalign::Device& device) {
    const InterpolateSpec spec = spec_of(2, 3, Boundary::mirror);
    const WarpByFieldPlan plan(device, spec);
    const auto supports = [&](const Transform& transform) {
      return plan.supports(DeviceTransform(device, transform));
    };
    const Transform linear = field_for(spec, true, false, 1).transform;
    const Transform cubic =
        DrawnField(2, {.shape = {15, 13, 1}}, Samples::cubic, 1, 7, false).transform;
    const Transform homography =
        Transform::homography(warpalign::Homography({1, 0, 2, 0, 1, 3, 1e-3, 0, 1}));
    CHECK(supports(linear));
    CHECK(supports(homography * linear));
    CHECK(!supports(linear * homography));
    CHECK(!supports(linear * linear));
    CHECK(!supports(linear.inverse()));
    CHECK(!supports(cubic));
    CHECK(!supports(homography));
    CHECK(!supports(linear * Transform::translation(warpalign::Point{1e9, 0})));
    auto stream = device.make_stream();
    const auto coefficients =
        device.make_image(PixelType::f32, warpalign::InterpolatePlan::coefficient_shape(spec));
    auto output = device.make_image(PixelType::f32, spec.output);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, DeviceTransform(device, cubic), output),
                    warpalign::Error);
    CHECK_THROWS_AS(WarpByFieldPlan(device, spec_of(2, 2, Boundary::mirror)), warpalign::Error);
    CHECK_THROWS_AS(WarpByFieldPlan(device, test::small_spline(1, 3, Boundary::mirror, {9, 1, 1})),
                    warpalign::Error);
  });
}

namespace {

/// What a TransformWarpPlan makes of samples.
reference::Volume warped_samples(const warpalign::Device& device,
                                 const warpalign::ResampleSpec& spec,
                                 const reference::Volume& samples, const Transform& transform) {
  auto stream = device.make_stream();
  const auto image = test::to_device(device, stream, samples);
  auto output = device.make_image(spec.output_type, spec.output);
  test::poison(stream, output);
  warpalign::TransformWarpPlan plan(device, spec);
  const DeviceTransform on_device(device, transform);
  for (int i = 0; i < 2; ++i) plan.execute(stream, image, on_device, output);
  return test::volume_from_device(stream, output);
}

}  // namespace

TEST_CASE("TransformWarpPlan: any transform and degree, in one kernel or through coordinates") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const int degree : {1, 2, 3}) {
        CAPTURE(dimensions);
        CAPTURE(degree);
        InterpolateSpec evaluation = spec_of(dimensions, degree, Boundary::mirror);
        warpalign::ResampleSpec spec;
        spec.spline = evaluation.spline;
        if (degree < 2) spec.spline.prefilter.reset();
        spec.images = evaluation.images;
        spec.output = evaluation.output;
        const auto samples = test::random_volume(spec.images.shape, -1, 1, 21);
        const auto spline = test::random_spline(evaluation, 21);
        const DrawnField field = field_for(evaluation, true, false, 3);
        const DrawnField other = field_for(evaluation, false, false, 2);
        const auto check = [&](const Transform& transform,
                               const std::function<Point(const Point&)>& oracle) {
          const auto points = test::points_of(evaluation, [&](double x, double y, double z) {
            return oracle({x, y, z});
          });
          const auto found = warped_samples(device, spec, samples, transform);
          // Coordinates in memory are floats below 64: 2e-6. The prefilter adds 4e-7.
          CHECK(test::worst(spline, points, found, {.value = 8e-7, .point = 3e-6}) <= 1);
        };
        check(field.transform, field);
        check(other.transform * field.transform, [&](const Point& p) { return other(field(p)); });
      }
    }
  });
}

TEST_CASE("TransformWarpPlan: converts other types, and refuses wrong arguments") {
  on_devices_with_double([](const warpalign::Device& device) {
    const InterpolateSpec evaluation = spec_of(2, 3, Boundary::mirror);
    warpalign::ResampleSpec spec;
    spec.images = evaluation.images;
    spec.output = evaluation.output;
    spec.input = PixelType::i16;
    spec.output_type = PixelType::i32;
    const DrawnField field = field_for(evaluation, true, false, 3);
    const DeviceTransform on_device(device, field.transform);
    auto stream = device.make_stream();
    auto image = device.make_image(PixelType::i16, spec.images.shape);
    const std::vector<std::int16_t> values(static_cast<std::size_t>(spec.images.shape.pixels()),
                                           -321);
    stream.upload(values.data(), values.size() * sizeof(values[0]), image.buffer());
    auto output = device.make_image(PixelType::i32, spec.output);
    warpalign::TransformWarpPlan plan(device, spec);
    plan.execute(stream, image, on_device, output);
    std::vector<std::int32_t> found(static_cast<std::size_t>(spec.output.pixels()));
    stream.download(output.buffer(), found.data(), found.size() * sizeof(found[0]));
    stream.finish();
    CHECK(std::all_of(found.begin(), found.end(), [](std::int32_t v) { return v == -321; }));
    const Transform in_space = Transform::translation(warpalign::Point3{1, 2, 3});
    CHECK_THROWS_AS(plan.execute(stream, image, DeviceTransform(device, in_space), output),
                    warpalign::Error);
    CHECK_THROWS_AS(plan.execute(stream, output, on_device, output), warpalign::Error);
  });
}
