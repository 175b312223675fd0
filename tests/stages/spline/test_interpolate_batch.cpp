// Evaluation of batches: each array is bit-identical to that of a single plan, on every device.
#include "support/batches.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <doctest/doctest.h>

namespace {

using test::Bytes;
using warpalign::Affine;
using warpalign::Boundary;
using warpalign::Device;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::Image;
using warpalign::InterpolatePlan;
using warpalign::InterpolateSpec;
using warpalign::PixelType;
using warpalign::Precision;
using warpalign::Shape;
using warpalign::Stream;

constexpr Shape lines{61, 1, 1}, planes{43, 37, 1}, volumes{19, 17, 11};

InterpolateSpec spec_of(int dimensions, int degree, Boundary boundary, std::int64_t batch) {
  InterpolateSpec spec;
  spec.images.dimensions = dimensions;
  spec.images.shape = dimensions == 1 ? lines : dimensions == 2 ? planes : volumes;
  spec.output = dimensions == 1   ? Shape{70, 1, 1}
                : dimensions == 2 ? Shape{70, 35, 1}
                                  : Shape{21, 13, 12};
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.375;
  spec.images.count = batch;
  return spec;
}

/// A drift: one matrix, with a shift for each array. Some points lie outside the image.
std::vector<HomogeneousMatrix> drift(int dimensions, std::int64_t arrays) {
  std::vector<HomogeneousMatrix> transforms;
  for (std::int64_t i = 0; i < arrays; ++i) {
    const double shift = 0.37 * static_cast<double>(i % 23) - 1.3;
    switch (dimensions) {
      case 1:
        transforms.emplace_back(Affine{0.93, 0, shift, 0, 1, 0});
        break;
      case 2:
        transforms.emplace_back(Affine{0.91, 0.13, shift, -0.17, 0.95, 2.1 - shift});
        break;
      default:
        transforms.push_back(HomogeneousMatrix::affine3(
            {0.9, 0.2, 0.1, shift, -0.2, 0.9, 0.1, 2.2 - shift, 0.1, -0.1, 0.95, 0.3 * shift}));
    }
  }
  return transforms;
}

/// Runs a plan on one image. `execute(plan, stream, coefficients, output)` enqueues it.
template <class Execute>
Bytes evaluated(const Device& device, const InterpolateSpec& spec, const Bytes& coefficients,
                const Execute& execute) {
  auto stream = device.make_stream();
  const auto input = test::image_of(device, stream, spec.coefficients,
                                    InterpolatePlan::coefficient_shape(spec), coefficients);
  auto output = device.make_image(
      spec.output_type, warpalign::stacked(spec.output, spec.images.dimensions, spec.images.count));
  test::poison(stream, output);
  const InterpolatePlan plan(device, spec);
  execute(plan, stream, input, output);
  return test::bytes_of(stream, output);
}

InterpolateSpec alone(InterpolateSpec spec) {
  spec.images.count = 1;
  return spec;
}

Bytes coefficients_of(const InterpolateSpec& spec) {
  return test::random_pixels(spec.coefficients, InterpolatePlan::coefficient_shape(spec), 5);
}

/// Compares with one transform for all arrays, then with one for each. `wanted` lists the arrays
/// to compare.
void compare(const Device& device, const InterpolateSpec& spec,
             const std::vector<HomogeneousMatrix>& transforms,
             const std::vector<std::int64_t>& wanted) {
  CAPTURE(spec.images.dimensions);
  CAPTURE(spec.spline.degree);
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  CAPTURE(std::string(warpalign::name_of(spec.output_type)));
  CAPTURE(spec.images.count);
  const Bytes coefficients = coefficients_of(spec);
  const auto by = [&](const auto& points) {
    return [&](const auto& plan, auto& stream, const auto& input, auto& output) {
      plan.execute(stream, input, points, output);
    };
  };
  const Bytes alike = evaluated(device, spec, coefficients, by(transforms.front()));
  const Bytes each = evaluated(device, spec, coefficients, by(transforms));
  for (const std::int64_t i : wanted) {
    CAPTURE(i);
    const Bytes own = test::array_of(coefficients, spec.images.count, i);
    const auto of_array = [&](const HomogeneousMatrix& transform) {
      return evaluated(device, alone(spec), own, by(transform));
    };
    CHECK(test::array_of(alike, spec.images.count, i) == of_array(transforms.front()));
    CHECK(test::array_of(each, spec.images.count, i) ==
          of_array(transforms[static_cast<std::size_t>(i)]));
  }
}

void compare(const Device& device, const InterpolateSpec& spec) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < spec.images.count; ++i) all.push_back(i);
  compare(device, spec, drift(spec.images.dimensions, spec.images.count), all);
}

