// The parts of a correlation against the oracle: cross-power spectra, the whitening of log-polar
// spectra, and peaks. The stages' own tests derive the tolerances.
#include "properties/trial.hpp"
#include "reference/spectrum/cross_power.hpp"
#include "reference/spectrum/peak.hpp"
#include "reference/spectrum/radial_whitening.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{3, 3},   {9, 5},   {31, 18},
                                             {64, 48}, {61, 43}, {130, 65}};
  return random.one_of(sizes);
}

/// For images with and without the rotation by 180 degrees, for stacks, or for a volume.
CrossPowerSpec some_cross_power(Random& random) {
  const test::Size size = some_size(random);
  CrossPowerSpec spec{{size.width, size.height, 1}, random.one_of<float>({0.0F, 0.3F, 0.7F})};
  switch (random.integer(0, 3)) {
    case 0:
      spec.with_rotated_180 = true;
      break;
    case 1:
      spec.image.depth = random.integer(2, 4);
      break;
    case 2:
      spec.first_images = random.integer(1, 4);
      spec.second_images = random.one_of<std::int64_t>({1, spec.first_images});
      break;
    default:
      spec.second_images = random.integer(1, 4);
  }
  return spec;
}

/// The spectra of images are stacked; a volume has one spectrum.
reference::ComplexVolume some_spectra(Random& random, const CrossPowerSpec& spec,
                                      std::int64_t images) {
  const Shape half = RealFftPlan::half_spectrum(spec.image);
  auto spectra =
      test::random_complex_volume({half.width, half.height, half.depth * images}, random.seed());
  spectra.values[static_cast<std::size_t>(random.integer(0, half.plane() - 1))] = 0;
  return spectra;
}

double cross_power_error(const CrossPowerSpec& spec, const reference::ComplexVolume& a,
                         const reference::ComplexVolume& b, const reference::ComplexVolume& found) {
  const auto sigma = static_cast<double>(spec.sigma);
  if (spec.image.depth > 1) {
    const auto expected = reference::cross_power(a, b, spec.image.width, sigma);
    return test::max_difference(found, expected) / 2e-6;
  }
  test::WorstError worst;
  for (std::int64_t slice = 0; slice < found.depth; ++slice) {
    const bool rotated = spec.with_rotated_180 && slice == 1;
    const auto of = [&](const reference::ComplexVolume& stack) {
      return test::slice_of(stack, stack.depth == 1 ? 0 : slice);
    };
    const auto expected = reference::cross_power(of(a), of(b), spec.image.width, sigma, rotated);
    worst.add(test::max_difference(test::slice_of(found, slice), expected) / 2e-6);
  }
  return worst.value();
}

void check_cross_power(Trial& trial) {
  Random& random = trial.random;
  const CrossPowerSpec spec = some_cross_power(random);
  trial.describe(spec.first_images, " and ", spec.second_images, " of ", spec.image, ", sigma ",
                 spec.sigma, spec.with_rotated_180 ? ", and rotated" : "");
  const auto a = some_spectra(random, spec, spec.first_images);
  const auto b = some_spectra(random, spec, spec.second_images);
  const std::int64_t slices =
      spec.with_rotated_180 ? 2 : spec.image.depth * backend::images_of(spec);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image da = test::to_device(device, stream, a);
    const Image db = test::to_device(device, stream, b);
    Image output = device.make_image(PixelType::c32, test::stack_of(slices, da.shape()));
    test::poison(stream, output);
    CrossPowerPlan(device, spec).execute(stream, da, db, output);
    return cross_power_error(spec, a, b, test::complex_volume_from_device(stream, output));
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
  const auto expected = reference::radially_whitened(image);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    Image whitened = test::to_device(device, stream, image);
    RadialWhiteningPlan(device, {whitened.shape()}).execute(stream, whitened);
    return test::max_difference(test::from_device(stream, whitened), expected) / (3 * 64 * 6e-8);
  });
}

/// Ignores maxima that are equal by chance: of these the first counts, which another test checks.
double peak_error(const PeakRecord& found, const reference::Plane& image) {
  const auto expected = reference::peak(image);
  bool same = static_cast<double>(found.value) == expected.value && found.x == expected.x &&
              found.y == expected.y;
  for (std::int64_t neighbour_index = 0; neighbour_index < 9; ++neighbour_index) {
    // Adds twice the width, for images of one pixel.
    const std::int64_t x = (expected.x + neighbour_index % 3 - 1 + 2 * image.width) % image.width;
    const std::int64_t y = (expected.y + neighbour_index / 3 - 1 + 2 * image.height) % image.height;
    const double neighbour = image.at(x, y);
    const auto got =
        static_cast<double>(found.neighbours[static_cast<std::size_t>(neighbour_index)]);
    same = same && (got == neighbour || (std::isnan(got) && std::isnan(neighbour)));
  }
  return same ? 0 : 1e9;
}

void check_peak(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const auto slices = random.integer(1, 4);
  trial.describe(slices, " slices of ", test::to_string(size));
  auto images = test::random_volume({size.width, size.height, slices}, -2, 1, random.seed());
  for (double& value : images.values) {
    if (random.chance(0.01)) value = std::nan("");
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image surface = test::to_device(device, stream, images);
    std::vector<PeakRecord> found(static_cast<std::size_t>(slices));
    Buffer records = device.make_buffer(found.size() * sizeof(PeakRecord));
    PeakPlan(device, {surface.shape()}).execute(stream, surface, records);
    stream.download(records, found.data(), found.size() * sizeof(PeakRecord));
    test::WorstError worst;
    for (std::size_t i = 0; i < found.size(); ++i) {
      worst.add(peak_error(found[i], test::slice_of(images, static_cast<std::int64_t>(i))));
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> correlation_properties() {
  return {{"cross_power", "as the oracle has it", &check_cross_power},
          {"radial_whitening", "as the oracle has it", &check_radial_whitening},
          {"peak", "as the oracle has it", &check_peak}};
}

}  // namespace properties
