// Registrations: the transform with which a pair was drawn is found, and the exchanged pair gives
// its inverse.
#include "properties/trial.hpp"
#include "support/blobs.hpp"
#include "support/compare.hpp"
#include "support/corners.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/frame_registrar.hpp>
#include <warpalign/local_motion.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <array>
#include <cmath>

namespace properties {

namespace {

using namespace warpalign;
using test::BlobImage;

/// The largest corner error in pixels: four times the worst of the first hundred pairs. The images
/// are small, smooth and rounded to 8 bits; in photographs the errors are thousandths
/// (docs/accuracy.md).
constexpr double corner_tolerance = 0.15;
/// The errors of a pair and of the exchanged pair are nearly opposite.
constexpr double swapped_tolerance = 0.05;
/// In voxels. The volumes are floats, drawn at their shifted positions.
constexpr double voxel_tolerance = 0.01;
/// For rotated volumes at their corners, as for clean pairs in
/// tests/registration/volume/test_volume_motion.cpp.
constexpr double rotated_tolerance = 0.02;
/// Homographies have twice the parameters of similarities, two of which grow with the squared
/// distance from the centre.
constexpr double homography_tolerance = 4 * corner_tolerance;
/// For a window, in pixels. It has an eighth of the image's pixels and may hold few details.
constexpr double window_tolerance = 0.35;

Point3 mapped(const HomogeneousMatrix& affine, const Point3& p) {
  const auto& m = affine.m;
  const auto row = [&](std::size_t i) { return m[i] * p.x + m[i + 1] * p.y + m[i + 2] * p.z; };
  return {row(0) + m[3], row(4) + m[7], row(8) + m[11]};
}

struct Pair {
  Shape shape;
  Similarity similarity;
  BlobImage reference, moving;

