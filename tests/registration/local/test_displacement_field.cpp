// A displacement field evaluated in three ways, compared with the oracle's spline.
#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "registration/local/known_motion.hpp"

#include "support/compare.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::DisplacementField;
using warpalign::Point;
using warpalign::Shape;

DisplacementField wavy_field() {
  const test::Windows windows{{200, 158, 1}, 9, 7, 32};
  return DisplacementField::fit(windows.frame, test::shifts_of(windows, test::waves(3, 150)), 9, 7);
}

reference::Spline plane_of(const DisplacementField& field, std::size_t component) {
  const Shape& shape = field.control_shape();
  const std::vector<float> controls = field.control_coordinates();
  reference::Volume volume(shape.width, shape.height);
  for (std::size_t i = 0; i < volume.values.size(); ++i) {
    volume.values[i] = controls[component * volume.values.size() + i];
  }
  return reference::unfiltered(volume, 2, 3, reference::Edge::mirror);
}

}  // namespace

TEST_CASE("displacement field: at(), samples() and control coordinates give the same spline") {
  const DisplacementField field = wavy_field();
  const std::vector<float> samples = field.samples();
  const reference::Spline x = plane_of(field, 0);
  const reference::Spline y = plane_of(field, 1);
  const warpalign::Affine to_control = field.pixel_to_control();
  const Shape& frame = field.frame();
  test::WorstError worst_samples, worst_controls;
  for (std::int64_t row = 0; row < frame.height; ++row) {
    for (std::int64_t column = 0; column < frame.width; ++column) {
      const Point p{static_cast<double>(column), static_cast<double>(row)};
      const Point at = field.at(p);
      const auto pixel = static_cast<std::size_t>(row * frame.width + column);
      worst_samples.add(std::abs(samples[pixel] - at.x));
      worst_samples.add(std::abs(samples[pixel + samples.size() / 2] - at.y));
      const Point c = to_control(p);
      // Evaluates with the oracle's own basis. No point needs values beyond the control points.
      CHECK(c.x >= 1);
      CHECK(c.x <= static_cast<double>(field.control_shape().width - 2) + 1e-12);
      worst_controls.add(std::abs(reference::evaluate(x, {c.x, c.y, 0}).value - (p.x + at.x)));
      worst_controls.add(std::abs(reference::evaluate(y, {c.x, c.y, 0}).value - (p.y + at.y)));
    }
  }
  CHECK(worst_samples.value() < 4e-7);  // 3 pixels, rounded to single precision
  CHECK(worst_controls.value() <
        1.6e-5);  // control points of up to 225 pixels, rounded to single precision
}

TEST_CASE("displacement field: outside the frame the displacement is that of the edge") {
  const DisplacementField field = wavy_field();
  const Point corner = field.at({199, 157});
  const Point beyond = field.at({1e9, 1e9});
  CHECK(beyond.x == corner.x);
  CHECK(beyond.y == corner.y);
  CHECK(field.at({-5, 20}).x == field.at({0, 20}).x);
  CHECK(std::isfinite(field.at({std::nan(""), 0}).x));
}

TEST_CASE("displacement field: sampling and fitting a spline gives that spline again") {
  const DisplacementField field = wavy_field();
  // The fit's own spacing: nine windows over 168 pixels, and seven over 126.
  const DisplacementField again =
      DisplacementField::from_samples(field.frame(), field.samples(), 21);
  REQUIRE(again.control_shape() == field.control_shape());
  // Samples of 3 pixels are rounded to 1.2e-7, and averaged by the fit.
  CHECK(test::worst_difference(again, [&](const Point& p) { return field.at(p); }) < 1e-6);
}

TEST_CASE("displacement field: samples of waves are fitted within the spline's error") {
  const Shape frame{160, 120, 1};
  const test::Motion motion = test::waves(2, 100);
  std::vector<float> samples(2 * 160 * 120);
  for (std::size_t i = 0; i < samples.size() / 2; ++i) {
    const Point u = motion({static_cast<double>(i % 160), static_cast<double>(i / 160)});
    samples[i] = static_cast<float>(u.x);
    samples[i + samples.size() / 2] = static_cast<float>(u.y);
  }
  // The best cubic spline is at least as close as the interpolating one: see the test of the fit.
  const double step = 2 * std::numbers::pi * 8 / 100;
  const double bound = 2 * 2 * 5.0 / 384 * std::pow(step, 4);
  CHECK(test::worst_difference(DisplacementField::from_samples(frame, samples, 8), motion) < bound);
  // With as many control points as pixels the field reproduces the samples.
  CHECK(test::worst_difference(DisplacementField::from_samples(frame, samples, 1), motion) < 1e-5);
}

TEST_CASE("displacement field: samples that do not fit the frame are refused") {
  const Shape frame{20, 10, 1};
  std::vector<float> samples(2 * 20 * 10, 1.0F);
  CHECK_NOTHROW((void)DisplacementField::from_samples(frame, samples, 4));
  const auto refused = [&](const Shape& shape, double spacing) {
    CHECK_THROWS_AS((void)DisplacementField::from_samples(shape, samples, spacing),
                    warpalign::Error);
  };
  refused({20, 11, 1}, 4);
  refused({20, 5, 2}, 4);
  refused(frame, 0);
  refused(frame, 0.5);
  refused(frame, std::numeric_limits<double>::infinity());
  samples[7] = std::numeric_limits<float>::quiet_NaN();
  refused(frame, 4);
}

TEST_CASE("displacement field: a frame of a single pixel has a field") {
  const std::vector<float> samples{1.5F, -2.5F};
  const DisplacementField field = DisplacementField::from_samples({1, 1, 1}, samples, 1);
  CHECK(std::abs(field.at({0, 0}).x - 1.5) < 1e-6);
  CHECK(std::abs(field.at({0, 0}).y + 2.5) < 1e-6);
}
