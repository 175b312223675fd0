// Smoothing, local normalization and the impulse filter against the oracle. The stages' own tests
// derive the tolerances.
#include "properties/trial.hpp"
#include "reference/filter/impulse_filter.hpp"
#include "reference/filter/local_normalization.hpp"
#include "reference/filter/smooth.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

double largest_of(PixelType type) {
  return type == PixelType::f32 ? 1 : type == PixelType::u8 ? 255 : 65535;
}

/// A grid whose points lie within half a pixel of the image.
SmoothSpec some_smoothing(Random& random) {
  SmoothSpec spec;
  spec.input = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  spec.shape =
      random.one_of<Shape>({{1, 1, 1}, {1, 9, 1}, {5, 3, 1}, {33, 17, 1}, {50, 37, 1}, {3, 70, 1}});
  spec.sigma = random.chance(0.2) ? 0 : random.chance(0.1) ? 12 : random.real(0.3, 2.5);
  spec.spacing = random.one_of<double>({1, 2, random.real(0.4, 4)});
  spec.images = random.integer(1, 3);
  spec.masked = random.chance(0.5);
  const bool on_pixels = random.chance(0.3);
  const auto along = [&](std::int64_t n, double& origin) {
    const double end = static_cast<double>(n) - 0.5;
    origin = on_pixels ? 0 : random.real(-0.49, end - 0.01);
    const auto most = static_cast<std::int64_t>((end - origin) / spec.spacing) + 1;
    return random.integer(1, std::min<std::int64_t>(most, 40));
  };
  spec.output.width = along(spec.shape.width, spec.origin.x);
  spec.output.height = along(spec.shape.height, spec.origin.y);
  return spec;
}

/// A mask of non-zero numbers, with patches of 0.
reference::Volume some_mask(Random& random, const Shape& shape) {
  const std::int64_t side = random.integer(1, 12);
  const auto counts = test::random_volume(shape, 0, 1, random.seed());
  reference::Volume mask(shape.width, shape.height, shape.depth);
  reference::for_each_voxel(mask.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const bool counted = counts.at(x - x % side, y - y % side, z) > 0.4;
    mask.at(x, y, z) = counted ? static_cast<double>(1 + (x + y) % 255) : 0;
  });
  return mask;
}

double smoothing_error(Stream& stream, const SmoothSpec& spec, const reference::Volume& samples,
                       const reference::Volume& mask, const Image& output, const Image& weight) {
  const reference::SampleGrid grid{spec.output.width, spec.output.height, spec.origin.x,
                                   spec.origin.y, spec.spacing};
  test::WorstError worst;
  for (std::int64_t i = 0; i < spec.images; ++i) {
    const auto counted = test::slice_of(mask, i);
    const auto expected = reference::smooth(test::slice_of(samples, i),
                                            spec.masked ? &counted : nullptr, grid, spec.sigma);
    const double allowed = (spec.masked ? 2e-6 : 1e-6) * largest_of(spec.input);
    worst.add(test::max_difference(test::from_device(stream, output, i), expected.value) / allowed);
    if (!spec.masked) continue;
    worst.add(test::max_difference(test::from_device(stream, weight, i), expected.weight) / 1e-6);
  }
  return worst.value();
}

void check_smoothing(Trial& trial) {
  Random& random = trial.random;
  const SmoothSpec spec = some_smoothing(random);
  trial.describe(spec.images, " images of ", spec.shape, " of ", name_of(spec.input), " to ",
                 spec.output, " from ", spec.origin.x, ", ", spec.origin.y, ", spacing ",
                 spec.spacing, ", sigma ", spec.sigma, spec.masked ? ", masked" : "");
  const Shape shape = test::stack_of(spec.images, spec.shape);
  const auto samples = test::random_samples(shape, spec.input, random.seed());
  const auto mask = some_mask(random, shape);
  auto given = samples;
  for (std::size_t i = 0; i < mask.values.size(); ++i) {
    const bool may_be_nan = spec.masked && spec.input == PixelType::f32;
    if (may_be_nan && mask.values[i] == 0) given.values[i] = std::nan("");
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, given, spec.input);
    const Image counted = test::to_device(device, stream, mask, PixelType::u8);
    Image output = device.make_image(PixelType::f32, test::stack_of(spec.images, spec.output));
    Image weight = device.make_image(PixelType::f32, output.shape());
    test::poison(stream, output);
    test::poison(stream, weight);
    const SmoothPlan plan(device, spec);
    if (spec.masked) plan.execute(stream, input, counted, output, weight);
    if (!spec.masked) plan.execute(stream, input, output);
    return smoothing_error(stream, spec, samples, mask, output, weight);
  });
}

