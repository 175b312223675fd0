// The double-angle representation of gradients against the oracle, on every device.
#include "reference/filter/double_angle.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/double_angle.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::Device;
using warpalign::DoubleAnglePlan;
using warpalign::DoubleAngleSpec;
using warpalign::DoubleAngleTerms;
using warpalign::Error;
using warpalign::Image;
using warpalign::PixelType;
using warpalign::Stream;

struct Planes {
  reference::Plane cosines, sines;
};

reference::Plane ones(const reference::Plane& like) {
  reference::Plane plane(like.width, like.height);
  plane.values.assign(plane.values.size(), 1);
  return plane;
}

Planes computed(const Device& device, const reference::Plane& image, const reference::Plane& weight,
                const DoubleAngleTerms& terms) {
  Stream stream = device.make_stream();
  const Image input = test::to_device(device, stream, image);
  const Image weights = test::to_device(device, stream, weight);
  Image cosines = device.make_image(PixelType::f32, input.shape());
  Image sines = device.make_image(PixelType::f32, input.shape());
  test::poison(stream, cosines);
  test::poison(stream, sines);
  DoubleAnglePlan(device, {input.shape()}).execute(stream, input, weights, terms, cosines, sines);
  return {test::from_device(stream, cosines), test::from_device(stream, sines)};
}

Planes expected(const reference::Plane& image, const reference::Plane& weight,
                const DoubleAngleTerms& terms, double rotation = 0) {
  const auto field = reference::double_angle(
      image, weight, {0.05F, rotation, terms.gain, {terms.mean.x, terms.mean.y}});
  Planes planes{reference::Plane(image.width, image.height),
                reference::Plane(image.width, image.height)};
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    planes.cosines.values[i] = field.values[i].real();
    planes.sines.values[i] = field.values[i].imag();
  }
  return planes;
}

reference::Plane ramp(std::int64_t side, double dx, double dy) {
  reference::Plane plane(side, side);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      plane.at(x, y) = dx * static_cast<double>(x) + dy * static_cast<double>(y);
    }
  }
  return plane;
}

}  // namespace

TEST_CASE("double_angle: agrees with the oracle") {
  const DoubleAngleTerms terms{{0.1, -0.2}, 1.5};
  test::on_every_device([&](const Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const reference::Plane image = test::random_plane(size.width, size.height, -1, 1, 1);
      reference::Plane weight = test::random_plane(size.width, size.height, 0, 1, 2);
      // A tenth of the pixels has a weight below 1.
      for (double& value : weight.values) value = value < 0.1 ? 0.9 : 1;
      const Planes found = computed(device, image, weight, terms);
      const Planes wanted = expected(image, weight, terms);
      // Values are up to 1.9, with about five roundings of half an ulp, 6e-8 each.
      CHECK(test::max_difference(found.cosines, wanted.cosines) <= 1e-6);
      CHECK(test::max_difference(found.sines, wanted.sines) <= 1e-6);
    }
  });
}

TEST_CASE("double_angle: an edge and its negative agree, and rotate by twice the angle") {
  test::on_every_device([](const Device& device) {
    const reference::Plane rising = ramp(8, 3, 0);
    const reference::Plane falling = ramp(8, -3, 0);
    const reference::Plane diagonal = ramp(8, 2, 2);
    const reference::Plane all = ones(rising);
    const double length = 9 / 9.05;
    for (const reference::Plane* image : {&rising, &falling}) {
      const Planes found = computed(device, *image, all, {});
      // Three roundings of numbers of about 1.
      CHECK(found.cosines.at(3, 3) == doctest::Approx(length).epsilon(3e-7));
      CHECK(found.sines.at(3, 3) == 0);
      CHECK(found.cosines.at(0, 3) == 0);
      CHECK(found.cosines.at(3, 7) == 0);
    }
    // From x towards y by 45 degrees: twice that is a quarter turn.
    const Planes rotated_edge = computed(device, diagonal, all, {});
    CHECK(rotated_edge.cosines.at(3, 3) == 0);
    CHECK(rotated_edge.sines.at(3, 3) == doctest::Approx(8 / 8.05).epsilon(3e-7));
  });
}

TEST_CASE("double_angle: rotated by twice the angle of the gradients") {
  test::on_every_device([](const Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const reference::Plane image = test::random_plane(size.width, size.height, -1, 1, 3);
      const Planes straight = computed(device, image, ones(image), {});
      Stream stream = device.make_stream();
      const Image cosines = test::to_device(device, stream, straight.cosines);
      const Image sines = test::to_device(device, stream, straight.sines);
      Image rotated_cosines = device.make_image(PixelType::f32, cosines.shape());
      Image rotated_sines = device.make_image(PixelType::f32, cosines.shape());
      test::poison(stream, rotated_cosines);
      test::poison(stream, rotated_sines);
      for (const double rotation : {0.4, -2.9, 100.0}) {
        CAPTURE(rotation);
        DoubleAnglePlan(device, {cosines.shape()})
            .turn(stream, cosines, sines, rotation, rotated_cosines, rotated_sines);
        const Planes wanted = expected(image, ones(image), {}, rotation);
        // Values are up to 1, with about five roundings each and two more for the rotation.
        CHECK(test::max_difference(test::from_device(stream, rotated_cosines), wanted.cosines) <=
              8e-7);
        CHECK(test::max_difference(test::from_device(stream, rotated_sines), wanted.sines) <= 8e-7);
      }
    }
  });
}

