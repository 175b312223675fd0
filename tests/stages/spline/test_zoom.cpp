// Zooms without aliasing against the oracle, on every device.
#include "reference/spline/smoothed_zoom.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/zoom.hpp>

#include <algorithm>
#include <cmath>

namespace {

using warpalign::Antialias;
using warpalign::Boundary;
using warpalign::Device;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::ZoomPlan;
using warpalign::ZoomSpec;

ZoomSpec zoom_spec(const Shape& shape, const Shape& output, int dimensions, int degree,
                   Boundary boundary = Boundary::mirror) {
  ZoomSpec spec;
  spec.spline.degree = degree;
  if (degree < 2) spec.spline.prefilter.reset();
  spec.spline.boundary = boundary;
  spec.images = {.shape = shape, .dimensions = dimensions};
  spec.output = output;
  return spec;
}

reference::Volume zoomed(const Device& device, const ZoomSpec& spec,
                         const reference::Volume& volume) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, volume, spec.input);
  auto output = device.make_image(spec.output_type,
                                  stacked(spec.output, spec.images.dimensions, spec.images.count));
  ZoomPlan(device, spec).execute(stream, input, output);
  return test::volume_from_device(stream, output);
}

reference::Volume expected(const ZoomSpec& spec, const reference::Volume& volume) {
  return reference::smoothed_zoom(
      volume, {spec.output.width, spec.output.height, spec.output.depth}, spec.images.dimensions,
      spec.spline.degree, test::edge_of(spec.spline.boundary), spec.spline.cval, spec.align_edges);
}

// Up to three sums of up to 100 weighted samples of at most 1; weights below 1e-9 are dropped.
constexpr double zoom_tolerance = 2e-6;

}  // namespace

TEST_CASE("zoom: every boundary mode and degree agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const Boundary boundary :
         {Boundary::mirror, Boundary::reflect, Boundary::nearest, Boundary::constant,
          Boundary::grid_constant, Boundary::wrap, Boundary::grid_wrap}) {
      CAPTURE(name_of(boundary));
      for (int degree = 1; degree <= 5; ++degree) {
        CAPTURE(degree);
        ZoomSpec spec = zoom_spec({61, 40, 1}, {17, 6, 1}, 2, degree, boundary);
        spec.spline.cval = 0.7;
        spec.align_edges = degree % 2 == 0;
        const reference::Volume image = test::random_volume(spec.images.shape, -1, 1, 61);
        CHECK(test::max_difference(zoomed(device, spec, image), expected(spec, image)) <=
              zoom_tolerance);
      }
    }
  });
}

TEST_CASE("zoom: double precision agrees with the oracle to 1e-14, from and to every type") {
  test::on_every_device([](const Device& device) {
    ZoomSpec spec = zoom_spec({61, 40, 1}, {17, 6, 1}, 2, 3);
    spec.in_double = true;
    spec.input = spec.output_type = PixelType::f64;
    if (!device.info().double_precision) {
      CHECK_THROWS_AS(ZoomPlan(device, spec), Error);
      return;
    }
    for (const Boundary boundary :
         {Boundary::mirror, Boundary::reflect, Boundary::nearest, Boundary::constant,
          Boundary::grid_constant, Boundary::wrap, Boundary::grid_wrap}) {
      CAPTURE(name_of(boundary));
      for (int degree = 1; degree <= 5; ++degree) {
        CAPTURE(degree);
        ZoomSpec with = spec;
        with.spline.degree = degree;
        with.spline.boundary = boundary;
        with.spline.cval = 0.7;
        with.align_edges = degree % 2 == 0;
        if (degree < 2) with.spline.prefilter.reset();
        const reference::Volume image = test::random_volume(spec.images.shape, -1, 1, 63);
        CHECK(test::max_difference(zoomed(device, with, image), expected(with, image)) <= 1e-14);
      }
    }
    // Integers beyond the 24 bits of a float stay apart, and results are rounded to integers.
    spec.input = PixelType::i32;
    reference::Volume counts = test::random_volume(spec.images.shape, 0, 1 << 30, 64);
    for (double& count : counts.values) count = std::round(count);
    CHECK(test::max_difference(zoomed(device, spec, counts), expected(spec, counts)) <= 1e-5);
    spec.output_type = PixelType::i32;
    CHECK(test::max_difference(zoomed(device, spec, counts), expected(spec, counts)) <= 0.50001);
    spec.input = spec.output_type = PixelType::c32;
    CHECK_THROWS_AS(ZoomPlan(device, spec), Error);
  });
}