/// The difference of two results that are each within 4e-7 of the largest coefficient, which is 1.
constexpr double two_roundings = 8e-7;

}  // namespace

TEST_CASE("interpolate batch: degrees and dimensions") {
  test::on_every_device([](const Device& device) {
    for (const int dimensions : {1, 2, 3}) {
      for (const int degree : {0, 1, 3, 5}) {
        compare(device, spec_of(dimensions, degree, Boundary::mirror, 3));
      }
    }
  });
}

TEST_CASE("interpolate batch: boundaries, with margins and without") {
  test::on_every_device([](const Device& device) {
    for (const Boundary boundary : {Boundary::constant, Boundary::nearest, Boundary::grid_constant,
                                    Boundary::wrap, Boundary::grid_wrap}) {
      for (const int dimensions : {2, 3}) compare(device, spec_of(dimensions, 3, boundary, 2));
      compare(device, spec_of(2, 1, boundary, 2));
    }
  });
}

TEST_CASE("interpolate batch: one array and seven") {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t batch : {1, 7}) compare(device, spec_of(2, 3, Boundary::mirror, batch));
  });
}

TEST_CASE("interpolate batch: types, complex coefficients, texture precision") {
  test::on_every_device([](const Device& device) {
    InterpolateSpec spec = spec_of(2, 3, Boundary::mirror, 3);
    for (const PixelType type : {PixelType::u8, PixelType::i16, PixelType::f16, PixelType::f64}) {
      spec.output_type = type;
      compare(device, spec);
    }
    spec.coefficients = spec.output_type = PixelType::c32;
    compare(device, spec);
    for (const int degree : {1, 3}) {
      spec = spec_of(2, degree, Boundary::mirror, 3);
      spec.images.shape.width = 48;  // a multiple of a word, which some devices read in place
      spec.spline.precision = Precision::texture;
      compare(device, spec);
    }
    spec = spec_of(3, 3, Boundary::nearest, 3);
    spec.spline.precision = Precision::texture;
    compare(device, spec);
  });
}

TEST_CASE("interpolate batch: more arrays than a grid has rows") {
  test::on_every_device([](const Device& device) {
    for (const int dimensions : {1, 2, 3}) {
      for (const int degree : {0, 1, 3}) {
        InterpolateSpec spec = spec_of(dimensions, degree, Boundary::mirror, 65543);
        spec.images.shape = {5, dimensions > 1 ? 3 : 1, dimensions > 2 ? 4 : 1};
        spec.output = {4, dimensions > 1 ? 2 : 1, dimensions > 2 ? 3 : 1};
        compare(device, spec, drift(dimensions, spec.images.count),
                {0, 1, 32767, 65534, 65535, 65536, 65542});
      }
    }
  });
}