void check_local_normalization(Trial& trial) {
  Random& random = trial.random;
  LocalNormalizationSpec spec;
  spec.shape = random.one_of<Shape>({{3, 3, 1}, {1, 9, 1}, {9, 5, 1}, {31, 18, 1}, {45, 33, 1}});
  spec.sigma = random.one_of<double>({0.6, 2, 3.1, random.real(0.3, 6)});
  spec.masked = random.chance(0.5);
  spec.images = random.integer(1, 3);
  spec.by_image = !spec.masked && random.chance(0.5);
  const double level = random.real(-50, 50);
  std::vector<LocalLevels> levels(static_cast<std::size_t>(spec.images),
                                  {static_cast<float>(level), 0.1F});
  if (spec.by_image) {
    for (LocalLevels& one : levels) one.floor = static_cast<float>(random.real(0.1, 0.5));
  }
  trial.describe(spec.images, " images of ", spec.shape, ", sigma ", spec.sigma, ", level ", level,
                 spec.masked ? ", masked" : "", spec.by_image ? ", each with a floor" : "");
  const Shape shape = test::stack_of(spec.images, spec.shape);
  const auto images = test::random_volume(shape, level - 0.5, level + 0.5, random.seed());
  const auto weights = test::random_volume(shape, 0, 1, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, images);
    const Image weight = test::to_device(device, stream, weights);
    Image output = device.make_image(PixelType::f32, shape);
    test::poison(stream, output);
    const LocalNormalizationPlan plan(device, spec);
    if (spec.masked) plan.execute(stream, input, weight, levels[0], output);
    if (spec.by_image) plan.execute(stream, input, levels, output);
    if (!spec.masked && !spec.by_image) plan.execute(stream, input, levels[0], output);
    test::WorstError worst;
    for (std::int64_t i = 0; i < spec.images; ++i) {
      const auto counts = test::slice_of(weights, i);
      const auto expected = reference::local_normalization(
          test::slice_of(images, i), spec.masked ? &counts : nullptr, spec.sigma,
          static_cast<double>(levels[static_cast<std::size_t>(i)].floor));
      worst.add(test::max_difference(test::from_device(stream, output, i), expected) / 1e-5);
    }
    return worst.value();
  });
}

/// Numbers inside a range, some of which are replaced by either end, and a flat area at one end.
reference::Plane some_speckled(Random& random, const test::Size& size, double largest) {
  const double part = random.real(0, 0.6);
  auto image = test::random_integers(size.width, size.height, 200, random.seed());
  for (double& value : image.values) {
    value = (value + 20) * largest / 255;
    if (random.chance(part)) value = random.chance(0.5) ? 0 : largest;
  }
  const double end = random.one_of<double>({0, largest});
  const auto right = random.integer(0, size.width / 2), bottom = random.integer(0, size.height / 2);
  for (std::int64_t y = 0; y < bottom; ++y) {
    for (std::int64_t x = 0; x < right; ++x) image.at(x, y) = end;
  }
  return image;
}

/// The fraction of pixels at the ends of the range that have no such neighbour.
double isolated_part(const reference::Plane& image, double lowest, double highest) {
  double count = 0;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (reference::is_impulse(image, x, y, lowest, highest, 0)) ++count;
    }
  }
  return count / static_cast<double>(image.values.size());
}

void check_impulse_filter(Trial& trial) {
  Random& random = trial.random;
  // At most 64 rows, so that the statistics examine all of them.
  const auto size =
      random.one_of<test::Size>({{1, 1}, {1, 9}, {5, 3}, {33, 17}, {61, 64}, {90, 40}});
  const auto type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  const double largest = 255 * (type == PixelType::u16 ? 257 : 1);
  trial.describe(test::to_string(size), ", ", name_of(type));
  auto image = some_speckled(random, size, largest);
  for (double& value : image.values) value = std::floor(value);
  const auto [low, high] = std::minmax_element(image.values.begin(), image.values.end());
  const double isolated = isolated_part(image, *low, *high);
  const auto expected = reference::despeckled(image, *low, *high);
  trial.on_every_device([&, lowest = *low, highest = *high](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image, type);
    Image output = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, output);
    const ImpulseFilterPlan plan(device, {type, input.shape()});
    const ImpulseStatistics found = plan.impulse_statistics(stream, input);
    const bool same = static_cast<double>(found.lowest) == lowest &&
                      static_cast<double>(found.highest) == highest &&
                      std::abs(found.isolated - isolated) <= 1e-12;
    if (!same) return 1e9;
    plan.execute(stream, input, found, output);
    // A mean of at most 24 numbers with float weights, each rounded by half of 2^-23 of the
    // largest.
    return test::max_difference(test::from_device(stream, output), expected) /
           (largest * 24 * 6e-8);
  });
}

}  // namespace

std::vector<Property> smoothing_properties() {
  return {{"smooth", "as the oracle has it", &check_smoothing},
          {"local_normalization", "as the oracle has it", &check_local_normalization},
          {"impulse_filter", "as the oracle has it", &check_impulse_filter}};
}

}  // namespace properties
