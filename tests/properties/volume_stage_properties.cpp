// Stages of volumes against the oracle. The stages' own tests derive the tolerances.
#include "properties/trial.hpp"
#include "reference/fft/fft.hpp"
#include "reference/volume/halve_volume.hpp"
#include "reference/volume/marked_volume.hpp"
#include "reference/volume/pad_volume.hpp"
#include "reference/volume/rotation_scores.hpp"
#include "reference/volume/smooth_volume.hpp"
#include "reference/volume/spectrum_sums.hpp"
#include "reference/volume/volume_edges.hpp"
#include "reference/volume/volume_peaks.hpp"
#include "support/compare.hpp"
#include "support/rotated_volumes.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/backend/stages/volume/mark_volume.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/rotation_scores.hpp>
#include <warpalign/backend/stages/volume/smooth_volume.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/backend/stages/volume/volume_edges.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

void check_pad_volume(Trial& trial) {
  Random& random = trial.random;
  PadVolumeSpec spec;
  spec.input_type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  spec.input = random.one_of<Shape>({{1, 2, 3}, {37, 10, 9}, {8, 9, 33}, {16, 16, 1}});
  spec.padded = {spec.input.width + random.integer(0, 9), spec.input.height + random.integer(0, 5),
                 spec.input.depth + random.integer(0, 3)};
  spec.taper = random.one_of<double>({0, 0.5, random.real(0, 0.5)});
  spec.marked = spec.input_type == PixelType::f32 && random.chance(0.5);
  const auto offset = static_cast<float>(random.real(-1, 1));
  trial.describe(spec.input, " of ", name_of(spec.input_type), " in ", spec.padded, ", taper ",
                 spec.taper, ", offset ", offset, spec.marked ? ", marked" : "");
  auto volume = test::random_samples(spec.input, spec.input_type, random.seed());
  const VolumeLevels levels{offset, static_cast<float>(1 / test::largest(volume))};
  if (spec.marked) volume = test::with_marks(volume, random.real(0, 1), random.seed());
  const auto expected = reference::placed(
      volume, {spec.padded.width, spec.padded.height, spec.padded.depth},
      static_cast<double>(offset), static_cast<double>(levels.scale), spec.taper, spec.marked);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, volume, spec.input_type);
    Image padded = device.make_image(PixelType::f32, spec.padded);
    test::poison(stream, padded);
    PadVolumePlan(device, spec).execute(stream, input, levels, padded);
    // A difference, three weights and products, of values up to 1, or 2 for floats.
    return test::max_difference(test::volume_from_device(stream, padded), expected) /
           (1e-6 * std::max(1.0, test::largest(expected)));
  });
}

void check_mark_volume(Trial& trial) {
  Random& random = trial.random;
  const auto type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  const Shape shape = random.one_of<Shape>({{1, 2, 3}, {37, 10, 9}, {8, 9, 33}, {64, 16, 1}});
  trial.describe(shape, " of ", name_of(type));
  const auto volume = test::random_samples(shape, type, random.seed());
  auto mask = test::random_samples(shape, PixelType::u8, random.seed());
  for (double& value : mask.values) {
    if (random.chance(0.3)) value = 0;
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image voxels = test::to_device(device, stream, volume, type);
    const Image marks = test::to_device(device, stream, mask, PixelType::u8);
    Image marked = device.make_image(PixelType::f32, shape);
    test::poison(stream, marked);
    MarkVolumePlan(device, {type, shape}).execute(stream, voxels, marks, marked);
    const double off = test::max_marked_difference(test::volume_from_device(stream, marked),
                                                   reference::marked(volume, mask));
    return off == 0 ? 0.0 : 1e9;
  });
}

/// The volumes of the two properties below. In some of them all voxels count.
reference::Volume some_marked_volume(Random& random, const Shape& shape) {
  const auto volume = test::random_volume(shape, -1, 1, random.seed());
  if (random.chance(0.2)) return volume;
  return test::with_marks(volume, random.one_of<double>({0, 0.02, 0.5}), random.seed());
}

void check_smooth_volume(Trial& trial) {
  Random& random = trial.random;
  const Shape shape =
      random.one_of<Shape>({{1, 1, 1}, {1, 2, 3}, {2, 1, 9}, {37, 10, 9}, {8, 9, 33}, {70, 3, 1}});
  trial.describe(shape);
  const auto volume = some_marked_volume(random, shape);
  const auto expected = reference::smoothed_by_spline(volume);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, volume);
    Image smoothed = device.make_image(PixelType::f32, shape);
    test::poison(stream, smoothed);
    SmoothVolumePlan(device, {shape}).execute(stream, input, smoothed);
    return test::max_marked_difference(test::volume_from_device(stream, smoothed), expected) / 6e-7;
  });
}

