// Prefilter and resampling: against the oracle, and properties that hold for any image.
#include "properties/trial.hpp"
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/splines.hpp"
#include "support/transfer.hpp"

#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <cmath>

namespace properties {

namespace {

using namespace warpalign;
using test::Point;

/// The tolerance of the prefilter and of the evaluation, each relative to the largest coefficient.
constexpr double contract = 4e-7;
/// Points are computed in more than single precision.
constexpr test::Allowance after_both{2 * contract, 1e-6};

/// Drivers compile a kernel for each shape of work groups, so shapes come from a list.
Shape some_shape(Random& random, int dimensions) {
  static const std::vector<Shape> shapes[]{
      {{1, 1, 1}, {2, 1, 1}, {37, 1, 1}, {200, 1, 1}},
      {{1, 1, 1}, {1, 33, 1}, {7, 5, 1}, {31, 18, 1}, {64, 48, 1}, {61, 43, 1}},
      {{1, 1, 1}, {9, 7, 6}, {16, 12, 10}, {5, 20, 3}}};
  return random.one_of(shapes[dimensions - 1]);
}

Boundary some_boundary(Random& random) { return random.one_of(test::boundaries()); }

std::string text_of(Boundary boundary) { return warpalign::name_of(boundary); }

/// Rotations, zooms and shears about any point, in one to three dimensions.
HomogeneousMatrix some_transform(Random& random, int dimensions, const Shape& shape) {
  const auto entry = [&](bool diagonal) { return (diagonal ? 1 : 0) + random.real(-0.6, 0.6); };
  const auto shift = [&](std::int64_t n) {
    return random.real(-0.7, 0.7) * static_cast<double>(n);
  };
  const double x = shift(shape.width), y = shift(shape.height), z = shift(shape.depth);
  if (dimensions == 1) return Affine{entry(true), 0, x, 0, 1, 0};
  if (dimensions == 2) {
    const double a = entry(true), b = entry(false), c = entry(false), d = entry(true);
    return Affine{a, b, x, c, d, y};
  }
  std::array<double, 12> m{};
  for (std::size_t i = 0; i < 12; ++i) m[i] = entry(i % 5 == 0);
  m[3] = x, m[7] = y, m[11] = z;
  return HomogeneousMatrix::affine3(m);
}

ResampleSpec some_resampling(Random& random) {
  ResampleSpec spec;
  spec.images.dimensions = static_cast<int>(random.integer(1, 3));
  spec.images.shape = some_shape(random, spec.images.dimensions);
  spec.output = some_shape(random, spec.images.dimensions);
  spec.spline.degree = static_cast<int>(random.integer(0, 5));
  if (spec.spline.degree < 2) spec.spline.prefilter.reset();
  spec.spline.boundary = some_boundary(random);
  spec.spline.cval = random.real(-1, 1);
  return spec;
}

void describe(Trial& trial, const ResampleSpec& spec, const HomogeneousMatrix& transform) {
  trial.describe(spec.images.dimensions, "-D, ", spec.images.shape, " to ", spec.output,
                 ", degree ", spec.spline.degree, ", ", text_of(spec.spline.boundary), ", matrix");
  for (const double entry : transform.m) trial.describe(" ", entry);
}

InterpolateSpec evaluation_of(const ResampleSpec& spec) {
  InterpolateSpec evaluation;
  evaluation.images.shape = spec.images.shape;
  evaluation.output = spec.output;
  evaluation.images.dimensions = spec.images.dimensions;
  evaluation.spline.degree = spec.spline.degree;
  evaluation.spline.boundary = spec.spline.boundary;
  evaluation.spline.cval = spec.spline.cval;
  return evaluation;
}

std::vector<Point> points_of(const ResampleSpec& spec, const HomogeneousMatrix& transform) {
  return test::points_of(evaluation_of(spec), [&](double x, double y, double z) {
    return test::transformed(transform, {x, y, z});
  });
}

reference::Volume resampled(const Device& device, const ResampleSpec& spec,
                            const reference::Volume& samples, const HomogeneousMatrix& transform) {
  Stream stream = device.make_stream();
  const Image image = test::to_device(device, stream, samples);
  Image output = device.make_image(PixelType::f32, spec.output);
  test::poison(stream, output);
  ResamplePlan(device, spec).execute(stream, image, transform, output);
  return test::volume_from_device(stream, output);
}

reference::Spline spline_through(const ResampleSpec& spec, const reference::Volume& samples) {
  const auto edge = test::edge_of(spec.spline.boundary);
  if (spec.spline.degree < 2) {
    return reference::unfiltered(samples, spec.images.dimensions, spec.spline.degree, edge,
                                 spec.spline.cval);
  }
  return reference::solve(samples, spec.images.dimensions, spec.spline.degree, edge,
                          spec.spline.cval);
}

void check_prefilter(Trial& trial) {
  Random& random = trial.random;
  PrefilterSpec spec;
  spec.images.dimensions = static_cast<int>(random.integer(1, 3));
  spec.images.shape = some_shape(random, spec.images.dimensions);
  spec.spline.degree = static_cast<int>(random.integer(2, 5));
  spec.spline.boundary = some_boundary(random);
  spec.spline.cval = random.real(-1, 1);
  spec.input = random.one_of<PixelType>(
      {PixelType::f32, PixelType::f32, PixelType::u8, PixelType::u16, PixelType::f16});
  trial.describe(spec.images.dimensions, "-D, ", spec.images.shape, ", degree ", spec.spline.degree,
                 ", ", text_of(spec.spline.boundary), ", ", name_of(spec.input));
  const auto samples = spec.input == PixelType::f32
                           ? test::random_volume(spec.images.shape, -1, 1, random.seed())
                           : test::random_samples(spec.images.shape, spec.input, random.seed());
  const int margin = PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  const auto expected =
      reference::solve(samples, spec.images.dimensions, spec.spline.degree,
                       test::edge_of(spec.spline.boundary), spec.spline.cval, margin)
          .coefficients;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, samples, spec.input);
    Image output = device.make_image(PixelType::f32, PrefilterPlan::coefficient_shape(spec));
    test::poison(stream, output);
    PrefilterPlan(device, spec).execute(stream, input, output);
    const auto found = test::volume_from_device(stream, output);
    return test::max_difference(found, expected) / (contract * test::largest(expected));
  });
}

