// Splines in double precision, and exact copies of samples, on every device with double precision.
#include "reference/spline/evaluate.hpp"
#include "reference/spline/footprint.hpp"
#include "reference/spline/prefilter.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/double_spline.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using warpalign::Boundary;
using warpalign::Device;
using warpalign::DoubleSplinePlan;
using warpalign::DoubleSplineSpec;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::Shape;

template <class Body>
void on_devices_with_doubles(Body&& body) {
  test::on_every_device([&](const Device& device) {
    if (device.info().double_precision) body(device);
  });
}

Shape outputs_of(const DoubleSplineSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

template <class T, class Where>
std::vector<T> evaluated(const Device& device, const DoubleSplineSpec& spec,
                         const std::vector<T>& samples, std::uint64_t outside, Where&& execute) {
  auto stream = device.make_stream();
  auto images = device.make_image(spec.pixels, spec.images.stacked());
  auto output =
      device.make_image(spec.degree == 0 ? spec.pixels : spec.output_pixels, outputs_of(spec));
  stream.upload(samples.data(), samples.size() * sizeof(T), images.buffer());
  execute(DoubleSplinePlan(device, spec), stream, images, outside, output);
  std::vector<T> result(static_cast<std::size_t>(outputs_of(spec).pixels()));
  stream.download(output, result.data(), result.size() * sizeof(T));
  return result;
}

template <class T>
std::vector<T> transformed(const Device& device, const DoubleSplineSpec& spec,
                           const std::vector<T>& samples, const HomogeneousMatrix& transform,
                           std::uint64_t outside) {
  return evaluated(
      device, spec, samples, outside,
      [&](const DoubleSplinePlan& plan, auto& stream, const auto& images, std::uint64_t bits,
          auto& output) { plan.execute(stream, images, transform, bits, output); });
}

template <class T>
std::vector<T> at_points(const Device& device, const DoubleSplineSpec& spec,
                         const std::vector<T>& samples, const std::vector<double>& points,
                         std::uint64_t outside) {
  return evaluated(device, spec, samples, outside,
                   [&](const DoubleSplinePlan& plan, auto& stream, const auto& images,
                       std::uint64_t bits, auto& output) {
                     auto field = device.make_image(PixelType::f64,
                                                    {spec.output.width, spec.output.height,
                                                     spec.output.depth * spec.images.dimensions});
                     stream.upload(points.data(), points.size() * sizeof(double), field.buffer());
                     plan.execute(stream, images, field, bits, output);
                   });
}

/// Pseudorandom bit patterns, which for floating-point types include NaN with a payload.
template <class T>
std::vector<T> patterns(std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<T>(0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(i + 1)));
  }
  return result;
}

template <class T>
void check_copies(const Device& device, PixelType type) {
  CAPTURE(std::string(name_of(type)));
  const Shape input{21, 17, 1};
  const Shape output{30, 19, 1};
  const DoubleSplineSpec spec{.boundary = Boundary::constant,
                              .images = {.shape = input, .dimensions = 2, .count = 3},
                              .output = output,
                              .pixels = type};
  const auto samples = patterns<T>(input.pixels() * 3);
  // No point is half-way between two samples.
  const warpalign::Affine affine{0.73, -0.21, 2.1337, 0.34, 0.9, -3.3721};
  const T outside = static_cast<T>(0x1122334455667788U);
  std::vector<T> expected;
  for (std::int64_t array = 0; array < 3; ++array) {
    for (std::int64_t y = 0; y < output.height; ++y) {
      for (std::int64_t x = 0; x < output.width; ++x) {
        const double u = 0.73 * static_cast<double>(x) - 0.21 * static_cast<double>(y) + 2.1337;
        const double v = 0.34 * static_cast<double>(x) + 0.9 * static_cast<double>(y) - 3.3721;
        const bool is_inside = u >= 0 && u <= 20 && v >= 0 && v <= 16;
        const auto at = (array * input.height + std::lround(v)) * input.width + std::lround(u);
        expected.push_back(is_inside ? samples[static_cast<std::size_t>(at)] : outside);
      }
    }
  }
  CHECK(transformed(device, spec, samples, HomogeneousMatrix(affine), outside) == expected);
}

}  // namespace

