// The B-spline prefilter against the solved linear system, on every device.
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <numeric>

namespace {

using warpalign::Boundary;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::PrefilterMethod;
using warpalign::PrefilterPlan;
using warpalign::PrefilterSpec;
using warpalign::Shape;

constexpr double cval = 0.375;
/// The tolerance of `exact`, relative to the largest coefficient: seven roundings of 2^-24. It
/// holds for `iir_line`, too, except for volumes.
constexpr double contract = 4e-7;
/// Three axes with two poles each take twelve consecutive recursions, and each rounds by 2^-24.
constexpr double line_volume_contract = 12 * 0x1p-24;

/// The samples and coefficients of one test on a device.
template <class Volume>
auto filtered(const warpalign::Device& device, const PrefilterSpec& spec, const Volume& samples) {
  auto stream = device.make_stream();
  constexpr bool real = std::is_same_v<Volume, reference::Volume>;
  const auto input = [&] {
    if constexpr (real)
      return test::to_device(device, stream, samples, spec.input);
    else
      return test::to_device(device, stream, samples);
  }();
  auto output = device.make_image(PrefilterPlan::coefficient_type(spec.input),
                                  PrefilterPlan::coefficient_shape(spec));
  test::poison(stream, output);
  PrefilterPlan(device, spec).execute(stream, input, output);
  if constexpr (real)
    return test::volume_from_device(stream, output);
  else
    return test::complex_volume_from_device(stream, output);
}

template <class Volume>
Volume expected(const PrefilterSpec& spec, const Volume& samples) {
  const auto edge = test::edge_of(spec.spline.boundary);
  const int margin = PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  if (spec.spline.prefilter == PrefilterMethod::fir) {
    return reference::prefilter_fir(samples, spec.images.dimensions, spec.spline.taps, edge,
                                    spec.spline.cval, margin);
  }
  return reference::solve(samples, spec.images.dimensions, spec.spline.degree, edge,
                          spec.spline.cval, margin)
      .coefficients;
}

template <class Volume>
void compare(const warpalign::Device& device, const PrefilterSpec& spec, const Volume& samples,
             double tolerance = contract) {
  CAPTURE(warpalign::to_string(spec.images.shape));
  CAPTURE(spec.images.dimensions);
  CAPTURE(spec.spline.degree);
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  CAPTURE(std::string(warpalign::name_of(spec.input)));
  const Volume oracle = expected(spec, samples);
  const double relative =
      test::max_difference(filtered(device, spec, samples), oracle) / test::largest(oracle);
  CHECK(relative <= tolerance);
}

PrefilterSpec spec_of(const Shape& shape, int dimensions, int degree, Boundary boundary,
                      PrefilterMethod method = PrefilterMethod::exact) {
  PrefilterSpec spec;
  spec.images.shape = shape;
  spec.images.dimensions = dimensions;
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.prefilter = method;
  spec.spline.cval = cval;
  return spec;
}

/// Random lines, with a single bright sample at the ends and in the middle of the last three.
reference::Volume lines(std::int64_t n) {
  auto samples = test::random_volume({n, 7, 1}, -1, 1, static_cast<std::uint32_t>(n));
  for (std::int64_t y = 4; y < 7; ++y) {
    for (std::int64_t x = 0; x < n; ++x) samples.at(x, y) = 0;
  }
  samples.at(0, 4) = 1;
  samples.at(n - 1, 5) = 1;
  samples.at(n / 2, 6) = 1;
  return samples;
}

template <class Body>
void for_degrees_and_boundaries(Body&& body) {
  for (int degree = 2; degree <= 5; ++degree) {
    for (const Boundary boundary : test::boundaries()) body(degree, boundary);
  }
}

/// Sizes around work groups and tiles, long and thin, and one pixel wide.
const std::vector<Shape>& planes() {
  static const std::vector<Shape> all{{1, 1},     {1, 5},     {5, 1},     {2, 2},    {31, 33},
                                      {32, 32},   {33, 31},   {63, 65},   {64, 64},  {65, 63},
                                      {127, 129}, {128, 128}, {129, 127}, {104, 96}, {96, 104},
                                      {1, 300},   {300, 1},   {257, 3},   {3, 257}};
  return all;
}

void compare_planes(PrefilterMethod method) {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Shape& shape : planes()) {
      const auto samples = test::random_volume(shape, -1, 1, 11);
      for_degrees_and_boundaries([&](int degree, Boundary boundary) {
        compare(device, spec_of(shape, 2, degree, boundary, method), samples);
      });
    }
  });
}

