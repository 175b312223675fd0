// Helpers that the tests of interpolation share.
#include "support/splines.hpp"

#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"

#include <warpalign/stages/prefilter.hpp>

#include <cstdio>
#include <limits>
#include <random>

namespace test {

namespace {

using warpalign::Boundary;
using warpalign::InterpolateSpec;

template <class T>
reference::SplineOf<T> spline_through(const InterpolateSpec& spec,
                                      const reference::VolumeOf<T>& samples) {
  const auto edge = edge_of(spec.spline.boundary);
  if (!spec.spline.prefilter) {
    return reference::unfiltered(samples, spec.images.dimensions, spec.spline.degree, edge,
                                 spec.spline.cval);
  }
  const int margin = warpalign::PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  auto spline = reference::solve(samples, spec.images.dimensions, spec.spline.degree, edge,
                                 spec.spline.cval, margin);
  spline.coefficients = as_floats(spline.coefficients);
  return spline;
}

// One coordinate on an axis of n samples; `kind` cycles through the special positions.
double coordinate(std::mt19937& engine, int kind, double n) {
  const double unit = static_cast<double>(engine()) / 4294967296.0;
  switch (kind % 16) {
    case 0:
      return 0;
    case 1:
      return n - 1;
    case 2:
      return std::floor(unit * n);
    case 3:
      return -std::numeric_limits<float>::min();  // denormals are 0 on some devices
    case 4:
      return std::nextafter(static_cast<float>(n - 1), static_cast<float>(2 * n));
    case 5:
      return (unit - 0.5) * 8 * n;
    case 6:
      return (unit - 0.5) * 8 * n;
    case 7:
      return -unit;
    case 8:
      return n - 1 + unit;
    default:
      return unit * (n - 1);
  }
}

bool tie_outside(double p, double n) { return (p < 0 || p > n - 1) && p - std::floor(p) == 0.5; }

}  // namespace

bool is_combination_for(const warpalign::Device& device, int dimensions, int degree,
                        warpalign::Boundary boundary) {
  return device.info().kind != warpalign::DeviceKind::cpu ||
         (dimensions + degree + static_cast<int>(boundary)) % 3 == 0;
}

warpalign::InterpolateSpec small_spline(int dimensions, int degree, warpalign::Boundary boundary,
                                        const warpalign::Shape& output) {
  constexpr warpalign::Shape images[]{{37, 1, 1}, {23, 18, 1}, {9, 7, 6}};
  warpalign::InterpolateSpec spec;
  spec.images.shape = images[dimensions - 1];
  spec.output = output;
  spec.images.dimensions = dimensions;
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.375;
  return spec;
}

reference::Spline random_spline(const InterpolateSpec& spec, std::uint32_t seed) {
  return spline_through(spec, random_volume(spec.images.shape, -1, 1, seed));
}

reference::ComplexSpline random_complex_spline(const InterpolateSpec& spec, std::uint32_t seed) {
  return spline_through(spec, random_complex_volume(spec.images.shape, seed));
}

std::vector<Point> random_points(const InterpolateSpec& spec, std::uint32_t seed) {
  std::mt19937 engine(seed);
  const std::array<std::int64_t, 3> extents{spec.images.shape.width, spec.images.shape.height,
                                            spec.images.shape.depth};
  int kind = 0;
  return points_of(spec, [&](double, double, double) {
    Point p{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(spec.images.dimensions); ++i) {
      const auto n = static_cast<double>(extents[i]);
      do {  // the axes cycle at different rates, so that all combinations occur
        p[i] = static_cast<float>(coordinate(engine, kind / (i == 0 ? 1 : i == 1 ? 16 : 5), n));
      } while (tie_outside(p[i], n));
    }
    ++kind;
    return p;
  });
}

reference::Volume coordinate_field(const InterpolateSpec& spec, const std::vector<Point>& points) {
  const auto shape = warpalign::InterpolatePlan::coordinates_shape(spec);
  reference::Volume field(shape.width, shape.height, shape.depth);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.images.dimensions); ++axis) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      field.values[axis * points.size() + i] = points[i][axis];
    }
  }
  return field;
}

std::vector<Point> points_of(const InterpolateSpec& spec,
                             const std::function<Point(double, double, double)>& make_point) {
  std::vector<Point> points;
  for (std::int64_t z = 0; z < spec.output.depth; ++z) {
    for (std::int64_t y = 0; y < spec.output.height; ++y) {
      for (std::int64_t x = 0; x < spec.output.width; ++x) {
        points.push_back(
            make_point(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
      }
    }
  }
  return points;
}

Point transformed(const warpalign::HomogeneousMatrix& t, const Point& p) {
  std::array<double, 4> h{};
  for (std::size_t i = 0; i < 4; ++i) {
    h[i] = t.m[4 * i] * p[0] + t.m[4 * i + 1] * p[1] + t.m[4 * i + 2] * p[2] + t.m[4 * i + 3];
  }
  return {h[0] / h[3], h[1] / h[3], h[2] / h[3]};
}

bool near_jump(const InterpolateSpec& spec, const Point& p) {
  using warpalign::Boundary;
  constexpr double close = 1e-4;
  const std::array<std::int64_t, 3> extents{spec.images.shape.width, spec.images.shape.height,
                                            spec.images.shape.depth};
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.images.dimensions); ++i) {
    const auto n = static_cast<double>(extents[i]);
    const double period = std::max(n - 1, 1.0);
    const bool edge = std::abs(std::remainder(p[i], period)) < close;
    const bool jumps =
        spec.spline.boundary == Boundary::constant || spec.spline.boundary == Boundary::wrap;
    if (jumps && edge) return true;
    if (spec.spline.degree == 0 && std::abs(p[i] - std::floor(p[i]) - 0.5) < close) return true;
  }
  return false;
}

template <class T>
double worst(const reference::SplineOf<T>& spline, const std::vector<Point>& points,
             const reference::VolumeOf<T>& found, const Allowance& allowance) {
  const double scale = std::max(largest(spline.coefficients), std::abs(spline.cval));
  double result = 0;
  Point where{};
  T expected{}, got{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto truth = reference::evaluate(spline, points[i]);
    double slope = 0;
    for (const T& g : truth.gradient) slope += std::abs(g);
    const double allowed = allowance.value * scale + allowance.point * slope;
    const double error = std::abs(found.values[i] - truth.value) / allowed;
    if (!(error <= result) && !std::isnan(result)) {
      result = error;
      where = points[i];
      expected = truth.value;
      got = found.values[i];
    }
  }
  if (!(result <= 1)) {
    std::printf("  at (%.9g, %.9g, %.9g): %.9g instead of %.9g, %.3g times the tolerance\n",
                where[0], where[1], where[2], std::real(got), std::real(expected), result);
  }
  return result;
}

template double worst(const reference::Spline&, const std::vector<Point>&, const reference::Volume&,
                      const Allowance&);
template double worst(const reference::ComplexSpline&, const std::vector<Point>&,
                      const reference::ComplexVolume&, const Allowance&);

reference::Volume interpolated_by(const warpalign::Device& device,
                                  const warpalign::InterpolateSpec& spec,
                                  const reference::Spline& spline,
                                  const warpalign::HomogeneousMatrix& transform) {
  return interpolated(device, spec, spline,
                      [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                        plan.execute(stream, coefficients, transform, output);
                      });
}

}  // namespace test