TEST_CASE("interpolate batch: one coordinate field, one log-polar grid") {
  test::on_every_device([](const Device& device) {
    const InterpolateSpec spec = spec_of(2, 3, Boundary::nearest, 3);
    const Bytes coefficients = coefficients_of(spec);
    const Shape field_shape = InterpolatePlan::coordinates_shape(spec);
    Bytes locations = test::random_pixels(PixelType::f32, field_shape, 6);
    for (std::size_t i = 0; i < locations.size(); i += sizeof(float)) {
      float at;
      std::memcpy(&at, locations.data() + i, sizeof at);
      at = 40 * at + 20;
      std::memcpy(locations.data() + i, &at, sizeof at);
    }
    const auto by_field = [&](const auto& plan, auto& stream, const auto& input, auto& output) {
      const auto field = test::image_of(device, stream, PixelType::f32, field_shape, locations);
      plan.execute(stream, input, field, output);
      stream.finish();
    };
    const auto by_grid = [](const auto& plan, auto& stream, const auto& input, auto& output) {
      const warpalign::LogPolarSampling grid{20, 18, 0, 0.05, 0, 0.17};
      plan.execute(stream, input, grid, output);
    };
    const Bytes at_points = evaluated(device, spec, coefficients, by_field);
    const Bytes on_grid = evaluated(device, spec, coefficients, by_grid);
    for (std::int64_t i = 0; i < spec.images.count; ++i) {
      const Bytes own = test::array_of(coefficients, spec.images.count, i);
      CHECK(test::array_of(at_points, 3, i) == evaluated(device, alone(spec), own, by_field));
      CHECK(test::array_of(on_grid, 3, i) == evaluated(device, alone(spec), own, by_grid));
    }
  });
}

TEST_CASE("interpolate batch: gradients are stored axis by axis, then array by array") {
  test::on_every_device([](const Device& device) {
    for (const int dimensions : {1, 2, 3}) {
      const InterpolateSpec spec = spec_of(dimensions, 3, Boundary::mirror, 3);
      const Bytes coefficients = coefficients_of(spec);
      const auto transforms = drift(dimensions, spec.images.count);
      Bytes slopes;
      const auto with_gradient = [&](const InterpolateSpec& of, const auto& points) {
        return [&device, &slopes, &points, of](const auto& plan, auto& stream, const auto& input,
                                               auto& output) {
          auto gradient = device.make_image(PixelType::f32, InterpolatePlan::gradient_shape(of));
          test::poison(stream, gradient);
          plan.execute_with_gradient(stream, input, points, output, gradient);
          slopes = test::bytes_of(stream, gradient);
        };
      };
      const Bytes values = evaluated(device, spec, coefficients, with_gradient(spec, transforms));
      const Bytes all_slopes = slopes;
      for (std::int64_t i = 0; i < spec.images.count; ++i) {
        const Bytes own = test::array_of(coefficients, spec.images.count, i);
        const HomogeneousMatrix& transform = transforms[static_cast<std::size_t>(i)];
        CHECK(test::array_of(values, 3, i) ==
              evaluated(device, alone(spec), own, with_gradient(alone(spec), transform)));
        for (std::int64_t axis = 0; axis < dimensions; ++axis) {
          CHECK(test::array_of(all_slopes, 3 * dimensions, axis * 3 + i) ==
                test::array_of(slopes, dimensions, axis));
        }
      }
    }
  });
}

TEST_CASE("interpolate batch: transforms of different kinds, each array within rounding") {
  test::on_every_device([](const Device& device) {
    for (const bool projective : {false, true}) {
      const InterpolateSpec spec = spec_of(2, 3, Boundary::mirror, 4);
      std::vector<HomogeneousMatrix> transforms{
          Affine{0.9, 0.1, 1, -0.1, 0.9, 2}, Affine{0.1, 2.1, -3, -1.9, 0.2, 30},
          Affine{1, 0, 1e8, 0, 1, 0}, Affine{0.1, 0, 3, 0, 7, 2}};
      if (projective)
        transforms[2] = HomogeneousMatrix::homography({1, 0, 2, 0, 1, 3, 1e-3, 2e-3, 1});
      const Bytes coefficients = coefficients_of(spec);
      const Bytes found = evaluated(device, spec, coefficients,
                                    [&](auto& plan, auto& stream, auto& input, auto& output) {
                                      plan.execute(stream, input, transforms, output);
                                    });
      for (std::int64_t i = 0; i < spec.images.count; ++i) {
        CAPTURE(i);
        const Bytes expected = evaluated(
            device, alone(spec), test::array_of(coefficients, spec.images.count, i),
            [&](auto& plan, auto& stream, auto& input, auto& output) {
              plan.execute(stream, input, transforms[static_cast<std::size_t>(i)], output);
            });
        CHECK(test::largest_difference(test::array_of(found, spec.images.count, i), expected) <=
              two_roundings);
      }
    }
  });
}