void check_halve_volume(Trial& trial) {
  Random& random = trial.random;
  HalveVolumeSpec spec;
  spec.shape = random.one_of<Shape>({{2, 2, 3}, {37, 10, 9}, {8, 9, 33}, {70, 3, 2}});
  std::array<std::int64_t, 3> factors{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    spec.halved[axis] = random.chance(0.6);
    factors[axis] = spec.halved[axis] ? 2 : 1;
  }
  trial.describe(spec.shape, " to ", spec.output());
  const auto volume = some_marked_volume(random, spec.shape);
  const auto expected = reference::means_of_boxes(volume, factors);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, volume);
    Image halved = device.make_image(PixelType::f32, spec.output());
    test::poison(stream, halved);
    HalveVolumePlan(device, spec).execute(stream, input, halved);
    return test::max_marked_difference(test::volume_from_device(stream, halved), expected) / 5e-7;
  });
}

/// The sums of two pairs of spectra in one call.
void check_spectrum_sums(Trial& trial) {
  Random& random = trial.random;
  const Shape shape =
      random.one_of<Shape>({{16, 12, 10}, {15, 7, 9}, {70, 3, 5}, {2, 1, 1}, {9, 9, 1}, {1, 6, 4}});
  trial.describe(shape);
  const auto spectrum = [&](double low) {
    return test::as_floats(
        reference::forward(test::random_volume(shape, low, low + 2, random.seed())));
  };
  const std::array<reference::ComplexVolume, 2> spectra{spectrum(random.real(-2, 2)),
                                                        spectrum(random.real(-2, 2))};
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const std::array<Image, 2> images{test::to_device(device, stream, spectra[0]),
                                      test::to_device(device, stream, spectra[1])};
    const SpectrumSumsPlan plan(device, {shape, 2});
    plan.enqueue(stream, images[0], images[1], 1);
    plan.enqueue(stream, images[1], images[1], 0);
    plan.enqueue_copy(stream);
    test::WorstError worst;
    for (const std::int64_t result : {0, 1}) {
      const SpectrumSums found = plan.wait(result);
      const auto expected = reference::power_sums(spectra[1 - static_cast<std::size_t>(result)],
                                                  spectra[1], shape.width);
      const auto add = [&](double sum, double wanted) {
        worst.add(std::abs(sum - wanted) / (2e-6 * wanted + 1e-30));
      };
      add(found.a, expected.a), add(found.b, expected.b), add(found.product, expected.product);
    }
    return worst.value();
  });
}

/// Slopes or strengths.
void check_volume_edges(Trial& trial) {
  Random& random = trial.random;
  const Shape shape =
      random.one_of<Shape>({{1, 1, 1}, {1, 2, 3}, {2, 1, 9}, {37, 10, 9}, {8, 9, 33}, {70, 3, 1}});
  const auto distance = [&] { return random.chance(0.3) ? 1 : random.real(0.1, 10); };
  const Point3 spacing{distance(), distance(), distance()};
  const auto epsilon = static_cast<float>(random.real(0.01, 2));
  const bool strengths = random.chance(0.5);
  trial.describe(shape, ", spacing ", spacing.x, ", ", spacing.y, ", ", spacing.z,
                 strengths ? ", strengths, epsilon " : ", slopes ", epsilon);
  const auto volume = test::random_volume(shape, -1, 1, random.seed());
  const std::array<double, 3> distances{spacing.x, spacing.y, spacing.z};
  const auto expected =
      strengths ? reference::edge_strengths(volume, distances, static_cast<double>(epsilon))
                : reference::gradient_lengths(volume, distances);
  const EdgeCurve curve = strengths ? EdgeCurve::up_to_one(epsilon) : EdgeCurve{};
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, volume);
    Image edges = device.make_image(PixelType::f32, shape);
    test::poison(stream, edges);
    VolumeEdgesPlan(device, {shape, spacing}).execute(stream, input, curve, edges);
    return test::max_difference(test::volume_from_device(stream, edges), expected) /
           (1e-6 * std::max(1.0, test::largest(expected)));
  });
}

