// Champagnat & Le Sant, section 5: a photograph rotated 36 times by 10 degrees, on every device.
#include "support/devices.hpp"
#include "support/photographs.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <numbers>

namespace {

using warpalign::Boundary;
using warpalign::PixelType;
using warpalign::PrefilterMethod;
using warpalign::Shape;

constexpr std::int64_t side = 128;

/// The middle of tests/data/bridge.jpg, as 8-bit intensities.
reference::Volume photograph() {
  const auto whole = test::photograph("bridge.jpg");
  reference::Volume crop(side, side);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      crop.at(x, y) = whole.at(x + (whole.width - side) / 2, y + (whole.height - side) / 2);
    }
  }
  return crop;
}

/// Rotates `rotations` times by 10 degrees about the centre, with a prefilter and an interpolation
/// each time. 0 taps select the exact prefilter.
reference::Volume rotated(const warpalign::Device& device, const reference::Volume& image,
                          int rotations, int taps) {
  auto stream = device.make_stream();
  const Shape shape{side, side, 1};
  warpalign::PrefilterSpec filter;
  filter.images.shape = shape;
  if (taps > 0) {
    filter.spline.prefilter = PrefilterMethod::fir;
    filter.spline.taps = taps;
  }
  warpalign::InterpolateSpec spec;
  spec.images.shape = spec.output = shape;
  const double c = std::cos(std::numbers::pi / 18), s = std::sin(std::numbers::pi / 18);
  const double middle = (side - 1) / 2.0;
  const warpalign::Affine rotation{c, s, middle * (1 - c - s), -s, c, middle * (1 - c + s)};
  const warpalign::PrefilterPlan prefilter(device, filter);
  const warpalign::InterpolatePlan interpolate(device, spec);
  auto samples = test::to_device(device, stream, image);
  auto coefficients = device.make_image(PixelType::f32, shape);
  for (int i = 0; i < rotations; ++i) {
    prefilter.execute(stream, samples, coefficients);
    interpolate.execute(stream, coefficients, rotation, samples);
  }
  return test::volume_from_device(stream, samples);
}

struct Difference {
  double rms = 0;
  double largest = 0;
};

/// The difference within the disc that stays inside the image as it rotates, less `rim` pixels.
Difference within_disc(const reference::Volume& a, const reference::Volume& b, double rim) {
  Difference result;
  double squares = 0, count = 0;
  const double middle = (side - 1) / 2.0;
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      if (std::hypot(static_cast<double>(x) - middle, static_cast<double>(y) - middle) >
          middle - rim)
        continue;
      const double d = a.at(x, y) - b.at(x, y);
      result.largest = std::max(result.largest, std::abs(d));
      squares += d * d;
      ++count;
    }
  }
  result.rms = std::sqrt(squares / count);
  return result;
}

}  // namespace

TEST_CASE("rotations: fir:15 and the exact prefilter differ by less than a grey level") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = photograph();
    CHECK(within_disc(rotated(device, image, 1, 15), rotated(device, image, 1, 0), 0).largest < 1);
    CHECK(within_disc(rotated(device, image, 36, 15), rotated(device, image, 36, 0), 8).largest <
          1);
  });
}

TEST_CASE("rotations: the error after 36 rotations converges at 11 taps") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = photograph();
    const double exact = within_disc(rotated(device, image, 36, 0), image, 8).rms;
    std::vector<double> rms;
    for (const int taps : {3, 5, 7, 9, 11, 13, 15}) {
      rms.push_back(within_disc(rotated(device, image, 36, taps), image, 8).rms);
      std::printf("  %s fir:%d: %.4f grey levels after 36 rotations, exact %.4f\n",
                  device.info().id.c_str(), taps, rms.back(), exact);
    }
    CHECK(exact > 0.1);
    // Seven taps are visibly wrong (figure 3); from eleven taps on the curve of figure 2 is flat.
    CHECK(std::abs(rms[2] - exact) > 0.02 * exact);
    for (std::size_t i = 4; i < rms.size(); ++i) CHECK(std::abs(rms[i] - exact) < 0.02 * exact);
  });
}
