// Octaves of many planes, and matches of features, against the oracle. The stages' own tests
// derive the tolerances.
#include "properties/trial.hpp"
#include "reference/features/octave.hpp"
#include "support/compare.hpp"
#include "support/feature_lists.hpp"
#include "support/packed_planes.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/features/feature_matches.hpp>
#include <warpalign/backend/stages/features/octave.hpp>

#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

struct OctaveCase {
  OctaveSpec spec;
  std::int64_t image = 0;
  std::vector<reference::Plane> source;  ///< up to that image
};

OctaveCase some_octave(Random& random) {
  OctaveCase c;
  c.spec.step = random.integer(1, 3);
  for (auto left = random.integer(1, 5); left > 0; --left) {
    c.spec.planes.push_back({random.integer(c.spec.step, 90), random.integer(c.spec.step, 70), 1});
  }
  for (auto left = random.integer(1, 4); left > 0; --left) {
    c.spec.sigmas.push_back(random.chance(0.2) ? 0 : random.real(0.1, 6));
  }
  c.image = random.integer(0, 2);
  for (std::int64_t i = 0; i <= c.image; ++i) {
    for (const Shape& plane : c.spec.planes) {
      c.source.push_back(test::random_plane(plane.width, plane.height, 0, 1, random.seed()));
    }
  }
  return c;
}

void check_octave(Trial& trial) {
  const OctaveCase c = some_octave(trial.random);
  trial.describe("step ", c.spec.step, ", image ", c.image, ", sigmas");
  for (const double sigma : c.spec.sigmas) trial.describe(" ", sigma);
  for (const Shape& plane : c.spec.planes) trial.describe(", ", plane);
  const std::size_t planes = c.spec.planes.size();
  std::vector<Shape> shapes;
  std::vector<reference::Plane> expected(planes * c.spec.sigmas.size());
  for (std::size_t p = 0; p < planes; ++p) {
    const auto& source = c.source[static_cast<std::size_t>(c.image) * planes + p];
    const auto images = reference::octave(source, c.spec.step, c.spec.sigmas);
    for (std::size_t i = 0; i < images.size(); ++i) expected[i * planes + p] = images[i];
  }
  for (const reference::Plane& plane : expected) shapes.push_back({plane.width, plane.height, 1});
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Buffer source = test::to_buffer(device, stream, test::packed(c.source));
    const std::size_t bytes = OctavePlan::bytes_of(c.spec);
    Buffer octave = test::poisoned(device, stream, bytes);
    Buffer between = test::poisoned(device, stream, OctavePlan::bytes_between(c.spec));
    OctavePlan(device, c.spec).execute(stream, source, c.image, between, octave);
    const auto found =
        test::unpacked(test::from_buffer<float>(stream, octave, bytes / sizeof(float)), shapes);
    test::WorstError worst;
    for (std::size_t i = 0; i < found.size(); ++i) {
      worst.add(test::max_difference(found[i], expected[i]) / 3e-6);
    }
    return worst.value();
  });
}

void check_feature_matches(Trial& trial) {
  const std::int64_t references = trial.random.integer(1, 140);
  const std::int64_t movings = trial.random.integer(1, 300);
  const auto apart = static_cast<float>(trial.random.real(0, 4));
  const auto max_ratio = static_cast<float>(trial.random.real(0.5, 0.95));
  const std::int64_t spare = trial.random.integer(0, 70);
  trial.describe(references, " and ", movings, " features, ", spare, " spare, other places ", apart,
                 " pixels away, ratio ", max_ratio);
  test::RandomDescriptors random(trial.random.seed());
  const auto reference = random.descriptors(static_cast<std::size_t>(references));
  const auto moving = test::moving_features(random, reference, static_cast<std::size_t>(movings));
  std::vector<reference::FeatureMatch> expected;
  for (const test::Descriptor& descriptor : reference) {
    expected.push_back(reference::feature_match(descriptor, moving.descriptors, moving.places,
                                                static_cast<double>(apart),
                                                static_cast<double>(max_ratio)));
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Buffer of_reference = test::to_buffer(device, stream, test::rows_of(reference));
    const Buffer of_moving = test::to_buffer(device, stream, test::rows_of(moving.descriptors));
    const Buffer places = test::to_buffer(device, stream, test::coordinates_of(moving));
    Buffer nearest = test::poisoned(device, stream, expected.size() * sizeof(NearestFeature));
    FeatureMatchesPlan(device, {references + spare, movings + spare, max_ratio})
        .execute(stream, {of_reference, references}, {of_moving, movings}, places, apart, nearest);
    const auto found = test::from_buffer<NearestFeature>(stream, nearest, expected.size());
    test::WorstError worst;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (test::is_undecided(expected[i])) continue;
      if (found[i].index != expected[i].index) return 1e9;
      worst.add(std::abs(static_cast<double>(found[i].ratio) - expected[i].ratio) /
                test::ratio_tolerance);
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> features_properties() {
  return {{"octave", "as the oracle has it", &check_octave},
          {"feature_matches", "as the oracle has it", &check_feature_matches}};
}

}  // namespace properties