void compare_lines(PrefilterMethod method) {
  test::on_every_device([&](const warpalign::Device& device) {
    for (std::int64_t n = 1; n <= test::most; ++n) {
      const auto samples = lines(n);
      for_degrees_and_boundaries([&](int degree, Boundary boundary) {
        compare(device, spec_of(test::shape_of(samples), 1, degree, boundary, method), samples);
      });
    }
  });
}

void compare_volumes(PrefilterMethod method, double tolerance) {
  test::on_every_device([&](const warpalign::Device& device) {
    auto shapes = test::every_extent(3);
    shapes.insert(shapes.end(),
                  {{1, 1, 1}, {1, 2, 3}, {2, 3, 4}, {9, 5, 1}, {17, 16, 65}, {1, 1, 40}});
    for (const Shape& shape : shapes) {
      const auto samples = test::random_volume(shape, -1, 1, 12);
      for_degrees_and_boundaries([&](int degree, Boundary boundary) {
        compare(device, spec_of(shape, 3, degree, boundary, method), samples, tolerance);
      });
    }
  });
}

/// The taps are rounded (2^-25 of absolute values that sum to 3), and from the centre tap on every
/// sum rounds by 2^-24 of about the largest coefficient: at most K + 3 roundings along each axis,
/// of which at most 13 of the K count, since further taps lie below the last place (0.268^13 =
/// 2^-24). Running sums have smaller errors, because the pole shrinks the carried value at every
/// step.
double fir_contract(int dimensions, int taps) {
  return dimensions * (std::min(taps / 2, 13) + 3) * 0x1p-24;
}

}  // namespace

TEST_CASE("prefilter: every length from 1 to 33, degree and boundary solves the spline's system") {
  compare_lines(PrefilterMethod::exact);
}

TEST_CASE("prefilter: every plane of 1 to 33 by 1 to 33") {
  test::on_every_device([](const warpalign::Device& device) {
    for (std::int64_t height = 1; height <= test::most; ++height) {
      for (std::int64_t width = 1; width <= test::most; ++width) {
        const Shape shape{width, height, 1};
        const auto samples = test::random_volume(shape, -1, 1, 10);
        for_degrees_and_boundaries([&](int degree, Boundary boundary) {
          compare(device, spec_of(shape, 2, degree, boundary), samples);
        });
      }
    }
  });
}

TEST_CASE("prefilter: planes of many sizes") { compare_planes(PrefilterMethod::exact); }

TEST_CASE("prefilter: volumes") { compare_volumes(PrefilterMethod::exact, contract); }

TEST_CASE("prefilter: iir_line agrees as well") {
  SUBCASE("lines") { compare_lines(PrefilterMethod::iir_line); }
  SUBCASE("planes") { compare_planes(PrefilterMethod::iir_line); }
  SUBCASE("volumes") { compare_volumes(PrefilterMethod::iir_line, line_volume_contract); }
}

