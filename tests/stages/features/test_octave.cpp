// Octaves of a scale space against the oracle, on every device.
#include "reference/features/octave.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/packed_planes.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/features/octave.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::Device;
using warpalign::Error;
using warpalign::OctavePlan;
using warpalign::OctaveSpec;
using warpalign::Shape;
using warpalign::Stream;

using Planes = std::vector<reference::Plane>;

const std::vector<Shape>& odd_shapes() {
  static const std::vector<Shape> shapes{{71, 43, 1}, {16, 16, 1}, {9, 50, 1},  {33, 2, 1},
                                         {2, 33, 1},  {17, 5, 1},  {130, 65, 1}};
  return shapes;
}

Planes random_planes(const std::vector<Shape>& shapes, std::uint32_t seed) {
  Planes planes;
  for (const Shape& shape : shapes) {
    planes.push_back(test::random_plane(shape.width, shape.height, 0, 1, seed++));
  }
  return planes;
}

/// All images of the octave of image `image` of a source.
std::vector<float> octave_of(const Device& device, const Planes& source, std::int64_t image,
                             const OctaveSpec& spec) {
  Stream stream = device.make_stream();
  const auto input = test::to_buffer(device, stream, test::packed(source));
  const std::size_t bytes = OctavePlan::bytes_of(spec);
  auto output = test::poisoned(device, stream, bytes);
  auto between = test::poisoned(device, stream, OctavePlan::bytes_between(spec));
  OctavePlan(device, spec).execute(stream, input, image, between, output);
  return test::from_buffer<float>(stream, output, bytes / sizeof(float));
}

std::vector<Shape> shapes_of_all_images(const OctaveSpec& spec) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < spec.sigmas.size(); ++i) {
    for (const Shape& shape : OctavePlan::planes_of(spec)) shapes.push_back(shape);
  }
  return shapes;
}

/// `source` has `images` images; the last one is used.
void compare(const Device& device, const OctaveSpec& spec, std::int64_t images) {
  CAPTURE(spec.step);
  CAPTURE(spec.sigmas.size());
  Planes source;
  for (std::int64_t i = 0; i < images; ++i) {
    for (reference::Plane& plane :
         random_planes(spec.planes, static_cast<std::uint32_t>(100 * i + 1))) {
      source.push_back(std::move(plane));
    }
  }
  const std::vector<float> all = octave_of(device, source, images - 1, spec);
  const Planes found = test::unpacked(all, shapes_of_all_images(spec));
  const std::size_t planes = spec.planes.size();
  for (std::size_t p = 0; p < planes; ++p) {
    CAPTURE(to_string(spec.planes[p]));
    const auto& taken = source[static_cast<std::size_t>(images - 1) * planes + p];
    const Planes expected = reference::octave(taken, spec.step, spec.sigmas);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      // Values are 0 to 1, and weights add up to 1. Up to 41 additions along each axis round a sum
      // below 1 by up to 3e-8 each, in the worst case all in one direction, in up to five images.
      // The largest error seen is 5e-7.
      CHECK(test::max_difference(found[i * planes + p], expected[i]) <= 3e-6);
    }
  }
}

}  // namespace

TEST_CASE("octave: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    compare(device, {odd_shapes(), 1, {1.6, 1.2, 1.5, 1.9, 2.4}}, 1);
    compare(device, {odd_shapes(), 1, {0, 0.3, 6.5}}, 1);
    compare(device, {{{61, 47, 1}}, 1, {0.8}}, 1);
  });
}

TEST_CASE("octave: every second or third pixel, and an image further back in the source") {
  test::on_every_device([](const Device& device) {
    compare(device, {odd_shapes(), 2, {0, 1.2, 1.5}}, 3);
    compare(device, {odd_shapes(), 2, {1.6, 1.2}}, 1);
    compare(device, {{{71, 43, 1}, {10, 50, 1}, {3, 3, 1}}, 3, {2.2, 0.9}}, 2);
  });
}

TEST_CASE("octave: sigma 0 copies") {
  test::on_every_device([](const Device& device) {
    const OctaveSpec spec{odd_shapes(), 1, {0, 0}};
    const Planes source = random_planes(spec.planes, 5);
    const std::vector<float> pixels = test::packed(source);
    std::vector<float> twice = pixels;
    twice.insert(twice.end(), pixels.begin(), pixels.end());
    CHECK(octave_of(device, source, 0, spec) == twice);
  });
}

TEST_CASE("octave: sigma 0 takes every second pixel as it is, the first one included") {
  test::on_every_device([](const Device& device) {
    const OctaveSpec spec{{{7, 5, 1}}, 2, {0}};
    reference::Plane source(7, 5);
    for (std::size_t i = 0; i < source.values.size(); ++i) {
      source.values[i] = static_cast<double>(i);
    }
    CHECK(octave_of(device, {source}, 0, spec) == std::vector<float>{0, 2, 4, 14, 16, 18});
  });
}