TEST_CASE("double_spline: degree 0 copies the bytes of samples of any size") {
  on_devices_with_doubles([](const Device& device) {
    check_copies<std::uint8_t>(device, PixelType::u8);
    check_copies<std::uint16_t>(device, PixelType::f16);
    check_copies<std::uint32_t>(device, PixelType::f32);
    check_copies<std::uint64_t>(device, PixelType::f64);
    check_copies<std::uint64_t>(device, PixelType::c32);
  });
}

TEST_CASE("double_spline: half-way between two samples, degree 0 chooses the same as SciPy") {
  // scipy.ndimage.map_coordinates(range(4), [arange(-19, 27) / 2], order=0, cval=9), SciPy 1.17.1.
  const std::vector<std::pair<Boundary, std::string>> chosen{
      {Boundary::mirror, "3332211011223332211011223322211011223322211011"},
      {Boundary::reflect, "1000112233333221100011223333322110001122333332"},
      {Boundary::nearest, "0000000000000000000011223333333333333333333333"},
      {Boundary::constant, "9999999999999999999011223399999999999999999999"},
      {Boundary::grid_constant, "9999999999999999990011223399999999999999999999"},
      {Boundary::wrap, "3311223311223311223011223311223011223011223011"},
      {Boundary::grid_wrap, "3300112233001122330011223300112233001122330011"},
  };
  std::vector<double> points;
  for (int i = -19; i < 27; ++i) points.push_back(i / 2.0);
  on_devices_with_doubles([&](const Device& device) {
    for (const auto& [boundary, expected] : chosen) {
      CAPTURE(std::string(name_of(boundary)));
      const DoubleSplineSpec spec{.boundary = boundary,
                                  .images = {.shape = {4, 1, 1}, .dimensions = 1},
                                  .output = {46, 1, 1},
                                  .pixels = PixelType::u8};
      const std::vector<std::uint8_t> digits{'0', '1', '2', '3'};
      const auto found = at_points(device, spec, digits, points, '9');
      CHECK(std::string(found.begin(), found.end()) == expected);
      // The same points by a transform: half the index, minus 9.5.
      const auto along = transformed(
          device, spec, digits, HomogeneousMatrix(warpalign::Affine{0.5, 0, -9.5, 0, 1, 0}), '9');
      CHECK(std::string(along.begin(), along.end()) == expected);
    }
  });
}

TEST_CASE("double_spline: values agree with the oracle to double precision") {
  on_devices_with_doubles([](const Device& device) {
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      const Shape shape{23, dimensions > 1 ? 9 : 1, dimensions > 2 ? 70 : 1};
      const auto samples = test::random_volume(shape, -1, 1, 71);
      for (const Boundary boundary : {Boundary::mirror, Boundary::reflect, Boundary::grid_wrap}) {
        for (int degree = 1; degree <= 5; ++degree) {
          CAPTURE(dimensions);
          CAPTURE(std::string(name_of(boundary)));
          CAPTURE(degree);
          const DoubleSplineSpec spec{.degree = degree,
                                      .boundary = boundary,
                                      .images = {.shape = shape, .dimensions = dimensions},
                                      .output = {400, 1, 1}};
          const auto points = test::random_volume({400, dimensions, 1}, -60, 90, 72);
          const std::vector<double> values(samples.values.begin(), samples.values.end());
          const auto found =
              at_points(device, spec, values, {points.values.begin(), points.values.end()}, 0);
          const auto edge = test::edge_of(boundary);
          const auto spline = degree < 2 ? reference::unfiltered(samples, dimensions, degree, edge)
                                         : reference::solve(samples, dimensions, degree, edge);
          double largest = 0;
          for (std::size_t i = 0; i < found.size(); ++i) {
            std::array<double, 3> point{};
            for (int axis = 0; axis < dimensions; ++axis) {
              point[static_cast<std::size_t>(axis)] =
                  points.values[i + 400 * static_cast<std::size_t>(axis)];
            }
            largest =
                std::max(largest, std::fabs(found[i] - reference::evaluate(spline, point).value));
          }
          // At degree 5 coefficients reach 4 for each axis, and the oracle's system of linear
          // equations has a condition of 13 for each axis.
          CHECK(largest <= 2e-13);
        }
      }
    }
  });
}