TEST_CASE("prefilter: integers, halves and complex samples") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto method :
         {PrefilterMethod::exact, PrefilterMethod::iir_line, PrefilterMethod::fir}) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::nearest}) {
        auto spec = spec_of({67, 35, 1}, 2, 3, boundary, method);
        for (const auto type : {PixelType::u8, PixelType::u16, PixelType::f16}) {
          spec.input = type;
          compare(device, spec, test::random_samples(spec.images.shape, type, 13));
        }
        spec.input = PixelType::c32;
        compare(device, spec, test::random_complex_volume(spec.images.shape, 14));
      }
    }
    auto spec = spec_of({19, 9, 8}, 3, 5, Boundary::grid_wrap);
    spec.input = PixelType::c32;
    compare(device, spec, test::random_complex_volume(spec.images.shape, 15));
    spec.spline.degree = 2;
    spec.input = PixelType::u8;
    compare(device, spec, test::random_samples(spec.images.shape, PixelType::u8, 16));
  });
}

TEST_CASE("prefilter: axes beyond `dimensions` hold independent lines and images") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary : {Boundary::mirror, Boundary::grid_constant}) {
      for (const auto method :
           {PrefilterMethod::exact, PrefilterMethod::iir_line, PrefilterMethod::fir}) {
        const Shape shape{41, 6, 5};
        const auto samples = test::random_volume(shape, -1, 1, 17);
        compare(device, spec_of(shape, 1, 3, boundary, method), samples);
        compare(device, spec_of(shape, 2, 3, boundary, method), samples);
      }
    }
  });
}

TEST_CASE("prefilter: fir agrees with the convolution of proposition 1") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (const int taps : {3, 7, 15, 63}) {
        CAPTURE(taps);
        if (taps != 15 && boundary != Boundary::mirror && boundary != Boundary::nearest) continue;
        auto spec = spec_of({1, 1, 1}, 2, 3, boundary, PrefilterMethod::fir);
        spec.spline.taps = taps;
        for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 5, 1}, Shape{129, 65, 1},
                                   Shape{300, 1, 1}, Shape{1, 300, 1}, Shape{104, 96, 1}}) {
          spec.images.shape = shape;
          compare(device, spec, test::random_volume(shape, -1, 1, 18), fir_contract(2, taps));
        }
        spec.images.dimensions = 3;
        spec.images.shape = {33, 6, 17};
        compare(device, spec, test::random_volume(spec.images.shape, -1, 1, 19),
                fir_contract(3, taps));
        spec.images.dimensions = 1;
        compare(device, spec, test::random_volume(spec.images.shape, -1, 1, 20),
                fir_contract(1, taps));
      }
    }
  });
}

TEST_CASE("prefilter: a constant is its own coefficients") {
  test::on_every_device([](const warpalign::Device& device) {
    for_degrees_and_boundaries([&](int degree, Boundary boundary) {
      auto spec = spec_of({37, 21, 1}, 2, degree, boundary);
      spec.spline.cval = 200;
      reference::Volume samples(37, 21);
      for (double& value : samples.values) value = 200;
      compare(device, spec, samples);
    });
  });
}

TEST_CASE("prefilter: poles are roots of the B-spline polynomial within the unit circle") {
  for (int degree = 0; degree <= 5; ++degree) {
    CAPTURE(degree);
    const auto poles = PrefilterPlan::poles(degree);
    CHECK(poles.size() == static_cast<std::size_t>(degree / 2));
    double slowest = 0;
    for (const double z : poles) {
      CHECK(z < 0);
      CHECK(z > -1);
      double sum = 0;
      for (int k = -3; k <= 3; ++k) sum += reference::beta(degree, k) * std::pow(z, k);
      CHECK(std::abs(sum) < 1e-11);  // z^-2 of the fastest pole is 5000, times the rounding
      slowest = std::max(slowest, -z);
    }
    const int horizon = PrefilterPlan::horizon(degree);
    if (poles.empty()) {
      CHECK(horizon == 0);
    } else {
      CHECK(std::pow(slowest, horizon) <= 0x1p-24);
      CHECK(std::pow(slowest, horizon - 1) > 0x1p-24);
    }
    for (const Boundary boundary : test::boundaries()) {
      const bool kept = boundary == Boundary::nearest || boundary == Boundary::grid_constant;
      CHECK((PrefilterPlan::margin(degree, boundary) > 0) == (kept && degree >= 2));
    }
  }
}