void check_resampling(Trial& trial) {
  const ResampleSpec spec = some_resampling(trial.random);
  const HomogeneousMatrix transform =
      some_transform(trial.random, spec.images.dimensions, spec.images.shape);
  describe(trial, spec, transform);
  const auto samples = test::random_volume(spec.images.shape, -1, 1, trial.random.seed());
  const auto spline = spline_through(spec, samples);
  const auto points = points_of(spec, transform);
  trial.on_every_device([&](const Device& device) {
    auto found = resampled(device, spec, samples, transform);
    test::without_jumps(evaluation_of(spec), spline, points, found);
    return test::worst(spline, points, found, after_both);
  });
}

/// A spline passes through its samples.
void check_nodes(Trial& trial) {
  ResampleSpec spec = some_resampling(trial.random);
  spec.output = spec.images.shape;
  describe(trial, spec, {});
  const auto samples = test::random_volume(spec.images.shape, -1, 1, trial.random.seed());
  const double scale = test::largest(spline_through(spec, samples).coefficients);
  trial.on_every_device([&](const Device& device) {
    const auto found = resampled(device, spec, samples, {});
    return test::max_difference(found, samples) / (2 * contract * scale);
  });
}

/// The spline of a x + b y is a times that of x plus b times that of y, apart from cval.
void check_linearity(Trial& trial) {
  ResampleSpec spec = some_resampling(trial.random);
  spec.spline.cval = 0;
  const HomogeneousMatrix transform =
      some_transform(trial.random, spec.images.dimensions, spec.images.shape);
  describe(trial, spec, transform);
  const double a = std::ldexp(1.0, static_cast<int>(trial.random.integer(-2, 2)));
  const double b = -std::ldexp(1.0, static_cast<int>(trial.random.integer(-2, 2)));
  const auto x = test::random_volume(spec.images.shape, -1, 1, trial.random.seed());
  const auto y = test::random_volume(spec.images.shape, -1, 1, trial.random.seed());
  reference::Volume sum = x;
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    sum.values[i] = static_cast<double>(static_cast<float>(a * x.values[i] + b * y.values[i]));
  }
  const auto largest_of = [&](const reference::Volume& samples) {
    return test::largest(spline_through(spec, samples).coefficients);
  };
  // Each of the three results may be off by the tolerance; the sum itself is rounded once.
  const double scale = a * largest_of(x) - b * largest_of(y);
  const double allowed = (2 * 2 * contract + 0x1p-24) * scale;
  trial.on_every_device([&](const Device& device) {
    const auto of_x = resampled(device, spec, x, transform);
    const auto of_y = resampled(device, spec, y, transform);
    const auto of_sum = resampled(device, spec, sum, transform);
    test::WorstError worst;
    for (std::size_t i = 0; i < of_sum.values.size(); ++i) {
      const double expected = a * of_x.values[i] + b * of_y.values[i];
      const double error = std::abs(of_sum.values[i] - expected) / allowed;
      worst.add(error);
    }
    return worst.value();
  });
}