TEST_CASE("octave: a constant image stays as it is") {
  test::on_every_device([](const Device& device) {
    reference::Plane source(37, 21);
    source.values.assign(source.values.size(), 3);
    for (const float value : octave_of(device, {source}, 0, {{{37, 21, 1}}, 1, {1.6, 2.5}})) {
      // The weights add up to 1 within a few roundings of 6e-8, on four axes.
      CHECK(std::abs(value - 3.0F) <= 2e-6F);
    }
  });
}

TEST_CASE("octave: a bright pixel becomes a Gaussian that ends at 3 sigma, rounded up") {
  test::on_every_device([](const Device& device) {
    reference::Plane source(31, 29);
    source.at(15, 14) = 1;
    const OctaveSpec spec{{{31, 29, 1}}, 1, {1.4}};  // 4.2, hence 5 pixels
    const auto found = test::unpacked(octave_of(device, {source}, 0, spec), spec.planes)[0];
    CHECK(found.at(10, 14) > 0);
    CHECK(found.at(20, 14) > 0);
    CHECK(found.at(15, 9) > 0);
    CHECK(found.at(15, 19) > 0);
    CHECK(found.at(9, 14) == 0);
    CHECK(found.at(21, 14) == 0);
    CHECK(found.at(15, 8) == 0);
    CHECK(found.at(15, 20) == 0);
    // exp(-1 / 2) at a distance of one sigma along an axis, within the rounding of the weights.
    CHECK(std::abs(found.at(16, 14) / found.at(15, 14) - std::exp(-0.5 / 1.96)) <= 1e-6);
    CHECK(std::abs(found.at(15, 15) / found.at(15, 14) - std::exp(-0.5 / 1.96)) <= 1e-6);
  });
}

TEST_CASE("octave: two executions give the same bits") {
  test::on_every_device([](const Device& device) {
    const OctaveSpec spec{odd_shapes(), 2, {1.6, 1.2, 1.5}};
    const Planes source = random_planes(spec.planes, 9);
    CHECK(octave_of(device, source, 0, spec) == octave_of(device, source, 0, spec));
  });
}

TEST_CASE("octave: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    const OctaveSpec good{{{20, 10, 1}, {8, 8, 1}}, 2, {1.6, 1.2}};
    const auto refused = [&](const auto& spoil) {
      OctaveSpec spec = good;
      spoil(spec);
      CHECK_THROWS_AS(OctavePlan(device, spec), Error);
    };
    refused([](OctaveSpec& s) { s.planes.clear(); });
    refused([](OctaveSpec& s) { s.planes[1] = {0, 8, 1}; });
    refused([](OctaveSpec& s) { s.planes[1] = {8, 8, 2}; });
    refused([](OctaveSpec& s) { s.planes[1] = {8, 1, 1}; });  // no pixel at this step
    refused([](OctaveSpec& s) { s.step = 0; });
    refused([](OctaveSpec& s) { s.sigmas.clear(); });
    refused([](OctaveSpec& s) { s.sigmas[1] = -0.1; });
    refused([](OctaveSpec& s) { s.sigmas[1] = 32.1; });
    refused([](OctaveSpec& s) { s.sigmas[1] = std::numeric_limits<double>::quiet_NaN(); });
    refused([](OctaveSpec& s) { s.planes.assign(64, {8192, 8192, 1}); });

    Stream stream = device.make_stream();
    const OctavePlan plan(device, good);
    const std::size_t image = (200 + 64) * sizeof(float);
    const auto source = device.make_buffer(image);
    auto octave = device.make_buffer(OctavePlan::bytes_of(good));
    auto small = device.make_buffer(OctavePlan::bytes_of(good) - 4);
    auto between = device.make_buffer(OctavePlan::bytes_between(good));
    auto small_between = device.make_buffer(OctavePlan::bytes_between(good) - 4);
    CHECK_THROWS_AS(plan.execute(stream, source, -1, between, octave), Error);
    CHECK_THROWS_AS(plan.execute(stream, source, 1, between, octave), Error);
    CHECK_THROWS_AS(
        plan.execute(stream, source, std::numeric_limits<std::int64_t>::max(), between, octave),
        Error);
    CHECK_THROWS_AS(plan.execute(stream, source, 0, between, small), Error);
    CHECK_THROWS_AS(plan.execute(stream, device.make_buffer(image - 4), 0, between, octave), Error);
    CHECK_THROWS_AS(plan.execute(stream, source, 0, small_between, octave), Error);
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign = second.make_stream();
    CHECK_THROWS_AS(plan.execute(foreign, source, 0, between, octave), Error);
  });
}