/// Ignores maxima that are equal by chance: of these the first counts, which another test checks.
void check_volume_peaks(Trial& trial) {
  Random& random = trial.random;
  const Shape shape = random.one_of<Shape>({{1, 1, 1}, {5, 3, 2}, {45, 21, 13}, {16, 8, 8}});
  VolumePeakLimits limits;
  for (std::int64_t& reach : limits.reach) reach = random.chance(0.5) ? 0 : random.integer(1, 9);
  // Sometimes more than there are bricks.
  limits.count = random.chance(0.5) ? 1000 : static_cast<int>(random.integer(1, 12));
  trial.describe(shape, ", reach ", limits.reach[0], ", ", limits.reach[1], ", ", limits.reach[2],
                 ", ", limits.count, " peaks");
  auto volume = test::random_volume(shape, -2, 1, random.seed());
  for (double& value : volume.values) {
    if (random.chance(0.02)) value = std::nan("");
  }
  const auto expected = reference::volume_peaks(volume, limits.reach, limits.count);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image surface = test::to_device(device, stream, volume);
    const VolumePeaksPlan plan(device, {shape});
    const auto found = plan.execute(stream, surface, limits);
    const bool same = std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                                 [](const VolumePeak& a, const reference::VolumePeak& b) {
                                   return static_cast<double>(a.value) == b.value &&
                                          std::array<std::int64_t, 3>{a.x, a.y, a.z} == b.at;
                                 });
    return same ? 0.0 : 1e9;
  });
}

RotationMatrix some_rotation(Random& random) {
  const Point3 axis{random.real(-1, 1), random.real(-1, 1), random.real(0.01, 1)};
  const auto rows = test::turn(axis, random.real(-180, 180));
  RotationMatrix matrix{};
  for (std::size_t i = 0; i < 9; ++i) matrix[i] = static_cast<float>(rows[i / 3 * 4 + i % 3]);
  return matrix;
}

/// Points within the radius, some of them on the sphere itself.
std::vector<ScoredPoint> some_points(Random& random, int radius, std::int64_t count) {
  std::vector<ScoredPoint> points;
  const auto farthest = static_cast<double>(radius);
  while (points.size() < static_cast<std::size_t>(count)) {
    const std::array<double, 3> p{random.real(-1, 1), random.real(-1, 1), random.real(-1, 1)};
    const double length = std::hypot(p[0], p[1], p[2]);
    if (length > 1 || length < 0.01) continue;
    // Slightly inside, so that rounding to floats does not move the point beyond the radius.
    const double size = (1 - 1e-6) * farthest / (random.chance(0.1) ? length : 1);
    points.push_back({static_cast<float>(p[0] * size), static_cast<float>(p[1] * size),
                      static_cast<float>(p[2] * size), static_cast<float>(random.real(-1, 1))});
  }
  return points;
}

double expected_score(const reference::Volume& volume, const std::vector<ScoredPoint>& points,
                      const RotationMatrix& rotation) {
  std::vector<reference::ScoredPoint> wide;
  wide.reserve(points.size());
  for (const ScoredPoint& p : points) {
    wide.push_back({{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)},
                    static_cast<double>(p.value)});
  }
  std::array<double, 9> matrix{};
  std::copy(rotation.begin(), rotation.end(), matrix.begin());
  return reference::rotation_score(volume, wide, matrix);
}

void check_rotation_scores(Trial& trial) {
  Random& random = trial.random;
  RotationScoresSpec spec;
  spec.radius = static_cast<int>(random.integer(1, 8));
  spec.max_points = random.one_of<std::int64_t>({1, 7, 300});
  spec.max_rotations = random.integer(1, 9);
  const auto points = some_points(random, spec.radius, random.integer(1, spec.max_points));
  std::vector<RotationMatrix> rotations;
  for (auto left = random.integer(1, spec.max_rotations); left > 0; --left) {
    rotations.push_back(some_rotation(random));
  }
  trial.describe("radius ", spec.radius, ", ", points.size(), " points, ", rotations.size(),
                 " rotations");
  const auto volume =
      test::random_volume({spec.side(), spec.side(), spec.side()}, 0, 1, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image image = test::to_device(device, stream, volume);
    const RotationScoresPlan plan(device, spec);
    const auto found = plan.execute(stream, image, points, rotations);
    test::WorstError worst;
    for (std::size_t i = 0; i < rotations.size(); ++i) {
      const double error =
          std::abs(static_cast<double>(found[i]) - expected_score(volume, points, rotations[i]));
      worst.add(error / (4e-6 * static_cast<double>(points.size())));
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> volume_stage_properties() {
  return {{"pad_volume", "as the oracle has it", &check_pad_volume},
          {"mark_volume", "as the oracle has it", &check_mark_volume},
          {"smooth_volume", "as the oracle has it", &check_smooth_volume},
          {"halve_volume", "as the oracle has it", &check_halve_volume},
          {"spectrum_sums", "as the oracle has it, together", &check_spectrum_sums},
          {"volume_edges", "as the oracle has it", &check_volume_edges},
          {"volume_peaks", "as the oracle has it", &check_volume_peaks},
          {"rotation_scores", "as the oracle has it", &check_rotation_scores}};
}

}  // namespace properties