/// A constant is constant at every point, unless the boundary mode gives another value.
void check_constant(Trial& trial) {
  ResampleSpec spec = some_resampling(trial.random);
  const double value = static_cast<double>(static_cast<float>(trial.random.real(-100, 100)));
  spec.spline.cval = value;
  const HomogeneousMatrix transform =
      some_transform(trial.random, spec.images.dimensions, spec.images.shape);
  describe(trial, spec, transform);
  trial.describe(", value ", value);
  reference::Volume samples(spec.images.shape.width, spec.images.shape.height,
                            spec.images.shape.depth);
  for (double& sample : samples.values) sample = value;
  trial.on_every_device([&](const Device& device) {
    test::WorstError worst;
    for (const double found : resampled(device, spec, samples, transform).values) {
      const double error = std::abs(found - value) / (2 * contract * std::abs(value) + 1e-30);
      worst.add(error);
    }
    return worst.value();
  });
}

/// Each array of a batch equals the result of a single plan.
void check_batch(Trial& trial) {
  ResampleSpec spec = some_resampling(trial.random);
  const ResampleSpec alone = spec;
  spec.images.count = trial.random.integer(2, 4);
  const Shape all = stacked(spec.images.shape, spec.images.dimensions, spec.images.count);
  const auto samples = test::random_volume(all, -1, 1, trial.random.seed());
  std::vector<HomogeneousMatrix> transforms;
  for (std::int64_t i = 0; i < spec.images.count; ++i) {
    transforms.push_back(some_transform(trial.random, spec.images.dimensions, spec.images.shape));
  }
  describe(trial, spec, transforms.front());
  trial.describe(", batch ", spec.images.count);
  const auto part = static_cast<std::size_t>(spec.images.shape.pixels());
  const auto part_out = static_cast<std::size_t>(spec.output.pixels());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image image = test::to_device(device, stream, samples);
    Image output = device.make_image(
        PixelType::f32, stacked(spec.output, spec.images.dimensions, spec.images.count));
    test::poison(stream, output);
    ResamplePlan(device, spec).execute(stream, image, transforms, output);
    const auto found = test::volume_from_device(stream, output);
    test::WorstError worst;
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      reference::Volume one(spec.images.shape.width, spec.images.shape.height,
                            spec.images.shape.depth);
      const auto first = samples.values.begin() + static_cast<std::ptrdiff_t>(i * part);
      one.values.assign(first, first + static_cast<std::ptrdiff_t>(part));
      const auto spline = spline_through(alone, one);
      const double scale = std::max(test::largest(spline.coefficients), std::abs(spec.spline.cval));
      auto expected = resampled(device, alone, one, transforms[i]);
      reference::Volume here(spec.output.width, spec.output.height, spec.output.depth);
      const auto begin = found.values.begin() + static_cast<std::ptrdiff_t>(i * part_out);
      here.values.assign(begin, begin + static_cast<std::ptrdiff_t>(part_out));
      const auto points = points_of(alone, transforms[i]);
      test::without_jumps(evaluation_of(alone), spline, points, expected);
      test::without_jumps(evaluation_of(alone), spline, points, here);
      const double error = test::max_difference(here, expected) / (4 * contract * scale);
      worst.add(error);
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> spline_properties() {
  return {{"prefilter", "as the oracle has it", &check_prefilter},
          {"resample", "as the oracle has it", &check_resampling},
          {"resample", "a spline passes through its samples", &check_nodes},
          {"resample", "is linear", &check_linearity},
          {"resample", "a constant stays constant", &check_constant},
          {"resample", "a batch equals its arrays", &check_batch}};
}

}  // namespace properties