TEST_CASE("double_spline: coefficients of any length interpolate the samples") {
  on_devices_with_doubles([](const Device& device) {
    for (const Boundary boundary : {Boundary::mirror, Boundary::reflect, Boundary::grid_wrap}) {
      for (int degree = 2; degree <= 5; ++degree) {
        for (const std::int64_t length : {1, 2, 3, 4, 5, 7, 12, 31, 63, 64, 65, 66, 130}) {
          CAPTURE(std::string(name_of(boundary)));
          CAPTURE(degree);
          CAPTURE(length);
          const auto samples = test::random_volume({length, 1, 1}, -1, 1, 73);
          const std::vector<double> values(samples.values.begin(), samples.values.end());
          const DoubleSplineSpec spec{.degree = degree,
                                      .boundary = boundary,
                                      .images = {.shape = {length, 1, 1}, .dimensions = 1},
                                      .output = {length, 1, 1}};
          const auto found = transformed(device, spec, values, HomogeneousMatrix(), 0);
          double largest = 0;
          for (std::size_t i = 0; i < found.size(); ++i) {
            largest = std::max(largest, std::fabs(found[i] - values[i]));
          }
          CHECK(largest <= 2e-15);
        }
      }
    }
  });
}

TEST_CASE("double_spline: NaN and infinite coordinates give SciPy's values") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  on_devices_with_doubles([&](const Device& device) {
    for (const auto& boundary : test::boundaries()) {
      CAPTURE(std::string(name_of(boundary)));
      for (const int degree : {0, 1, 3}) {
        CAPTURE(degree);
        const bool is_unlimited =
            boundary == Boundary::nearest || boundary == Boundary::grid_constant;
        const DoubleSplineSpec spec{.degree = degree,
                                    .prefilter = false,
                                    .boundary = boundary,
                                    .images = {.shape = {4, 1, 1}, .dimensions = 1},
                                    .output = {3, 1, 1}};
        const std::vector<double> samples{5, 6, 7, 8};
        const auto found = at_points(device, spec, samples, {nan, infinity, -infinity},
                                     std::bit_cast<std::uint64_t>(9.0));
        if (is_unlimited && degree > 0) {
          CHECK(std::isnan(found[0]));
        } else {
          CHECK(found[0] == (boundary == Boundary::nearest ? 5 : 9));
        }
        if (degree == 0) {
          CHECK(found[1] == (boundary == Boundary::nearest ? 8 : 9));
          CHECK(found[2] == (boundary == Boundary::nearest ? 5 : 9));
        }
      }
    }
  });
}

TEST_CASE("double_spline: padding equals a margin that the caller adds") {
  on_devices_with_doubles([](const Device& device) {
    const Shape shape{19, 14, 1};
    const auto samples = test::random_volume(shape, -1, 1, 74);
    const std::vector<double> values(samples.values.begin(), samples.values.end());
    const HomogeneousMatrix transform(warpalign::Affine{0.9, 0.3, -4.1, -0.2, 1.1, 2.3});
    for (const Boundary boundary : {Boundary::nearest, Boundary::grid_constant}) {
      CAPTURE(std::string(name_of(boundary)));
      constexpr std::int64_t margin = 12;
      const Shape grown{shape.width + 2 * margin, shape.height + 2 * margin, 1};
      std::vector<double> padded;
      for (std::int64_t y = -margin; y < shape.height + margin; ++y) {
        for (std::int64_t x = -margin; x < shape.width + margin; ++x) {
          const auto at_x = std::clamp<std::int64_t>(x, 0, shape.width - 1);
          const auto at_y = std::clamp<std::int64_t>(y, 0, shape.height - 1);
          const bool is_sample = at_x == x && at_y == y;
          padded.push_back(is_sample || boundary == Boundary::nearest ? samples.at(at_x, at_y)
                                                                      : 0.25);
        }
      }
      DoubleSplineSpec spec{.degree = 3,
                            .boundary = boundary,
                            .margin = margin,
                            .images = {.shape = grown},
                            .output = {30, 20, 1}};
      const auto outside = std::bit_cast<std::uint64_t>(0.25);
      const auto expected = transformed(device, spec, padded, transform, outside);
      spec.margin = 0;
      spec.padding = margin;
      spec.images.shape = shape;
      CHECK(transformed(device, spec, values, transform, outside) == expected);
    }
  });
}