TEST_CASE("prefilter: FIR taps are proposition 1's, symmetric, and sum to 1") {
  for (const int taps : {3, 7, 15, 41, 63}) {
    const auto found = PrefilterPlan::fir_taps(taps);
    const auto b = reference::fir_taps(taps);
    REQUIRE(found.size() == b.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      CHECK(std::abs(found[i] - b[i]) < 1e-15);
      CHECK(found[i] == found[b.size() - 1 - i]);
    }
    CHECK(std::abs(std::accumulate(found.begin(), found.end(), 0.0) - 1) < 1e-14);
  }
  CHECK(PrefilterPlan::fir_taps(63)[31] == doctest::Approx(std::sqrt(3.0)));
}

TEST_CASE("prefilter: wrong arguments are refused before anything runs") {
  for (const int taps : {-1, 0, 1, 2, 14, 64, 65}) {
    CAPTURE(taps);
    CHECK_THROWS_AS((void)PrefilterPlan::fir_taps(taps), Error);
  }
  CHECK_THROWS_AS((void)PrefilterPlan::poles(6), Error);
  CHECK_THROWS_AS((void)PrefilterPlan::poles(-1), Error);
  CHECK_THROWS_AS((void)PrefilterPlan::horizon(6), Error);
  CHECK_THROWS_AS((void)PrefilterPlan::margin(6, Boundary::nearest), Error);
  test::on_every_device([](const warpalign::Device& device) {
    const auto good = spec_of({8, 8, 1}, 2, 3, Boundary::mirror);
    const auto refused = [&](auto&& change) {
      PrefilterSpec spec = good;
      change(spec);
      CHECK_THROWS_AS(PrefilterPlan(device, spec), Error);
    };
    refused([](auto& s) { s.spline.prefilter.reset(); });
    refused([](auto& s) { s.spline.degree = 1; });
    refused([](auto& s) { s.spline.degree = 0; });
    refused([](auto& s) { s.spline.degree = 6; });
    refused([](auto& s) { s.images.dimensions = 0; });
    refused([](auto& s) { s.images.dimensions = 4; });
    refused([](auto& s) { s.images.shape.width = 0; });
    refused([](auto& s) { s.images.shape.depth = -1; });
    refused([](auto& s) { s.spline.cval = NAN; });
    refused([](auto& s) {
      s.spline.prefilter = PrefilterMethod::fir;
      s.spline.taps = 14;
    });
    refused([](auto& s) {
      s.spline.prefilter = PrefilterMethod::fir;
      s.spline.taps = 65;
    });
    refused([](auto& s) {
      s.spline.prefilter = PrefilterMethod::fir;
      s.spline.degree = 5;
    });

    auto stream = device.make_stream();
    const PrefilterPlan plan(device, good);
    const auto samples = device.make_image(PixelType::f32, {8, 8, 1});
    auto coefficients = device.make_image(PixelType::f32, {8, 8, 1});
    auto small = device.make_image(PixelType::f32, {8, 7, 1});
    auto complex = device.make_image(PixelType::c32, {8, 8, 1});
    CHECK_THROWS_AS(plan.execute(stream, small, coefficients), Error);
    CHECK_THROWS_AS(plan.execute(stream, complex, coefficients), Error);
    CHECK_THROWS_AS(plan.execute(stream, samples, small), Error);
    CHECK_THROWS_AS(plan.execute(stream, samples, complex), Error);
    CHECK_THROWS_AS(plan.execute(stream, coefficients, coefficients), Error);
    // The plan needs a margin where the boundary does.
    const PrefilterPlan with_margin(device, spec_of({8, 8, 1}, 2, 3, Boundary::nearest));
    CHECK_THROWS_AS(with_margin.execute(stream, samples, coefficients), Error);
  });
}
