// Registrations: the transform that a pair was drawn with is found, and the pair swapped gives its
// inverse.
#include "properties/trial.hpp"
#include "support/blobs.hpp"
#include "support/corners.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/local_motion.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <array>
#include <cmath>

namespace properties {

namespace {

using namespace warpalign;
using test::BlobImage;

/// Pixels by which corners may be off: four times the worst of the first hundred pairs. The images
/// are small, smooth and rounded to 8 bits; photographs are found to thousandths
/// (docs/accuracy.md).
constexpr double corner_tolerance = 0.15;
/// The errors of a pair and of the pair swapped are nearly opposite.
constexpr double swapped_tolerance = 0.05;
/// Voxels. Volumes are floats, drawn at their shifted positions.
constexpr double voxel_tolerance = 0.01;
/// Of a window, in pixels, which has an eighth of the image's pixels and may hold few details.
constexpr double window_tolerance = 0.35;

struct Pair {
  Shape shape;
  Similarity similarity;
  BlobImage reference, moving;

  [[nodiscard]] Affine truth() const { return similarity.matrix(shape, shape); }
};

/// `truth` maps reference pixels to moving ones, so the moving image is drawn by its inverse.
Pair draw_pair(Random& random) {
  Pair pair;
  pair.shape = random.one_of<Shape>({{160, 128, 1}, {128, 160, 1}, {150, 150, 1}});
  pair.similarity.rotation_deg = random.real(-180, 180);
  pair.similarity.scale = random.real(0.8, 1.25);
  pair.similarity.translation = {random.real(-10, 10), random.real(-10, 10)};
  const auto scene = random.seed();
  pair.reference = test::draw_blobs(pair.shape, {}, scene);
  pair.moving = test::draw_blobs(pair.shape, pair.truth().inverse(), scene);
  return pair;
}

void describe(Trial& trial, const Pair& pair) {
  trial.describe(pair.shape, ", rotated by ", pair.similarity.rotation_deg, " degrees, scaled by ",
                 pair.similarity.scale, ", shifted by ", pair.similarity.translation.x, ", ",
                 pair.similarity.translation.y);
}

RegistrationResult aligned(const Device& device, const BlobImage& reference,
                           const BlobImage& moving) {
  Registrar registrar(device);
  registrar.set_reference(reference.view());
  return registrar.align(moving.view());
}

void check_found(Trial& trial) {
  const Pair pair = draw_pair(trial.random);
  describe(trial, pair);
  trial.on_every_device([&](const Device& device) {
    const auto found = aligned(device, pair.reference, pair.moving);
    if (!found.reliable) return 1e9;
    return test::max_corner_distance(found.matrix, pair.truth(), pair.shape) / corner_tolerance;
  });
}

void check_swapped(Trial& trial) {
  const Pair pair = draw_pair(trial.random);
  describe(trial, pair);
  trial.on_every_device([&](const Device& device) {
    const auto forward = aligned(device, pair.reference, pair.moving);
    const auto back = aligned(device, pair.moving, pair.reference);
    if (!forward.reliable || !back.reliable) return 1e9;
    return test::max_corner_distance(back.matrix * forward.matrix, Affine{}, pair.shape) /
           swapped_tolerance;
  });
}

/// A pair's result in a batch is, bit for bit, that of the pair alone.
void check_batch(Trial& trial) {
  std::vector<Pair> pairs;
  std::vector<HostPair> views;
  for (int i = 0; i < 3; ++i) pairs.push_back(draw_pair(trial.random));
  for (const Pair& pair : pairs) views.push_back({pair.reference.view(), pair.moving.view()});
  describe(trial, pairs.front());
  trial.on_every_device([&](const Device& device) {
    const std::array<Device, 1> devices{device};
    const auto results = align_batch(devices, views);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto alone = aligned(device, pairs[i].reference, pairs[i].moving);
      if (results[i].error || results[i].result->homography.h != alone.homography.h) return 1e9;
    }
    return 0.0;
  });
}

void check_volumes(Trial& trial) {
  test::VolumePairSpec spec;
  spec.reference = spec.moving = {32, 30, 28};
  spec.shift = {trial.random.real(-9, 9), trial.random.real(-9, 9), trial.random.real(-9, 9)};
  spec.seed = trial.random.seed();
  trial.describe("shifted by ", spec.shift.x, ", ", spec.shift.y, ", ", spec.shift.z, ", seed ",
                 spec.seed);
  const auto pair = test::draw_pair(spec);
  const HostVolume reference = test::view_of(pair.reference, spec.reference);
  const HostVolume moving = test::view_of(pair.moving, spec.moving);
  trial.on_every_device([&](const Device& device) {
    const auto forward = register_volumes(device, reference, moving);
    const auto back = register_volumes(device, moving, reference);
    if (!forward.reliable || !back.reliable) return 1e9;
    const Point3 negative{-back.translation.x, -back.translation.y, -back.translation.z};
    return std::max(test::distance(forward.translation, spec.shift),
                    test::distance(negative, spec.shift)) /
           voxel_tolerance;
  });
}

/// A translation of the frame is that of each of its windows.
void check_windows(Trial& trial) {
  const Shape shape{160, 128, 1};
  const Point shift{trial.random.real(-6, 6), trial.random.real(-6, 6)};
  const auto scene = trial.random.seed();
  trial.describe("shifted by ", shift.x, ", ", shift.y, ", scene ", scene);
  const BlobImage reference = test::draw_blobs(shape, {}, scene);
  const BlobImage moving = test::draw_blobs(shape, Affine::translation(-shift.x, -shift.y), scene);
  WindowOptions options;
  options.width = options.height = 64;
  trial.on_every_device([&](const Device& device) {
    WindowRegistrar registrar(device, PixelType::u8, shape, options);
    registrar.set_reference(reference.view());
    const std::array<HostImage, 1> frames{moving.view()};
    double worst = 0;
    for (const WindowShift& window : registrar.align(frames)) {
      if (!window.reliable) continue;
      const double error = std::hypot(window.shift.x - shift.x, window.shift.y - shift.y);
      worst = std::max(worst, error / window_tolerance);
    }
    return worst;
  });
}

}  // namespace

std::vector<Property> registration_properties() {
  return {{"register", "the transform is found", &check_found},
          {"register", "swapped, the pair gives the inverse", &check_swapped},
          {"register", "a batch equals its pairs", &check_batch},
          {"register_volumes", "the shift is found, and swapped its negative", &check_volumes},
          {"register_windows", "a translation is that of every window", &check_windows}};
}

}  // namespace properties