TEST_CASE("zoom: lines, volumes, short axes and axes that grow") {
  test::on_every_device([](const Device& device) {
    struct Case {
      Shape shape, output;
      int dimensions;
    };
    for (const auto& [shape, output, dimensions] :
         {Case{{300, 1, 1}, {11, 1, 1}, 1}, Case{{7, 1, 1}, {2, 1, 1}, 1},
          Case{{2, 3, 1}, {1, 2, 1}, 2}, Case{{30, 9, 1}, {6, 20, 1}, 2},
          Case{{20, 24, 28}, {5, 7, 3}, 3}, Case{{20, 1, 28}, {20, 1, 9}, 3}}) {
      CAPTURE(to_string(shape));
      for (const bool aligned : {false, true}) {
        for (const int degree : {1, 3}) {
          ZoomSpec spec = zoom_spec(shape, output, dimensions, degree, Boundary::reflect);
          spec.align_edges = aligned;
          const reference::Volume image = test::random_volume(shape, -1, 1, 62);
          CHECK(test::max_difference(zoomed(device, spec, image), expected(spec, image)) <=
                zoom_tolerance);
        }
      }
    }
  });
}

TEST_CASE("zoom: least squares returns an image that the smaller spline represents") {
  test::on_every_device([](const Device& device) {
    for (const bool aligned : {false, true}) {
      // A wave of 20 samples of the output: its spline of degree 5 differs from it by less than
      // 1e-5 of its amplitude.
      ZoomSpec spec =
          zoom_spec({161, 1, 1}, {41, 1, 1}, 1, 5, aligned ? Boundary::reflect : Boundary::mirror);
      spec.antialias = Antialias::least_squares;
      spec.align_edges = aligned;
      const double step = aligned ? 161.0 / 41 : 4;
      const auto wave = [&](double x) {
        const double first = aligned ? -0.5 : 0;
        const double length = aligned ? 161 : 160;
        return std::cos(4 * 3.14159265358979 * (x - first) / length);
      };
      reference::Volume line(161);
      for (std::int64_t x = 0; x < 161; ++x) line.at(x) = wave(static_cast<double>(x));
      const reference::Volume found = zoomed(device, spec, line);
      for (std::int64_t i = 0; i < 41; ++i) {
        const double at = static_cast<double>(i) * step + (aligned ? 0.5 * step - 0.5 : 0);
        CHECK(std::abs(found.at(i) - wave(at)) <= 1e-5);
      }
    }
  });
}

TEST_CASE("zoom: batches and types") {
  test::on_every_device([](const Device& device) {
    ZoomSpec spec = zoom_spec({30, 21, 1}, {9, 8, 1}, 2, 3);
    spec.images.count = 3;
    const Shape all = spec.images.stacked();
    const reference::Volume images = test::random_samples(all, PixelType::u16, 63);
    spec.input = spec.output_type = PixelType::u16;
    const reference::Volume found = zoomed(device, spec, images);
    ZoomSpec one = zoom_spec({30, 21, 1}, {9, 8, 1}, 2, 3);
    for (std::int64_t i = 0; i < 3; ++i) {
      reference::Volume image(30, 21);
      std::copy_n(images.values.begin() + static_cast<std::ptrdiff_t>(i * 30 * 21), 30 * 21,
                  image.values.begin());
      const reference::Volume exact = expected(one, image);
      for (std::int64_t y = 0; y < 8; ++y) {
        for (std::int64_t x = 0; x < 9; ++x) {
          // Rounded to an integer; single precision may round halves to the other side.
          CHECK(std::abs(found.at(x, y, i) - std::clamp(exact.at(x, y), 0.0, 65535.0)) <=
                0.5 + 0.05);
        }
      }
    }
  });
}

TEST_CASE("zoom: wrong specs are refused") {
  test::on_every_device([](const Device& device) {
    const auto plan = [&](const ZoomSpec& spec) { return ZoomPlan(device, spec); };
    const ZoomSpec good = zoom_spec({30, 20, 1}, {10, 5, 1}, 2, 3);
    ZoomSpec spec = good;
    spec.spline.degree = 0;
    CHECK_THROWS_AS(plan(spec), Error);
    spec = good;
    spec.spline.prefilter = warpalign::PrefilterMethod::fir;
    CHECK_THROWS_AS(plan(spec), Error);
    spec = good;
    spec.output.height = 0;
    CHECK_THROWS_AS(plan(spec), Error);
    spec = good;
    spec.input = PixelType::c32;
    CHECK_THROWS_AS(plan(spec), Error);
    spec = good;
    spec.antialias = Antialias::least_squares;
    spec.spline.boundary = Boundary::nearest;
    CHECK_THROWS_AS(plan(spec), Error);
    spec.spline.boundary = Boundary::mirror;
    spec.align_edges = true;
    CHECK_THROWS_AS(plan(spec), Error);
    spec.align_edges = false;
    spec.output.height = 1;
    CHECK_THROWS_AS(plan(spec), Error);
    ZoomPlan made = plan(good);
    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, {30, 20, 1});
    auto small = device.make_image(PixelType::f32, {10, 4, 1});
    CHECK_THROWS_AS(made.execute(stream, image, small), Error);
    CHECK_THROWS_AS((void)warpalign::antialias_of_name("none"), Error);
  });
}
