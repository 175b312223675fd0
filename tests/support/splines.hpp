// Helpers that the tests of interpolation share: coefficients, points, and runs on a device.
#pragma once

#include "reference/spline/evaluate.hpp"
#include "support/volumes.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <array>
#include <functional>
#include <vector>

namespace test {

using Point = std::array<double, 3>;

/// Whether tests of all combinations run this one on the device. A CPU compiles each combination for
/// a second or more, so it runs a third: each degree with each number of dimensions, and each
/// boundary with both. The code of degrees and that of boundaries do not depend on one another.
bool is_combination_for(const warpalign::Device& device, int dimensions, int degree,
                        warpalign::Boundary boundary);

/// A small image with odd sides, the same for all tests with this number of dimensions.
warpalign::InterpolateSpec small_spline(int dimensions, int degree, warpalign::Boundary boundary,
                                        const warpalign::Shape& output);

/// A spline through random samples, with the library's margin and with coefficients rounded to
/// single precision. Tests upload these coefficients, so that they test the evaluation alone.
reference::Spline random_spline(const warpalign::InterpolateSpec& spec, std::uint32_t seed);
reference::ComplexSpline random_complex_spline(const warpalign::InterpolateSpec& spec,
                                               std::uint32_t seed);

/// `count` points with float coordinates: random points within the image and up to four widths
/// outside, samples, edges, and positions just beyond them. Outside the image the points avoid
/// positions halfway between samples, where degree 0 may round either way, and under `wrap`
/// multiples of n - 1.
std::vector<Point> random_points(const warpalign::InterpolateSpec& spec, std::uint32_t seed);

/// The points as InterpolatePlan takes them: all x, then all y, then all z.
reference::Volume coordinate_field(const warpalign::InterpolateSpec& spec,
                                   const std::vector<Point>& points);

/// Calls make_point(x, y, z) for every output pixel in order.
std::vector<Point> points_of(const warpalign::InterpolateSpec& spec,
                             const std::function<Point(double, double, double)>& make_point);

Point transformed(const warpalign::HomogeneousMatrix& transform, const Point& point);

/// Whether single precision may move the point across a jump. Under `constant` and `wrap` values
/// jump at the edges, and for degree 0 between samples.
bool near_jump(const warpalign::InterpolateSpec& spec, const Point& point);

/// Replaces the found values at points near a jump by the oracle's. Returns the number of other
/// points.
template <class T>
std::size_t without_jumps(const warpalign::InterpolateSpec& spec,
                          const reference::SplineOf<T>& spline, const std::vector<Point>& points,
                          reference::VolumeOf<T>& found) {
  std::size_t others = points.size();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!near_jump(spec, points[i])) continue;
    found.values[i] = reference::evaluate(spline, points[i]).value;
    --others;
  }
  return others;
}

/// The tolerance of a result at a point.
struct Allowance {
  /// relative to the largest coefficient: what the library promises for a given point
  double value = 4e-7;
  /// error of the point itself in pixels, which is multiplied by the gradient
  double point = 0;
};

/// The largest error divided by the tolerance at its point: at most 1 if all values are right.
/// Prints the worst point otherwise.
template <class T>
double worst(const reference::SplineOf<T>& spline, const std::vector<Point>& points,
             const reference::VolumeOf<T>& found, const Allowance& allowance = {});

extern template double worst(const reference::Spline&, const std::vector<Point>&,
                             const reference::Volume&, const Allowance&);
extern template double worst(const reference::ComplexSpline&, const std::vector<Point>&,
                             const reference::ComplexVolume&, const Allowance&);

/// Uploads the coefficients, fills the output with NaN, makes the plan, and runs `execute(plan,
/// stream, coefficients, output)`.
template <class T, class Execute>
reference::VolumeOf<T> interpolated(const warpalign::Device& device,
                                    const warpalign::InterpolateSpec& spec,
                                    const reference::SplineOf<T>& spline, Execute&& execute);

/// The same, evaluated at the points of a transform.
reference::Volume interpolated_by(const warpalign::Device& device,
                                  const warpalign::InterpolateSpec& spec,
                                  const reference::Spline& spline,
                                  const warpalign::HomogeneousMatrix& transform);

}  // namespace test

#include "support/transfer.hpp"

namespace test {

template <class T, class Execute>
reference::VolumeOf<T> interpolated(const warpalign::Device& device,
                                    const warpalign::InterpolateSpec& spec,
                                    const reference::SplineOf<T>& spline, Execute&& execute) {
  auto stream = device.make_stream();
  const auto coefficients = to_device(device, stream, spline.coefficients);
  auto output = device.make_image(spec.output_type, spec.output);
  poison(stream, output);
  const warpalign::InterpolatePlan plan(device, spec);
  execute(plan, stream, coefficients, output);
  if constexpr (std::is_same_v<T, double>) {
    return volume_from_device(stream, output);
  } else {
    return complex_volume_from_device(stream, output);
  }
}

/// Interpolates at the points of a coordinate field.
template <class T>
reference::VolumeOf<T> interpolated_at(const warpalign::Device& device,
                                       const warpalign::InterpolateSpec& spec,
                                       const reference::SplineOf<T>& spline,
                                       const std::vector<Point>& points) {
  return interpolated(device, spec, spline,
                      [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                        const auto field =
                            to_device(device, stream, coordinate_field(spec, points));
                        plan.execute(stream, coefficients, field, output);
                        stream.finish();
                      });
}

}  // namespace test
