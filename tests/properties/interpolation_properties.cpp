// Splines and their gradients at points, against the oracle.
#include "properties/trial.hpp"
#include "support/compare.hpp"
#include "support/splines.hpp"
#include "support/transfer.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;
using test::Point;

/// Drivers compile a kernel for each shape of work groups, so shapes come from a list.
InterpolateSpec some_spec(Random& random) {
  static const std::vector<Shape> shapes[]{
      {{1, 1, 1}, {2, 1, 1}, {37, 1, 1}, {200, 1, 1}},
      {{1, 1, 1}, {1, 33, 1}, {7, 5, 1}, {31, 18, 1}, {64, 48, 1}, {61, 43, 1}},
      {{1, 1, 1}, {9, 7, 6}, {16, 12, 10}, {5, 20, 3}}};
  InterpolateSpec spec;
  spec.images.dimensions = static_cast<int>(random.integer(1, 3));
  spec.images.shape = random.one_of(shapes[spec.images.dimensions - 1]);
  spec.output = random.one_of(shapes[spec.images.dimensions - 1]);
  spec.spline.degree = static_cast<int>(random.integer(0, 5));
  spec.spline.boundary = random.one_of(test::boundaries());
  spec.spline.cval = random.real(-1, 1);
  return spec;
}

/// Whether the point is just below a sample, so that its fraction rounds to 1 in single precision.
/// Degree 1, whose slope jumps at samples, may then have either slope.
bool just_below_sample(const Point& p) {
  return std::any_of(p.begin(), p.end(), [](double x) {
    const double rest = std::ceil(x) - x;
    return rest > 0 && rest < 0x1p-24;
  });
}

/// The absolute slopes of a B-spline's pieces add up to 2, and its weights to 1: hence twice the
/// tolerance of values.
double slopes_error(const reference::Spline& spline, const std::vector<Point>& points,
                    const reference::Volume& slopes) {
  const double allowed = 8e-7 * test::largest(spline.coefficients);
  test::WorstError worst;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (spline.degree == 1 && just_below_sample(points[i])) continue;
    const auto truth = reference::evaluate(spline, points[i]);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(spline.dimensions); ++axis) {
      worst.add(std::abs(slopes.values[axis * points.size() + i] - truth.gradient[axis]) / allowed);
    }
  }
  return worst.value();
}

/// The errors of values and slopes from a single pass.
double with_gradient_error(const Device& device, const InterpolateSpec& spec,
                           const reference::Spline& spline, const std::vector<Point>& points) {
  Stream stream = device.make_stream();
  const Image coefficients = test::to_device(device, stream, spline.coefficients);
  const Image field = test::to_device(device, stream, test::coordinate_field(spec, points));
  Image values = device.make_image(PixelType::f32, spec.output);
  Image slopes = device.make_image(PixelType::f32, InterpolatePlan::gradient_shape(spec));
  test::poison(stream, values);
  test::poison(stream, slopes);
  InterpolatePlan(device, spec).execute_with_gradient(stream, coefficients, field, values, slopes);
  test::WorstError worst;
  worst.add(test::worst(spline, points, test::volume_from_device(stream, values)));
  worst.add(slopes_error(spline, points, test::volume_from_device(stream, slopes)));
  return worst.value();
}

/// Checks values alone, or values with gradients.
void check_interpolation(Trial& trial) {
  const InterpolateSpec spec = some_spec(trial.random);
  const bool with_gradient = spec.spline.degree > 0 && trial.random.chance(0.3);
  trial.describe(spec.images.dimensions, "-D, ", spec.images.shape, " at points of ", spec.output,
                 ", degree ", spec.spline.degree, ", ", warpalign::name_of(spec.spline.boundary),
                 with_gradient ? ", with gradient" : "");
  const auto spline = test::random_spline(spec, trial.random.seed());
  const auto points = test::random_points(spec, trial.random.seed());
  trial.on_every_device([&](const Device& device) {
    if (with_gradient) return with_gradient_error(device, spec, spline, points);
    return test::worst(spline, points, test::interpolated_at(device, spec, spline, points));
  });
}

}  // namespace

std::vector<Property> interpolation_properties() {
  return {{"interpolate", "as the oracle has it", &check_interpolation}};
}

}  // namespace properties
