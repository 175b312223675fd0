// Bilinear warps, of images and of complex data, against the oracle.
#include "properties/trial.hpp"
#include "reference/spline/complex_bilinear.hpp"
#include "reference/spline/warp.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spline/complex_bilinear.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

/// Whether the GPU's texture unit interpolates, which rounds each fraction to 8 bits.
bool filters(const Device& device) { return device.info().sampling == Sampling::texture; }

/// Rotations, zooms and shears about any point.
Affine some_affine(Random& random, const Shape& shape) {
  const auto shift = [&](std::int64_t n) {
    return random.real(-0.7, 0.7) * static_cast<double>(n);
  };
  if (random.chance(0.1)) {
    return Affine::translation(std::round(shift(shape.width)), std::round(shift(shape.height)));
  }
  const double zoom = std::exp2(random.real(-2, 2));
  const double c = shift(shape.width), f = shift(shape.height);
  return {zoom * random.real(-1, 1), zoom * random.real(-1, 1), c,
          zoom * random.real(-1, 1), zoom * random.real(-1, 1), f};
}

/// The tolerance at (x, y) of the output. Entries of the transform, products and sums have a
/// relative rounding error of 2^-24, and so have the three interpolations of values in [-1, 1],
/// which differ by at most 2 along an axis.
double warp_tolerance(const Device& device, const Affine& m, double x, double y) {
  const double terms = std::abs(m.a) * x + std::abs(m.b) * y + std::abs(m.c) + std::abs(m.d) * x +
                       std::abs(m.e) * y + std::abs(m.f);
  const double loads = 2 * 4 * 6e-8 * terms + 6 * 6e-8;
  // Coordinates of a texture unit, which OpenCL's kernel does not use, are off by up to 1/512
  // along each axis, and the result is rounded.
  const bool filtered = filters(device) && device.info().backend == "cuda";
  return filtered ? loads + 1e-6 + 4.0 / 256 : loads;
}

double warp_error(const Device& device, const reference::Plane& image, const Affine& m,
                  const reference::Plane& found) {
  const auto expected =
      reference::warp(image, {m.a, m.b, m.c, m.d, m.e, m.f}, found.width, found.height);
  test::WorstError worst;
  for (std::int64_t y = 0; y < found.height; ++y) {
    for (std::int64_t x = 0; x < found.width; ++x) {
      worst.add(std::abs(found.at(x, y) - expected.at(x, y)) /
                warp_tolerance(device, m, static_cast<double>(x), static_cast<double>(y)));
    }
  }
  return worst.value();
}

void check_warp(Trial& trial) {
  Random& random = trial.random;
  const auto size = random.one_of<test::Size>({{1, 1}, {1, 7}, {5, 3}, {37, 30}, {64, 48}});
  const Shape output = random.one_of<Shape>({{1, 1, 1}, {40, 31, 1}, {7, 66, 1}, {64, 48, 1}});
  const auto count = random.one_of<std::int64_t>({1, 1, 3, 5});
  const std::int64_t first = random.integer(0, 2);
  std::vector<Affine> transforms;
  while (transforms.size() < static_cast<std::size_t>(count)) {
    transforms.push_back(some_affine(random, {size.width, size.height, 1}));
  }
  const Affine& m = transforms[0];
  trial.describe(test::to_string(size), " to ", count, " slices of ", output, " from ", first,
                 " on, matrix ", m.a, " ", m.b, " ", m.c, " ", m.d, " ", m.e, " ", m.f);
  const auto image = test::random_plane(size.width, size.height, -1, 1, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image);
    Image slices = device.make_image(PixelType::f32, test::stack_of(first + count, output));
    test::poison(stream, slices);
    const WarpPlan plan(device, {input.shape(), output, first + count});
    if (count == 1) plan.execute(stream, input, m, slices, first);
    if (count > 1) plan.execute(stream, input, transforms, slices, first);
    test::WorstError worst;
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      const auto slice = first + static_cast<std::int64_t>(i);
      worst.add(warp_error(device, image, transforms[i], test::from_device(stream, slices, slice)));
    }
    return worst.value();
  });
}

/// Coordinates along an axis of n pixels: inside and outside, whole numbers, and non-finite ones.
reference::Volume some_coordinates(Random& random, const Shape& shape, std::int64_t n) {
  const auto end = static_cast<double>(n);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  reference::Volume coordinates(shape.width, shape.height);
  for (double& value : coordinates.values) {
    value = random.real(-2.5, end + 1.5);
    if (random.chance(0.2)) value = std::floor(value);
    if (random.chance(0.05)) {
      value = random.one_of<double>({-1, -1e-6, 0, end - 1, end, end - 1e-3, -0.5, end - 0.5, 1e9,
                                     -1e30, 4294967296.0, infinity, -infinity, std::nan("")});
    }
  }
  return test::as_floats(coordinates);
}

void check_complex_bilinear(Trial& trial) {
  Random& random = trial.random;
  ComplexBilinearSpec spec;
  spec.image = random.one_of<Shape>({{1, 1, 1}, {5, 1, 1}, {1, 5, 1}, {2, 2, 1}, {63, 34, 1}});
  spec.output = random.one_of<Shape>({{40, 30, 1}, {129, 7, 1}, {7, 65, 1}, {1, 1, 1}});
  spec.form = random.one_of<BilinearForm>(
      {BilinearForm::global_memory, BilinearForm::texture_fetch, BilinearForm::texture_filter});
  trial.describe(spec.image, " at points of ", spec.output, ", form ", static_cast<int>(spec.form));
  const auto data = test::random_complex_volume(spec.image, random.seed());
  const auto x = some_coordinates(random, spec.output, spec.image.width);
  const auto y = some_coordinates(random, spec.output, spec.image.height);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image image = test::to_device(device, stream, data);
    const Image at_x = test::to_device(device, stream, x);
    const Image at_y = test::to_device(device, stream, y);
    Image output = device.make_image(PixelType::c32, spec.output);
    test::poison(stream, output);
    ComplexBilinearPlan(device, spec).execute(stream, image, at_x, at_y, output);
    const auto found = test::complex_volume_from_device(stream, output);
    // As in tests/stages/spline/test_complex_bilinear.cpp: the rounding of three interpolations,
    // and of a texture unit's coordinates.
    const bool filtered = spec.form == BilinearForm::texture_filter && filters(device);
    const double allowed = 1e-6 + (filtered ? 4 * 1.4143 * (0x1p-9 + 0x1p-16) : 0);
    test::WorstError worst;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      const auto expected = reference::bilinear_zero_outside(data, x.values[i], y.values[i]);
      worst.add(std::abs(found.values[i] - expected) / allowed);
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> warp_properties() {
  return {{"warp", "as the oracle has it", &check_warp},
          {"complex_bilinear", "as the oracle has it", &check_complex_bilinear}};
}

}  // namespace properties