TEST_CASE("double_spline: images and outputs of other types are converted exactly") {
  on_devices_with_doubles([](const Device& device) {
    // Beyond the 24 bits of a float. At a quarter of the way, linear interpolation gives fractions.
    const std::vector<std::int32_t> samples{2000000001, -2000000003, 16777217, 16777219, 5};
    DoubleSplineSpec spec{.degree = 1,
                          .images = {.shape = {5, 1, 1}, .dimensions = 1},
                          .output = {4, 1, 1},
                          .pixels = PixelType::i32,
                          .output_pixels = PixelType::i32};
    const HomogeneousMatrix quarter(warpalign::Affine{1, 0, 0.25, 0, 1, 0});
    CHECK(transformed(device, spec, samples, quarter, 0) ==
          std::vector<std::int32_t>{1000000000, -1495805698, 16777218, 12582916});
    // Two images of bytes, as a batch.
    const std::vector<std::uint8_t> bytes{0, 1, 255, 255, 10, 20};
    spec.images = {.shape = {3, 1, 1}, .dimensions = 1, .count = 2};
    spec.output = {2, 1, 1};
    spec.pixels = spec.output_pixels = PixelType::u8;
    const HomogeneousMatrix half(warpalign::Affine{1, 0, 0.5, 0, 1, 0});
    CHECK(transformed(device, spec, bytes, half, 0) == std::vector<std::uint8_t>{1, 128, 133, 15});
    // Cubic splines overshoot, and integers saturate.
    spec.degree = 3;
    const std::vector<std::uint8_t> edges{255, 255, 0, 0, 0, 0};
    CHECK(transformed(device, spec, edges, half, 0)[0] == 255);
  });
}

TEST_CASE("double_spline: coefficients of other types are those of the same numbers in double") {
  on_devices_with_doubles([](const Device& device) {
    const std::vector<float> samples{1, 7, -3, 16777215, 0.125F, 2, 9, -8};
    const std::vector<double> doubles(samples.begin(), samples.end());
    DoubleSplineSpec spec{.degree = 3, .images = {.shape = {4, 2, 1}}, .output = {4, 2, 1}};
    const auto coefficients_of = [&](const auto& values, PixelType type) {
      spec.pixels = type;
      const DoubleSplinePlan plan(device, spec);
      auto stream = device.make_stream();
      auto image = device.make_image(type, {4, 2, 1});
      auto output = device.make_image(PixelType::f64, {4, 2, 1});
      stream.upload(values.data(), image.size_bytes(), image.buffer());
      plan.prefilter(stream, image, output);
      std::vector<double> result(values.size());
      stream.download(output, result.data(), output.size_bytes());
      return result;
    };
    const auto expected = coefficients_of(doubles, PixelType::f64);
    CHECK(std::fabs(expected[3]) > 1e7);  // they are not the samples
    CHECK(coefficients_of(samples, PixelType::f32) == expected);
  });
}

