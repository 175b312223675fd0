// Double-angle gradients and their sums, statistics, and windows of pixels and of gradients,
// against the oracle. The stages' own tests derive the tolerances.
#include "properties/trial.hpp"
#include "reference/filter/apodize.hpp"
#include "reference/filter/double_angle.hpp"
#include "reference/filter/sobel.hpp"
#include "reference/filter/statistics.hpp"
#include "support/compare.hpp"
#include "support/direction_sums.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/direction_sums.hpp>
#include <warpalign/backend/stages/filter/double_angle.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

constexpr double infinity = std::numeric_limits<double>::infinity();

test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{3, 3},   {9, 5},   {31, 18},
                                             {64, 48}, {61, 43}, {130, 65}};
  return random.one_of(sizes);
}

struct DoubleAngleCase {
  DoubleAngleSpec spec;
  std::int64_t first = 0;  ///< the first slice
  std::vector<DoubleAngleTerms> terms;
  reference::Volume images, weights;
};

/// Some slices of a stack, each with its own terms.
DoubleAngleCase some_double_angle(Random& random) {
  const test::Size size = some_size(random);
  DoubleAngleCase c;
  c.spec = {{size.width, size.height, 1}, random.integer(1, 3)};
  c.spec.epsilon = random.one_of<float>({0.05F, 0.05F, 0.01F, 1.0F});
  c.first = random.integer(0, c.spec.slices - 1);
  for (auto left = random.integer(1, c.spec.slices - c.first); left > 0; --left) {
    c.terms.push_back({{random.real(-0.5, 0.5), random.real(-0.5, 0.5)}, random.real(0.2, 2)});
  }
  const Shape stack = test::stack_of(c.spec.slices, c.spec.image);
  c.images = test::random_volume(stack, -1, 1, random.seed());
  c.weights = test::random_volume(stack, 0, 1, random.seed());
  for (double& value : c.weights.values) value = value < 0.1 ? 0.9 : 1;
  return c;
}

/// The error of the result of terms number `k`.
double double_angle_error(const DoubleAngleCase& c, std::size_t k, const reference::Plane& cosines,
                          const reference::Plane& sines) {
  const std::int64_t slice = c.first + static_cast<std::int64_t>(k);
  const DoubleAngleTerms& t = c.terms[k];
  const auto expected = reference::double_angle(
      test::slice_of(c.images, slice), test::slice_of(c.weights, slice),
      {static_cast<double>(c.spec.epsilon), 0, t.gain, {t.mean.x, t.mean.y}});
  // 1e-6 for numbers of up to 1.9, as in the stage's own test; with this gain they are up to 3.4.
  const double allowed = 2e-6;
  test::WorstError worst;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    worst.add(std::abs(cosines.values[i] - expected.values[i].real()) / allowed);
    worst.add(std::abs(sines.values[i] - expected.values[i].imag()) / allowed);
  }
  return worst.value();
}

void check_double_angle(Trial& trial) {
  const DoubleAngleCase c = some_double_angle(trial.random);
  trial.describe(c.spec.slices, " slices of ", c.spec.image, ", epsilon ", c.spec.epsilon, ", ",
                 c.terms.size(), " from ", c.first, " on, gain ", c.terms[0].gain);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, c.images);
    const Image weights = test::to_device(device, stream, c.weights);
    Image cosines = device.make_image(PixelType::f32, input.shape());
    Image sines = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, cosines);
    test::poison(stream, sines);
    const DoubleAnglePlan plan(device, c.spec);
    plan.execute(stream, input, weights, c.terms, cosines, sines, c.first);
    test::WorstError worst;
    for (std::size_t k = 0; k < c.terms.size(); ++k) {
      const std::int64_t slice = c.first + static_cast<std::int64_t>(k);
      worst.add(double_angle_error(c, k, test::from_device(stream, cosines, slice),
                                   test::from_device(stream, sines, slice)));
    }
    return worst.value();
  });
}

/// Fields of several sizes, whose sums are fetched in one copy.
void check_direction_sums(Trial& trial) {
  Random& random = trial.random;
  const std::int64_t results = random.integer(1, 5);
  trial.describe(results, " fields:");
  std::vector<test::Directions> fields;
  for (std::int64_t i = 0; i < results; ++i) {
    const test::Size size{random.integer(1, 320), random.integer(1, 300)};
    trial.describe(" ", test::to_string(size));
    fields.push_back(test::random_directions(size, random.seed()));
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const DirectionSumsPlan plan(device, {results});
    for (std::int64_t i = results; i-- > 0;) {
      const test::Directions& field = fields[static_cast<std::size_t>(i)];
      plan.enqueue(stream, test::to_device(device, stream, field.cosines),
                   test::to_device(device, stream, field.sines), i);
      stream.finish();
    }
    plan.enqueue_copy(stream);
    test::WorstError worst;
    for (std::int64_t i = 0; i < results; ++i) {
      worst.add(test::direction_sums_error(plan.wait(i), fields[static_cast<std::size_t>(i)]));
    }
    return worst.value();
  });
}