  [[nodiscard]] Affine truth() const { return similarity.matrix(shape, shape); }
};

/// `truth` maps reference pixels to moving pixels, so the moving image is drawn with its inverse.
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

/// A similarity followed by a perspective that moves the corners of `shape` by up to four pixels.
void check_homography(Trial& trial) {
  Random& random = trial.random;
  const Shape shape{160, 128, 1};
  const auto distance = [&] { return random.real(-4, 4); };
  const Homography bent = test::moving_corners(shape, {{{distance(), distance()},
                                                        {distance(), distance()},
                                                        {distance(), distance()},
                                                        {distance(), distance()}}});
  const Similarity similarity{
      random.real(-20, 20), random.real(0.9, 1.1), {random.real(-6, 6), random.real(-6, 6)}};
  const Homography truth = Homography(similarity.matrix(shape, shape)) * bent;
  const auto scene = random.seed();
  trial.describe("rotated by ", similarity.rotation_deg, " degrees, scaled by ", similarity.scale,
                 ", scene ", scene);
  const BlobImage reference = test::draw_blobs(shape, {}, scene);
  const BlobImage moving = test::draw_blobs_projective(shape, truth.inverse(), scene);
  RegistrationOptions options;
  options.motion = Motion::homography;
  trial.on_every_device([&](const Device& device) {
    const auto forward = register_images(device, reference.view(), moving.view(), options);
    const auto back = register_images(device, moving.view(), reference.view(), options);
    if (!forward.reliable || !back.reliable) return 1e9;
    const double swapped =
        test::max_corner_distance(back.homography * forward.homography, Homography{}, shape);
    return std::max(test::max_corner_distance(forward.homography, truth, shape), swapped) /
           homography_tolerance;
  });
}

/// Drifting frames in a batch, single, and in another order.
void check_frames(Trial& trial) {
  Random& random = trial.random;
  const Shape shape{160, 128, 1};
  const auto scene = random.seed();
  std::vector<Point> shifts;
  std::vector<BlobImage> drawn;
  for (int i = 0; i < 4; ++i) {
    shifts.push_back({random.real(-10, 10), random.real(-10, 10)});
    drawn.push_back(
        test::draw_blobs(shape, Affine::translation(-shifts[i].x, -shifts[i].y), scene));
  }
  const BlobImage reference = test::draw_blobs(shape, {}, scene);
  trial.describe("scene ", scene, ", the first shifted by ", shifts[0].x, ", ", shifts[0].y);
  RegistrationOptions options;
  options.motion = Motion::translation;
  trial.on_every_device([&](const Device& device) {
    FrameRegistrar registrar(device, options, 4);
    registrar.set_reference(reference.view());
    std::vector<HostImage> frames;
    for (const BlobImage& frame : drawn) frames.push_back(frame.view());
    const auto together = registrar.align(frames);
    test::WorstError worst;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (!together[i].result || !together[i].result->reliable) return 1e9;
      const auto alone = registrar.align(frames[i]);
      if (alone.homography.h != together[i].result->homography.h) return 1e9;
      const double error = std::hypot(alone.matrix.c - shifts[i].x, alone.matrix.f - shifts[i].y);
      worst.add(error / corner_tolerance);
    }
    return worst.value();
  });
}

/// A pair in a batch has the bit-identical result of a single registration.
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

/// A rotation about any axis is found, and in the exchanged pair its inverse.
void check_rotated_volumes(Trial& trial) {
  Random& random = trial.random;
  test::RotatedPairSpec spec;
  const Point3 axis{random.real(-1, 1), random.real(-1, 1), random.real(0.1, 1)};
  const double degrees = random.real(-12, 12);
  const Point3 shift{random.real(-2, 2), random.real(-2, 2), random.real(-2, 2)};
  spec.transform = test::turn(axis, degrees, shift);
  spec.seed = random.seed();
  trial.describe("rotated by ", degrees, " degrees about ", axis.x, ", ", axis.y, ", ", axis.z,
                 ", shifted by ", shift.x, ", ", shift.y, ", ", shift.z);
  const auto pair = test::draw_rotated_pair(spec);
  const HostVolume reference = test::view_of(pair.reference, spec.reference);
  const HostVolume moving = test::view_of(pair.moving, spec.moving);
  VolumeRegistrationOptions options;
  options.motion = Motion::rigid;
  options.max_rotation = 20;
  trial.on_every_device([&](const Device& device) {
    const auto forward = register_volumes(device, reference, moving, options);
    const auto back = register_volumes(device, moving, reference, options);
    if (!forward.reliable || !back.reliable) return 1e9;
    double off = test::corner_error(spec, forward.matrix.m);
    for (const double x : {0.0, 31.0}) {
      for (const double y : {0.0, 31.0}) {
        const Point3 corner{x, y, 15.5};
        const Point3 again = mapped(back.matrix, mapped(forward.matrix, corner));
        off = std::max(off, test::distance(again, corner));
      }
    }
    return off / rotated_tolerance;
  });
}

/// Each window has the translation of the frame, and in the exchanged pair its negative.
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
    const std::vector<WindowShift> forward = registrar.align(frames);
    registrar.set_reference(moving.view());
    const std::array<HostImage, 1> swapped{reference.view()};
    const std::vector<WindowShift> back = registrar.align(swapped);
    test::WorstError worst;
    const auto compare = [&](const WindowShift& window, double x, double y) {
      if (!window.reliable) return;
      const double error = std::hypot(window.shift.x - x, window.shift.y - y);
      worst.add(error / window_tolerance);
    };
    for (const WindowShift& window : forward) compare(window, shift.x, shift.y);
    for (const WindowShift& window : back) compare(window, -shift.x, -shift.y);
    return worst.value();
  });
}

}  // namespace

std::vector<Property> registration_properties() {
  return {
      {"register", "the transform is found", &check_found},
      {"register", "swapped, the pair gives the inverse", &check_swapped},
      {"register", "a batch equals its pairs", &check_batch},
      {"register", "a homography is found, and swapped its inverse", &check_homography},
      {"register_frames", "frames have the same drift together and alone", &check_frames},
      {"register_volumes", "a rotation is found, and swapped its inverse", &check_rotated_volumes},
      {"register_volumes", "the shift is found, and swapped its negative", &check_volumes},
      {"register_windows", "a translation is that of every window, and swapped its negative",
       &check_windows}};
}

}  // namespace properties
