// Local gain and offset of registered images against the oracle, on every device.
#include "reference/refinement/illumination.hpp"
#include "reference/refinement/similarity_sums.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>

namespace {

using warpalign::Affine;
using warpalign::Error;
using warpalign::Homography;
using warpalign::IlluminationPlan;
using warpalign::IlluminationPrior;
using warpalign::IlluminationSpec;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::SimilarityImages;

struct Case {
  IlluminationSpec spec;
  Homography matrix;
  IlluminationPrior prior{1.2, 0.5, 0.4, 0.02};
};

Case rotated(const Shape& reference, const Shape& moving, const Similarity& similarity) {
  Case c;
  c.spec.reference = reference;
  c.spec.moving = moving;
  c.matrix = similarity.matrix(reference, moving);
  return c;
}

Case small_rotation() { return rotated({70, 53, 1}, {70, 53, 1}, {20, 0.9, {3.3, -2.1}}); }

// 1 with spots of 0, some of which cover whole cells of 8.
reference::Plane spotted(const Shape& shape) {
  reference::Plane weight(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      weight.at(x, y) = (x / 11 + y / 9) % 3 == 0 ? 0 : 1;
    }
  }
  return weight;
}

reference::Spectrum poisoned_field(const warpalign::Device& device, warpalign::Stream& stream,
                                   const Case& c, const SimilarityImages& images) {
  auto field = device.make_image(PixelType::c32,
                                 IlluminationPlan::field_shape(c.spec.reference, c.spec.cell));
  test::poison(stream, field);
  IlluminationPlan(device, c.spec).execute(stream, images, c.matrix, c.prior, field);
  return test::spectrum_from_device(stream, field);
}

void compare(const warpalign::Device& device, const Case& c) {
  CAPTURE(to_string(c.spec.reference));
  CAPTURE(c.spec.cell);
  CAPTURE(c.spec.sigma);
  CAPTURE(c.spec.masked);
  const Shape& r = c.spec.reference;
  const Shape& m = c.spec.moving;
  const auto reference = test::random_plane(r.width, r.height, 0, 1, 90);
  const auto coefficients = test::random_plane(m.width, m.height, 0, 1, 91);
  const auto reference_weight = spotted(r);
  const auto moving_weight = spotted(m);
  reference::ComparedPair pair{reference, coefficients};
  const auto& h = c.matrix.h;
  pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
  pair.w = {h[6], h[7], h[8]};
  pair.reference_margin = c.spec.reference_margin;
  pair.moving_margin = c.spec.moving_margin;
  if (c.spec.masked) pair.reference_weight = &reference_weight;
  if (c.spec.masked) pair.moving_weight = &moving_weight;
  REQUIRE(reference::similarity_sums(pair, {}, 0).ambiguous == 0);

  auto stream = device.make_stream();
  const auto device_reference = test::to_device(device, stream, reference);
  const auto device_coefficients = test::to_device(device, stream, coefficients);
  const auto device_reference_weight = test::to_device(device, stream, reference_weight);
  const auto device_moving_weight = test::to_device(device, stream, moving_weight);
  SimilarityImages images{device_reference, device_coefficients};
  if (c.spec.masked) images.reference_weight = &device_reference_weight;
  if (c.spec.masked) images.moving_weight = &device_moving_weight;
  const auto found = poisoned_field(device, stream, c, images);
  const auto expected =
      reference::illumination(pair, c.spec.cell, c.spec.sigma,
                              {c.prior.gain, c.prior.reference, c.prior.moving, c.prior.strength});
  // Moments of values within 1 of the given means are right to 3e-7, and are divided by a variance
  // plus strength of at least 0.02.
  CHECK(test::max_difference(found, expected) <= 2e-5);
}

}  // namespace

TEST_CASE("illumination: rotated images, with cells and Gaussians of several sizes") {
  test::on_every_device([](const warpalign::Device& device) {
    compare(device, small_rotation());
    compare(device, rotated({130, 65, 1}, {90, 200, 1}, {-75, 1.4, {0.2, 11}}));
    for (const int cell : {2, 5, 8, 13, 64}) {
      Case c = small_rotation();
      c.spec.cell = cell;
      c.spec.sigma = cell * 0.3;
      compare(device, c);
      c.spec.sigma = std::min(cell * 7.9, 30.0);
      compare(device, c);
    }
  });
}

TEST_CASE("illumination: homographies") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int cell : {2, 8, 13}) {
      Case c = small_rotation();
      c.spec.projective = true;
      c.spec.cell = cell;
      compare(device, c);
      // The divisor decreases by a third over the reference.
      c.matrix = Homography(
          {1.1037, 0.3071, -6.13719, -0.25113, 0.95257, 14.27133, 0.0031171, -0.0042093, 1});
      compare(device, c);
      c.spec.masked = true;
      c.spec.reference_margin = 3;
      compare(device, c);
    }
  });
}

TEST_CASE("illumination: long rows of cells") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int cell : {2, 5, 13, 64}) {
      Case c = rotated({300, 70, 1}, {290, 100, 1}, {7, 0.97, {0.43, 0.3}});
      c.spec.cell = cell;
      c.spec.sigma = 1.5 * cell;
      c.spec.reference_margin = 3;
      compare(device, c);
      c.spec.masked = true;
      c.matrix = Affine::translation(-7.25, 11.75);
      compare(device, c);
    }
  });
}