/// Pixels rounded to a type, and the signal computed from them.
struct SignalCase {
  PixelType type;
  Signal signal;
  Shape shape;
  reference::Volume samples;
  reference::Plane values;  ///< the signal's values; those of a volume row by row

  [[nodiscard]] double largest() const {
    const double pixel = type == PixelType::u8 ? 255 : type == PixelType::u16 ? 65535 : 1;
    return signal == Signal::gradient ? pixel * std::sqrt(32.0) : pixel;
  }
};

SignalCase some_signal(Random& random, bool of_volumes) {
  SignalCase c;
  c.type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  c.signal = random.one_of<Signal>({Signal::pixels, Signal::gradient});
  const test::Size size = some_size(random);
  const bool is_volume = of_volumes && c.signal == Signal::pixels && random.chance(0.3);
  c.shape = {size.width, size.height, is_volume ? random.integer(2, 5) : 1};
  c.samples = test::random_samples(c.shape, c.type, random.seed());
  if (c.type == PixelType::f32) {
    for (auto left = random.integer(0, 3); left > 0; --left) {
      const auto i = static_cast<std::size_t>(random.integer(0, c.shape.pixels() - 1));
      c.samples.values[i] = random.one_of<double>({std::nan(""), infinity, -infinity});
    }
  }
  if (is_volume) {
    c.values = reference::Plane(c.shape.width, c.shape.height * c.shape.depth);
    c.values.values = c.samples.values;
  } else {
    const auto image = test::slice_of(c.samples, 0);
    c.values = c.signal == Signal::gradient ? reference::sobel(image) : image;
  }
  return c;
}

void describe(Trial& trial, const SignalCase& c) {
  trial.describe(c.shape, ", ", name_of(c.type),
                 c.signal == Signal::gradient ? ", gradient" : ", pixels");
}

/// The absolute difference; 0 for two equal infinities.
double difference(double found, double expected) {
  return found == expected ? 0 : std::abs(found - expected);
}

void check_statistics(Trial& trial) {
  const SignalCase c = some_signal(trial.random, true);
  describe(trial, c);
  const auto expected = reference::statistics(c.values);
  // Pixels are exact, and magnitudes are off by 2 ulp.
  const double of_extremes = c.signal == Signal::gradient ? 5e-7 * c.largest() : 1e-30;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, c.samples, c.type);
    Buffer record = device.make_buffer(sizeof(StatisticsRecord));
    StatisticsPlan(device, {c.shape, c.type, c.signal}).execute(stream, input, record);
    StatisticsRecord found;
    stream.download(record, &found, sizeof found);
    if (found.nonfinite != expected.nonfinite) return 1e9;
    test::WorstError worst;
    worst.add(difference(static_cast<double>(found.minimum), expected.minimum) / of_extremes);
    worst.add(difference(static_cast<double>(found.maximum), expected.maximum) / of_extremes);
    worst.add(difference(static_cast<double>(found.mean), expected.mean) / (1e-5 * c.largest()));
    return worst.value();
  });
}

void check_apodize(Trial& trial) {
  Random& random = trial.random;
  const SignalCase c = some_signal(random, false);
  const Shape padded{c.shape.width + random.one_of<std::int64_t>({0, 3, 8}),
                     c.shape.height + random.one_of<std::int64_t>({0, 2, 5}), 1};
  const Window window = random.one_of<Window>({Window::hann, Window::none});
  const auto mean = static_cast<float>(random.real(-0.3, 0.3) * c.largest());
  describe(trial, c);
  trial.describe(", padded to ", padded, ", mean ", mean, ", window ", static_cast<int>(window));
  const auto expected = reference::apodize(c.values, static_cast<double>(mean), padded.width,
                                           padded.height, window == Window::hann);
  // Two weights, each rounded, and two products of values up to 1.3 times the largest. Magnitudes
  // are off by 2 ulp before that, and those of floats by six additions.
  const double of_signal = c.signal == Signal::pixels ? 0 : c.type == PixelType::f32 ? 1e-6 : 3e-7;
  const double allowed = (5e-7 + of_signal) * c.largest();
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, c.samples, c.type);
    const StatisticsRecord record{mean, 0, 0, 0};
    Buffer statistics = device.make_buffer(sizeof record);
    stream.upload(&record, sizeof record, statistics);
    Image output = device.make_image(PixelType::f32, padded);
    test::poison(stream, output);
    ApodizePlan(device, {input.shape(), padded, window, c.type, c.signal})
        .execute(stream, input, statistics, output);
    return test::max_difference(test::from_device(stream, output), expected) / allowed;
  });
}

}  // namespace

std::vector<Property> signal_properties() {
  return {{"double_angle", "as the oracle has it", &check_double_angle},
          {"direction_sums", "as the oracle has it", &check_direction_sums},
          {"statistics", "as the oracle has it", &check_statistics},
          {"apodize", "as the oracle has it", &check_apodize}};
}

}  // namespace properties
