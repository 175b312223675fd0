// Frames resampled through a displacement field, compared with the oracle's splines.
#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "registration/local/known_motion.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using warpalign::DisplacementField;
using warpalign::FieldWarper;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Shape;

constexpr Shape frame{97, 64, 1};

DisplacementField field_of(double amplitude) {
  const test::Windows windows{frame, 5, 3, 32};
  return DisplacementField::fit(frame, test::shifts_of(windows, test::waves(amplitude, 90)), 5, 3);
}

// Samples so smooth that rounding of a position hardly changes the value.
reference::Volume smooth_samples() {
  reference::Volume samples(frame.width, frame.height);
  for (std::int64_t y = 0; y < frame.height; ++y) {
    for (std::int64_t x = 0; x < frame.width; ++x) {
      samples.at(x, y) = std::round(
          130 + 80 * std::sin(0.3 * static_cast<double>(x) + 0.1 * static_cast<double>(y)) +
          40 * std::cos(0.25 * static_cast<double>(y)));
    }
  }
  return samples;
}

template <class Pixel>
std::vector<Pixel> pixels_of(const reference::Volume& samples) {
  std::vector<Pixel> pixels;
  for (const double value : samples.values) pixels.push_back(static_cast<Pixel>(value));
  return pixels;
}

struct Expected {
  double value = 0;
  bool near_edge = false;  // within rounding of the frame's edge, where the value jumps to 0
};

Expected expected_at(const reference::Spline& spline, const DisplacementField& field,
                     std::int64_t x, std::int64_t y) {
  const Point p{static_cast<double>(x), static_cast<double>(y)};
  const Point u = field.at(p);
  const double at_x = p.x + u.x;
  const double at_y = p.y + u.y;
  const auto near = [](double place, double end) {
    return std::abs(place) < 1e-4 || std::abs(place - end) < 1e-4;
  };
  return {reference::evaluate(spline, {at_x, at_y, 0}).value,
          near(at_x, static_cast<double>(frame.width - 1)) ||
              near(at_y, static_cast<double>(frame.height - 1))};
}

template <class Pixel>
void compare(const warpalign::Device& device, PixelType type, double allowed) {
  const reference::Volume samples = smooth_samples();
  const reference::Spline spline = reference::solve(samples, 2, 3, reference::Edge::constant);
  const std::vector<Pixel> pixels = pixels_of<Pixel>(samples);
  FieldWarper warper(device, type, frame);
  for (const double amplitude : {0.0, 3.0, 12.0}) {
    CAPTURE(amplitude);
    const DisplacementField field = field_of(amplitude);
    std::vector<Pixel> found(pixels.size(), Pixel{77});
    warper.warp({pixels.data(), type, frame.width, frame.height, 0}, field, found.data());
    test::WorstError worst;
    int outside = 0;
    for (std::int64_t y = 0; y < frame.height; ++y) {
      for (std::int64_t x = 0; x < frame.width; ++x) {
        const Expected expected = expected_at(spline, field, x, y);
        // Without motion the frame keeps its edges.
        if (expected.near_edge && amplitude != 0) continue;
        outside += expected.value == 0 ? 1 : 0;
        const auto at = static_cast<double>(found[static_cast<std::size_t>(y * frame.width + x)]);
        worst.add(std::abs(at - expected.value));
      }
    }
    CHECK(worst.value() <= allowed);
    if (amplitude == 12) CHECK(outside > 50);
  }
}

}  // namespace

TEST_CASE("field warper: frames of three types agree with the oracle") {
  test::on_every_device([](const warpalign::Device& device) {
    // The tolerance is a slope of 34 grey levels per pixel times the position error, of up to 4e-7
    // and, at the edges, of a further 5e-7 of 109 pixels, and the resampling's 8e-7 of the largest
    // coefficient (about 400).
    compare<float>(device, PixelType::f32, 34 * 9.8e-5 + 400 * 8e-7);
    compare<std::uint8_t>(device, PixelType::u8, 0.5 + 0.004);
    compare<std::uint16_t>(device, PixelType::u16, 0.5 + 0.004);
  });
}

TEST_CASE("field warper: any row pitch, and grids of control points that change") {
  test::on_every_device([](const warpalign::Device& device) {
    const reference::Volume samples = smooth_samples();
    const std::vector<float> dense = pixels_of<float>(samples);
    const std::int64_t stride = frame.width + 3;
    std::vector<float> padded(static_cast<std::size_t>(stride * frame.height), 1e6F);
    for (std::int64_t y = 0; y < frame.height; ++y) {
      for (std::int64_t x = 0; x < frame.width; ++x) {
        padded[static_cast<std::size_t>(y * stride + x)] =
            dense[static_cast<std::size_t>(y * frame.width + x)];
      }
    }
    FieldWarper warper(device, PixelType::f32, frame);
    const DisplacementField coarse = field_of(3);
    const DisplacementField fine = DisplacementField::from_samples(frame, coarse.samples(), 2);
    std::vector<float> first(dense.size()), second(dense.size());
    warper.warp({dense.data(), PixelType::f32, frame.width, frame.height, 0}, coarse, first.data());
    warper.warp({padded.data(), PixelType::f32, frame.width, frame.height, 4 * stride}, fine,
                second.data());
    std::size_t different = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      // A position may be off by 1e-4 pixels; at the frame's edge this decides whether it lies
      // inside.
      if (std::abs(first[i] - second[i]) > 34 * 1e-4) ++different;
    }
    CHECK(different <= 4);
  });
}

TEST_CASE("field warper: mismatched images and fields are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(FieldWarper(device, PixelType::f32, {64, 64, 2}), warpalign::Error);
    CHECK_THROWS_AS(FieldWarper(device, PixelType::f32, {0, 64, 1}), warpalign::Error);
    FieldWarper warper(device, PixelType::f32, frame);
    const std::vector<float> pixels(static_cast<std::size_t>(frame.pixels()));
    std::vector<float> output(pixels.size());
    const DisplacementField field = field_of(1);
    const auto refused = [&](const HostImage& image, const DisplacementField& through) {
      CHECK_THROWS_AS(warper.warp(image, through, output.data()), warpalign::Error);
    };
    refused({pixels.data(), PixelType::u8, frame.width, frame.height, 0}, field);
    refused({pixels.data(), PixelType::f32, frame.width - 1, frame.height, 0}, field);
    refused({nullptr, PixelType::f32, frame.width, frame.height, 0}, field);
    refused({pixels.data(), PixelType::f32, frame.width, frame.height, -4 * frame.width}, field);
    CHECK_THROWS_AS(
        warper.warp({pixels.data(), PixelType::f32, frame.width, frame.height, 0}, field, nullptr),
        warpalign::Error);
    const std::vector<float> samples(2 * 64 * 64);
    refused({pixels.data(), PixelType::f32, frame.width, frame.height, 0},
            DisplacementField::from_samples({64, 64, 1}, samples, 8));
  });
}