/// A stack of 9 x 7 slices whose pixels all count, and poisoned outputs.
struct Stack {
  Stack(const Device& device, std::int64_t slices)
      : stream(device.make_stream()),
        plan(device, {{9, 7, 1}, slices}),
        input(device.make_image(PixelType::f32, {9, 7, slices})),
        weight(device.make_image(PixelType::f32, {9, 7, slices})),
        cosines(device.make_image(PixelType::f32, {9, 7, slices})),
        sines(device.make_image(PixelType::f32, {9, 7, slices})) {
    std::vector<float> values(static_cast<std::size_t>(input.shape().pixels()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i));
    const std::vector<float> counts(values.size(), 1.0F);
    stream.upload(values.data(), values.size() * sizeof(float), input.buffer());
    stream.upload(counts.data(), counts.size() * sizeof(float), weight.buffer());
    test::poison(stream, cosines);
    test::poison(stream, sines);
  }

  void check_slice(std::int64_t slice, const DoubleAngleTerms& terms, double tolerance) {
    CAPTURE(slice);
    const reference::Plane plane = test::from_device(stream, input, slice);
    const Planes wanted = expected(plane, ones(plane), terms);
    CHECK(test::max_difference(test::from_device(stream, cosines, slice), wanted.cosines) <=
          tolerance);
    CHECK(test::max_difference(test::from_device(stream, sines, slice), wanted.sines) <= tolerance);
  }
  void check_untouched(std::int64_t slice) {
    CAPTURE(slice);
    CHECK(std::isnan(test::from_device(stream, cosines, slice).at(4, 3)));
    CHECK(std::isnan(test::from_device(stream, sines, slice).at(4, 3)));
  }

  Stream stream;
  DoubleAnglePlan plan;
  Image input, weight, cosines, sines;
};

TEST_CASE("double_angle: slices are computed independently") {
  test::on_every_device([](const Device& device) {
    Stack stack(device, 3);
    stack.plan.execute(stack.stream, stack.input, stack.weight, DoubleAngleTerms{}, stack.cosines,
                       stack.sines, 1);
    stack.check_slice(1, {}, 1e-6);
    stack.check_untouched(0);
    stack.check_untouched(2);
  });
}

TEST_CASE("double_angle: each of several slices has its own terms") {
  test::on_every_device([](const Device& device) {
    Stack stack(device, 4);
    const std::vector<DoubleAngleTerms> terms{{{0.1, 0.2}, 2}, {{-0.3, 0}, 1}};
    stack.plan.execute(stack.stream, stack.input, stack.weight, terms, stack.cosines, stack.sines,
                       1);
    // Values are up to twice those of a single slice, and so is the rounding error.
    stack.check_slice(1, terms[0], 2e-6);
    stack.check_slice(2, terms[1], 2e-6);
    stack.check_untouched(0);
    stack.check_untouched(3);
    CHECK_THROWS_AS(stack.plan.execute(stack.stream, stack.input, stack.weight, terms,
                                       stack.cosines, stack.sines, 3),
                    Error);
  });
}

TEST_CASE("double_angle: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(DoubleAnglePlan(device, {{0, 8, 1}}), Error);
    CHECK_THROWS_AS(DoubleAnglePlan(device, {{8, 8, 1}, 0}), Error);
    CHECK_THROWS_AS(DoubleAnglePlan(device, {{8, 8, 1}, 1, 0.0F}), Error);
    const DoubleAnglePlan plan(device, {{8, 8, 1}});
    Stream stream = device.make_stream();
    const auto image = [&](std::int64_t side) {
      return device.make_image(PixelType::f32, {side, side, 1});
    };
    const Image input = image(8);
    const Image small = image(7);
    Image cosines = image(8);
    Image sines = image(8);
    CHECK_THROWS_AS(plan.execute(stream, small, input, DoubleAngleTerms{}, cosines, sines), Error);
    CHECK_THROWS_AS(plan.execute(stream, input, small, DoubleAngleTerms{}, cosines, sines), Error);
    CHECK_THROWS_AS(plan.execute(stream, input, input, DoubleAngleTerms{}, cosines, cosines),
                    Error);
    CHECK_THROWS_AS(plan.execute(stream, input, input, DoubleAngleTerms{}, cosines, sines, 1),
                    Error);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(plan.execute(stream, input, input, {{}, nan}, cosines, sines), Error);
    Image rotated_cosines = image(8);
    Image rotated_sines = image(8);
    Image rotated_small = image(7);
    CHECK_THROWS_AS(plan.turn(stream, cosines, sines, nan, rotated_cosines, rotated_sines), Error);
    CHECK_THROWS_AS(plan.turn(stream, small, sines, 1, rotated_cosines, rotated_sines), Error);
    CHECK_THROWS_AS(plan.turn(stream, cosines, sines, 1, rotated_small, rotated_sines), Error);
    CHECK_THROWS_AS(plan.turn(stream, cosines, sines, 1, rotated_cosines, rotated_cosines), Error);
    CHECK_THROWS_AS(plan.turn(stream, cosines, sines, 1, cosines, rotated_sines), Error);
    CHECK_THROWS_AS(plan.turn(stream, cosines, sines, 1, rotated_cosines, sines), Error);
  });
}
