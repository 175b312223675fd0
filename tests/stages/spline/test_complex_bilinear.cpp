// Bilinear interpolation of complex data in its three forms against the oracle, on every device.
#include "reference/spline/complex_bilinear.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spline/complex_bilinear.hpp>
#include <warpalign/error.hpp>

#include <limits>

namespace {

using warpalign::BilinearForm;
using warpalign::ComplexBilinearPlan;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;

constexpr auto forms = {BilinearForm::global_memory, BilinearForm::texture_fetch,
                        BilinearForm::texture_filter};

struct Points {
  reference::Volume x, y;
};

/// Points within the image and at least two pixels outside, on all four sides, including whole
/// numbers, NaN and infinity.
Points points(const Shape& image, const Shape& output) {
  const auto w = static_cast<double>(image.width);
  const auto h = static_cast<double>(image.height);
  Points p{test::random_volume(output, -2.5, w + 1.5, 61),
           test::random_volume(output, -2.5, h + 1.5, 62)};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> special{-1,       -1e-6F,    0,    w - 1,       w,     w - 1e-3F,
                                    -0.5,     w - 0.5,   1e9F, -1e9F,       1e30F, -1e30F,
                                    infinity, -infinity, NAN,  4294967296.0};
  for (std::size_t i = 0; i < special.size(); ++i) {
    p.x.values[i] = special[i];
    p.y.values[i + special.size()] =
        special[i] > w - 2 && special[i] < w + 1 ? special[i] - w + h : special[i];
  }
  for (std::size_t i = 2 * special.size(); i < p.x.values.size(); i += 5) {
    p.x.values[i] = std::floor(p.x.values[i]);
  }
  for (std::size_t i = 2 * special.size(); i < p.y.values.size(); i += 7) {
    p.y.values[i] = std::floor(p.y.values[i]);
  }
  return p;
}

double max_error(const warpalign::Device& device, const Shape& image, const Shape& output,
                 BilinearForm form) {
  const auto data = test::random_complex_volume(image, 63);
  const auto p = points(image, output);
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, data);
  const auto x = test::to_device(device, stream, test::as_floats(p.x));
  const auto y = test::to_device(device, stream, test::as_floats(p.y));
  auto result = device.make_image(PixelType::c32, output);
  test::poison(stream, result);
  ComplexBilinearPlan(device, {image, output, form}).execute(stream, input, x, y, result);
  const auto found = test::complex_volume_from_device(stream, result);
  const auto px = test::as_floats(p.x), py = test::as_floats(p.y);
  test::WorstError worst;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const auto expected = reference::bilinear_zero_outside(data, px.values[i], py.values[i]);
    const double error = std::abs(found.values[i] - expected);
    worst.add(error);
  }
  return worst.value();
}

/// Real and imaginary parts are at most 1: three interpolations with two roundings each, of 2^-24
/// of at most 2, in both parts.
constexpr double arithmetic = 1e-6;
/// The texture unit rounds coordinates to 1/256: an error of 2^-9 along each axis, times the
/// difference of neighbours, which is at most 2 in both parts (sqrt(2) together). Adding a half
/// rounds coordinates below 256 to 2^-16.
constexpr double hardware = 2 * 2 * 1.4143 * (0x1p-9 + 0x1p-16);

}  // namespace

TEST_CASE("complex bilinear: three forms agree with equations 1 to 4, on all sides of the image") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto form : forms) {
      CAPTURE(static_cast<int>(form));
      for (const Shape& image : {Shape{1, 1, 1}, Shape{5, 1, 1}, Shape{1, 5, 1}, Shape{2, 2, 1},
                                 Shape{63, 34, 1}, Shape{128, 96, 1}}) {
        CAPTURE(warpalign::to_string(image));
        const bool filtered = form == BilinearForm::texture_filter &&
                              device.info().sampling == warpalign::Sampling::texture;
        for (const Shape& output : {Shape{40, 30, 1}, Shape{129, 7, 1}, Shape{7, 129, 1}}) {
          CHECK(max_error(device, image, output, form) <= arithmetic + (filtered ? hardware : 0));
        }
      }
    }
  });
}

TEST_CASE("complex bilinear: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    using Plan = ComplexBilinearPlan;
    CHECK_THROWS_AS(Plan(device, {{0, 4, 1}, {4, 4, 1}}), Error);
    CHECK_THROWS_AS(Plan(device, {{4, 4, 1}, {4, 0, 1}}), Error);
    CHECK_THROWS_AS(Plan(device, {{4, 4, 2}, {4, 4, 1}}), Error);
    CHECK_THROWS_AS(Plan(device, {{4, 4, 1}, {4, 4, 2}}), Error);
    auto stream = device.make_stream();
    const Plan plan(device, {{8, 6, 1}, {5, 4, 1}});
    const auto image = device.make_image(PixelType::c32, {8, 6, 1});
    const auto x = device.make_image(PixelType::f32, {5, 4, 1});
    const auto small = device.make_image(PixelType::f32, {5, 3, 1});
    auto output = device.make_image(PixelType::c32, {5, 4, 1});
    auto real = device.make_image(PixelType::f32, {5, 4, 1});
    CHECK_THROWS_AS(plan.execute(stream, output, x, x, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, real, x, x, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, small, x, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, x, small, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, x, output, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, x, x, real), Error);
  });
}