namespace {

/// The means over footprints by the oracle, of which the local linear map at each pixel is given.
template <class LocalMap>
double largest_error_of_means(const std::vector<double>& found, const Shape& output,
                              const reference::Spline& spline, LocalMap&& local) {
  double largest = 0;
  for (std::int64_t y = 0; y < output.height; ++y) {
    for (std::int64_t x = 0; x < output.width; ++x) {
      const auto u = static_cast<double>(x), v = static_cast<double>(y);
      const double mean = reference::footprint_mean(spline, local(u, v), u, v);
      largest = std::max(largest,
                         std::fabs(found[static_cast<std::size_t>(y * output.width + x)] - mean));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("double_spline: means over the footprints of homographies and of fields") {
  on_devices_with_doubles([](const Device& device) {
    const Shape shape{61, 48, 1};
    const Shape output{20, 16, 1};
    const auto samples = test::random_volume(shape, -1, 1, 75);
    const std::vector<double> values(samples.values.begin(), samples.values.end());
    // It shrinks by 1.6 at the left and by 5 at the right.
    constexpr double a = 2.2, b = 0.7, c = 3.2, d = -0.4, e = 2.6, f = 6.1, g = -0.019, h = 0.004;
    HomogeneousMatrix homography;
    homography.m = {a, b, 0, c, d, e, 0, f, 0, 0, 1, 0, g, h, 0, 1};
    const auto local = [&](double x, double y) {
      const double w = g * x + h * y + 1;
      const double u = (a * x + b * y + c) / w, v = (d * x + e * y + f) / w;
      reference::PlaneTransform t{(a - u * g) / w, (b - u * h) / w, 0,
                                  (d - v * g) / w, (e - v * h) / w, 0};
      t[2] = u - t[0] * x - t[1] * y;
      t[5] = v - t[3] * x - t[4] * y;
      return t;
    };
    for (int degree = 1; degree <= 5; ++degree) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::grid_wrap}) {
        CAPTURE(degree);
        CAPTURE(std::string(name_of(boundary)));
        const DoubleSplineSpec spec{.degree = degree,
                                    .boundary = boundary,
                                    .images = {.shape = shape},
                                    .output = output,
                                    .footprints = true};
        const auto edge = test::edge_of(boundary);
        const auto spline = degree < 2 ? reference::unfiltered(samples, 2, degree, edge)
                                       : reference::solve(samples, 2, degree, edge);
        // The oracle finds the axes by an angle; both are accurate to some 1e-15 of it.
        CHECK(largest_error_of_means(transformed(device, spec, values, homography, 0), output,
                                     spline, local) <= 1e-12);
        // Explicit coordinates of a linear map, of which differences are exact.
        std::vector<double> points;
        for (int axis = 0; axis < 2; ++axis) {
          for (std::int64_t y = 0; y < output.height; ++y) {
            for (std::int64_t x = 0; x < output.width; ++x) {
              const auto u = static_cast<double>(x), v = static_cast<double>(y);
              points.push_back(axis == 0 ? 3 * u - v + 4.125 : 0.5 * u + 2 * v + 1.75);
            }
          }
        }
        const reference::PlaneTransform linear{3, -1, 4.125, 0.5, 2, 1.75};
        CHECK(largest_error_of_means(at_points(device, spec, values, points, 0), output, spline,
                                     [&](double, double) { return linear; }) <= 1e-12);
      }
    }
  });
}

TEST_CASE("double_spline: footprints are limited, and missing coordinates spoil no neighbour") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  on_devices_with_doubles([&](const Device& device) {
    DoubleSplineSpec spec{.degree = 1,
                          .boundary = Boundary::constant,
                          .images = {.shape = {64, 64, 1}},
                          .output = {3, 1, 1},
                          .footprints = true};
    const std::vector<double> ones(64 * 64, 1.0);
    const auto outside = std::bit_cast<std::uint64_t>(9.0);
    // The first two points are 1e7 apart, the third one has no coordinate.
    const auto found = at_points(device, spec, ones, {5, 1e7, nan, 5, 6, 7}, outside);
    CHECK(std::fabs(found[0] - 1) <= 1e-12);
    CHECK(found[1] == 9);
    CHECK(found[2] == 9);
    spec.boundary = Boundary::mirror;
    const auto mirrored = at_points(device, spec, ones, {5, 8, nan, 5, 6, 7}, outside);
    CHECK(std::fabs(mirrored[0] - 1) <= 1e-12);
    CHECK(std::fabs(mirrored[1] - 1) <= 1e-12);
    CHECK(mirrored[2] == 9);
  });
}

TEST_CASE("double_spline: invalid arguments are errors") {
  on_devices_with_doubles([](const Device& device) {
    const DoubleSplineSpec good{.images = {.shape = {8, 8, 1}}, .output = {8, 8, 1}};
    const auto refused = [&](auto change) {
      DoubleSplineSpec spec = good;
      change(spec);
      CHECK_THROWS_AS(DoubleSplinePlan(device, spec), Error);
    };
    CHECK_NOTHROW(DoubleSplinePlan(device, good));
    refused([](DoubleSplineSpec& spec) { spec.degree = 6; });
    refused([](DoubleSplineSpec& spec) { spec.margin = -1; });
    refused([](DoubleSplineSpec& spec) { spec.output.width = 0; });
    refused([](DoubleSplineSpec& spec) { spec.images.count = 0; });
    refused([](DoubleSplineSpec& spec) {
      spec.degree = 1;
      spec.pixels = PixelType::c32;
    });
    refused([](DoubleSplineSpec& spec) { spec.footprints = true; });
    refused([](DoubleSplineSpec& spec) { spec.padding = 1; });
    refused([](DoubleSplineSpec& spec) {
      spec.degree = 3;
      spec.padding = spec.margin = 12;
    });
    auto stream = device.make_stream();
    auto image = device.make_image(PixelType::f64, {8, 8, 1});
    auto other = device.make_image(PixelType::f32, {8, 8, 1});
    const DoubleSplinePlan plan(device, good);
    CHECK_THROWS_AS(plan.execute(stream, image, HomogeneousMatrix(), 0, other), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, HomogeneousMatrix(), 0, image), Error);
    auto output = device.make_image(PixelType::f64, {8, 8, 1});
    CHECK_THROWS_AS(plan.execute(stream, image, other, 0, output), Error);
    CHECK_THROWS_AS(plan.prefilter(stream, image, output), Error);
  });
}
