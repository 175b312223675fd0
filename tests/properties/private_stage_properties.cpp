// Stages that registrations are made of, against the oracle. Tolerances are those of the stages'
// own tests, where they are derived.
#include "properties/trial.hpp"
#include "reference/filter/apodize.hpp"
#include "reference/filter/double_angle.hpp"
#include "reference/filter/statistics.hpp"
#include "reference/spectrum/cross_power.hpp"
#include "reference/spectrum/peak.hpp"
#include "reference/spectrum/radial_whitening.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/double_angle.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

#include <algorithm>
#include <cmath>

namespace properties {

namespace {

using namespace warpalign;

test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{3, 3},   {9, 5},   {31, 18},
                                             {64, 48}, {61, 43}, {130, 65}};
  return random.one_of(sizes);
}

void check_double_angle(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const DoubleAngleTerms terms{
      random.real(-3, 3), {random.real(-0.5, 0.5), random.real(-0.5, 0.5)}, random.real(0.2, 2)};
  trial.describe(test::to_string(size), ", rotation ", terms.rotation, ", gain ", terms.gain);
  const auto image = test::random_plane(size.width, size.height, -1, 1, random.seed());
  auto weight = test::random_plane(size.width, size.height, 0, 1, random.seed());
  for (double& value : weight.values) value = value < 0.1 ? 0.9 : 1;
  const auto expected = reference::double_angle(
      image, weight, {0.05F, terms.rotation, terms.gain, {terms.mean.x, terms.mean.y}});
  // 1e-6 of numbers of up to 1.9, as the stage's own test has it; with this gain they are up
  // to 3.4.
  const double allowed = 2e-6;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image);
    const Image weights = test::to_device(device, stream, weight);
    Image cosines = device.make_image(PixelType::f32, input.shape());
    Image sines = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, cosines);
    test::poison(stream, sines);
    DoubleAnglePlan(device, {input.shape()}).execute(stream, input, weights, terms, cosines, sines);
    const auto c = test::from_device(stream, cosines);
    const auto s = test::from_device(stream, sines);
    test::WorstError worst;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      worst.add(std::abs(c.values[i] - expected.values[i].real()) / allowed);
      worst.add(std::abs(s.values[i] - expected.values[i].imag()) / allowed);
    }
    return worst.value();
  });
}

void check_statistics(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const double low = random.real(-1000, 1000);
  trial.describe(test::to_string(size), ", from ", low);
  auto image = test::random_plane(size.width, size.height, low, low + 8, random.seed());
  if (random.chance(0.5)) image.values[image.values.size() / 2] = std::nan("");
  const auto expected = reference::statistics(image);
  const double scale = std::max(std::abs(expected.minimum), std::abs(expected.maximum));
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image);
    Buffer record = device.make_buffer(sizeof(StatisticsRecord));
    StatisticsPlan(device, {input.shape(), PixelType::f32}).execute(stream, input, record);
    StatisticsRecord found;
    stream.download(record, &found, sizeof found);
    const bool exact = static_cast<double>(found.minimum) == expected.minimum &&
                       static_cast<double>(found.maximum) == expected.maximum &&
                       found.nonfinite == expected.nonfinite;
    if (!exact) return 1e9;
    return std::abs(static_cast<double>(found.mean) - expected.mean) / (1e-5 * scale);
  });
}

void check_apodize(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const Shape padded{size.width + random.one_of<std::int64_t>({0, 3, 8}),
                     size.height + random.one_of<std::int64_t>({0, 2, 5}), 1};
  const Window window = random.one_of<Window>({Window::hann, Window::none});
  const auto mean = static_cast<float>(random.real(-0.5, 0.5));
  trial.describe(test::to_string(size), " padded to ", padded, ", mean ", mean, ", window ",
                 static_cast<int>(window));
  const auto image = test::random_plane(size.width, size.height, -1, 1, random.seed());
  const auto expected = reference::apodize(image, static_cast<double>(mean), padded.width,
                                           padded.height, window == Window::hann);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image);
    const StatisticsRecord record{mean, 0, 0, 0};
    Buffer statistics = device.make_buffer(sizeof record);
    stream.upload(&record, sizeof record, statistics);
    Image output = device.make_image(PixelType::f32, padded);
    test::poison(stream, output);
    ApodizePlan(device, {input.shape(), padded, window}).execute(stream, input, statistics, output);
    // Two weights, each rounded, and two products of values up to 1.5.
    return test::max_difference(test::from_device(stream, output), expected) / 5e-7;
  });
}

void check_cross_power(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const float sigma = random.one_of<float>({0.0F, 0.3F, 0.7F});
  trial.describe(test::to_string(size), ", sigma ", sigma);
  const auto a = test::random_spectrum(size.width, size.height, random.seed());
  const auto b = test::random_spectrum(size.width, size.height, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image da = test::to_device(device, stream, a);
    const Image db = test::to_device(device, stream, b);
    Image output = device.make_image(PixelType::c32, {da.shape().width, da.shape().height, 2});
    test::poison(stream, output);
    CrossPowerPlan(device, {{size.width, size.height, 1}, sigma, true})
        .execute(stream, da, db, output);
    test::WorstError worst;
    for (const int slice : {0, 1}) {
      const auto expected =
          reference::cross_power(a, b, size.width, static_cast<double>(sigma), slice == 1);
      const double error =
          test::max_difference(test::spectrum_from_device(stream, output, slice), expected) / 2e-6;
      worst.add(error);
    }
    return worst.value();
  });
}

void check_radial_whitening(Trial& trial) {
  const test::Size size = some_size(trial.random);
  trial.describe(test::to_string(size));
  auto image = test::random_plane(size.width, size.height, 0.5, 1.5, trial.random.seed());
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      image.at(x, y) /= static_cast<double>(1 + x);
      image.at(x, y) = static_cast<double>(static_cast<float>(image.at(x, y)));
    }
  }
  const auto expected = reference::flattened_profile(image);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    Image whitened = test::to_device(device, stream, image);
    RadialWhiteningPlan(device, {whitened.shape()}).execute(stream, whitened);
    return test::max_difference(test::from_device(stream, whitened), expected) / (3 * 64 * 6e-8);
  });
}

/// Values that are equal by chance are left out: of these the first counts, which has its own test.
void check_peak(Trial& trial) {
  const test::Size size = some_size(trial.random);
  trial.describe(test::to_string(size));
  const auto image = test::random_plane(size.width, size.height, -2, 1, trial.random.seed());
  const auto expected = reference::peak(image);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image surface = test::to_device(device, stream, image);
    PeakRecord found;
    Buffer record = device.make_buffer(sizeof found);
    PeakPlan(device, {surface.shape()}).execute(stream, surface, record);
    stream.download(record, &found, sizeof found);
    const bool same = static_cast<double>(found.value) == expected.value && found.x == expected.x &&
                      found.y == expected.y;
    return same ? 0.0 : 1e9;
  });
}

}  // namespace

std::vector<Property> private_stage_properties() {
  return {{"double_angle", "as the oracle has it", &check_double_angle},
          {"statistics", "as the oracle has it", &check_statistics},
          {"apodize", "as the oracle has it", &check_apodize},
          {"cross_power", "as the oracle has it", &check_cross_power},
          {"radial_whitening", "as the oracle has it", &check_radial_whitening},
          {"peak", "as the oracle has it", &check_peak}};
}

}  // namespace properties