TEST_CASE("illumination: tiny images") {
  test::on_every_device([](const warpalign::Device& device) {
    Case c;
    c.spec.reference = {4, 4, 1};
    c.spec.moving = {4, 4, 1};
    compare(device, c);
    c.spec.reference = {1, 1, 1};
    c.matrix = Affine::translation(1, 1);
    compare(device, c);
    c.spec.reference = {1, 40, 1};
    c.spec.moving = {5, 45, 1};
    c.matrix = Affine::translation(1.25, 2.75);
    compare(device, c);
  });
}

TEST_CASE("illumination: masks and margins") {
  test::on_every_device([](const warpalign::Device& device) {
    Case c = small_rotation();
    c.spec.sigma = 3;  // so small that some cells have no pixel that counts
    c.spec.masked = true;
    compare(device, c);
    c.spec.reference_margin = 5;
    c.spec.moving_margin = 7;
    compare(device, c);
    c.spec.masked = false;
    compare(device, c);
  });
}

TEST_CASE("illumination: without overlap the result is the prior") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Affine& matrix : {Affine::translation(1000, 0), Affine::translation(1e30, -1e30),
                                 Affine{1e308, 1e308, -1e308, -1e308, 1e308, 1e308}}) {
      Case c = small_rotation();
      c.matrix = matrix;
      auto stream = device.make_stream();
      const auto image = test::to_device(device, stream, test::random_plane(70, 53, 0, 1, 90));
      for (const auto& illumination : poisoned_field(device, stream, c, {image, image}).values) {
        // Both follow from the prior with one or two roundings.
        REQUIRE(illumination.real() == doctest::Approx(1.2).epsilon(1e-6));
        REQUIRE(illumination.imag() == doctest::Approx(0.4 - 1.2 * 0.5).epsilon(1e-6));
      }
    }
  });
}

TEST_CASE("illumination: a weak prior hardly changes the fit to the pixels") {
  test::on_every_device([](const warpalign::Device& device) {
    // The coefficients are constant, hence the image: the fitted gain would be 0, and the result
    // is what the prior adds.
    Case c = small_rotation();
    c.matrix = {};
    c.spec.moving_margin = 1;
    c.prior = {1.5, 0.5, 0.25, 1e-3};
    const auto reference = test::random_plane(70, 53, 0, 1, 92);
    reference::Plane constant(70, 53);
    for (double& value : constant.values) value = 0.25;
    auto stream = device.make_stream();
    const auto device_reference = test::to_device(device, stream, reference);
    const auto device_constant = test::to_device(device, stream, constant);
    const auto field = poisoned_field(device, stream, c, {device_reference, device_constant});
    // The strength of 1e-3 is 1.2 percent of the variance 1/12: 1.5 * 0.012. The variance of the
    // few hundred pixels around a corner's cell is off by up to a tenth, and their mean by a few
    // hundredths.
    for (const auto& illumination : field.values) {
      CHECK(illumination.real() == doctest::Approx(0.018).epsilon(0.15));
      CHECK(illumination.imag() == doctest::Approx(0.25 - 0.5 * illumination.real()).epsilon(0.01));
    }
  });
}

TEST_CASE("illumination: wrong specifications, numbers and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{20, 17, 1};
    const IlluminationSpec good{shape, shape};
    const auto refused = [&](auto&& spoil) {
      IlluminationSpec spec = good;
      spoil(spec);
      CHECK_THROWS_AS(IlluminationPlan(device, spec), Error);
    };
    refused([](IlluminationSpec& s) { s.cell = 1; });
    refused([](IlluminationSpec& s) { s.cell = 65; });
    refused([](IlluminationSpec& s) { s.sigma = 0; });
    refused([](IlluminationSpec& s) { s.sigma = 64.1; });
    refused([](IlluminationSpec& s) { s.sigma = std::nan(""); });
    refused([](IlluminationSpec& s) { s.reference_margin = -1; });
    refused([](IlluminationSpec& s) { s.moving_margin = 0; });
    refused([](IlluminationSpec& s) { s.reference.depth = 2; });
    refused([](IlluminationSpec& s) { s.moving.width = 0; });

    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, shape);
    const auto small = device.make_image(PixelType::f32, {20, 16, 1});
    auto field = device.make_image(PixelType::c32, {3, 3, 1});
    auto narrow = device.make_image(PixelType::c32, {2, 3, 1});
    const IlluminationPrior prior{1, 0, 0, 0.1};
    const SimilarityImages images{image, image};
    const IlluminationPlan plan(device, good);
    const auto not_taken = [&](const SimilarityImages& given, const Affine& matrix,
                               const IlluminationPrior& of, warpalign::Image& target) {
      CHECK_THROWS_AS(plan.execute(stream, given, matrix, of, target), Error);
    };
    not_taken({small, image}, {}, prior, field);
    not_taken({image, small}, {}, prior, field);
    not_taken({image, image, &image, &image}, {}, prior, field);
    not_taken(images, {}, prior, narrow);
    not_taken(images, Affine::translation(0, std::nan("")), prior, field);
    not_taken(images, {}, {1, 0, 0, 0}, field);
    not_taken(images, {}, {std::nan(""), 0, 0, 1}, field);
    not_taken(images, {}, {1, INFINITY, 0, 1}, field);
    IlluminationSpec masked = good;
    masked.masked = true;
    CHECK_THROWS_AS(IlluminationPlan(device, masked).execute(stream, images, {}, prior, field),
                    Error);
  });
}