TEST_CASE("interpolate batch: consecutive executions keep their own transforms") {
  test::on_every_device([](const Device& device) {
    const InterpolateSpec spec = spec_of(2, 3, Boundary::mirror, 3);
    const Bytes coefficients = coefficients_of(spec);
    auto stream = device.make_stream();
    const auto input = test::image_of(device, stream, PixelType::f32,
                                      InterpolatePlan::coefficient_shape(spec), coefficients);
    const InterpolatePlan plan(device, spec);
    std::vector<Image> outputs;
    constexpr std::size_t executions = 5;
    const auto transforms = drift(2, 3 * executions);
    for (std::size_t k = 0; k < executions; ++k) {
      outputs.push_back(device.make_image(PixelType::f32, warpalign::stacked(spec.output, 2, 3)));
      plan.execute(stream, input, std::span(transforms).subspan(3 * k, 3), outputs.back());
    }
    for (std::size_t k = 0; k < executions; ++k) {
      const Bytes expected =
          evaluated(device, spec, coefficients, [&](auto& own, auto& queue, auto& in, auto& out) {
            own.execute(queue, in, std::span(transforms).subspan(3 * k, 3), out);
          });
      CHECK(test::bytes_of(stream, outputs[k]) == expected);
    }
  });
}

TEST_CASE("interpolate batch: mismatched images are refused") {
  const Device& device = test::devices().front();
  for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    CHECK_THROWS_AS(InterpolatePlan(device, spec_of(2, 3, Boundary::mirror, batch)), Error);
  }
  const InterpolateSpec spec = spec_of(2, 3, Boundary::mirror, 3);
  const InterpolatePlan plan(device, spec);
  auto stream = device.make_stream();
  const auto make = [&](const Shape& shape) { return device.make_image(PixelType::f32, shape); };
  const Shape input_shape{43, 37, 3};
  const auto input = test::image_of(device, stream, PixelType::f32, input_shape,
                                    test::random_pixels(PixelType::f32, input_shape, 27));
  auto output = make({70, 35, 3});
  const auto transforms = drift(2, 3);
  plan.execute(stream, input, transforms, output);
  CHECK_THROWS_AS(plan.execute(stream, input, drift(2, 2), output), Error);
  CHECK_THROWS_AS(plan.execute(stream, input, drift(2, 4), output), Error);
  CHECK_THROWS_AS(plan.execute(stream, input, std::span<const HomogeneousMatrix>(), output), Error);
  auto broken = transforms;
  broken[1].m[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(plan.execute(stream, input, broken, output), Error);
  const auto one = make({43, 37, 1});
  CHECK_THROWS_AS(plan.execute(stream, one, transforms, output), Error);
  auto one_output = make({70, 35, 1});
  CHECK_THROWS_AS(plan.execute(stream, input, transforms, one_output), Error);
  const auto fields = make({70, 35, 6});  // the plan has one field for all arrays
  CHECK_THROWS_AS(plan.execute(stream, input, fields, output), Error);
  auto one_gradient = make({70, 35, 2});
  CHECK_THROWS_AS(plan.execute_with_gradient(stream, input, transforms, output, one_gradient),
                  Error);
  stream.finish();
}
