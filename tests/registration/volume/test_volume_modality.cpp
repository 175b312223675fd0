// Registration of volumes of different modalities: test::reversed_contrast, bent or
// test::permuted_contrast, with exactly known transforms, on every device.
#include "support/devices.hpp"
#include "support/rotated_volumes.hpp"
#include "support/tissues.hpp"
#include "support/volume_checks.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <vector>

namespace {

using test::check_refused;
using test::RotatedPairSpec;
using test::VolumePairSpec;
using warpalign::Device;
using warpalign::ErrorKind;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

// In voxels. With equally strong borders in both volumes, the only error is the cubic spline's at
// borders of one or two voxels.
constexpr double same_edges_off = 0.05;
// Borders lie one or two voxels apart. The strongest one attracts the others, and it is not the
// same one in both volumes. Over many borders this averages out; these volumes have about ten
// blobs.
constexpr double other_edges_off = 0.5;

VolumeRegistrationOptions of_other_modality(Motion motion = Motion::translation) {
  VolumeRegistrationOptions options;
  options.modality = Modality::other;
  options.motion = motion;
  return options;
}

VolumePairSpec shifted() {
  VolumePairSpec spec;
  spec.shift = {3.25, -4.5, 2};
  spec.blob_sigma = 2;
  spec.seed = 5;
  return spec;
}

RotatedPairSpec rotated_pair_spec() {
  RotatedPairSpec spec;
  spec.reference = {40, 36, 24};
  spec.moving = {36, 40, 28};
  spec.reference_spacing = {1, 1, 1.5};
  spec.moving_spacing = {1, 1, 1.25};
  spec.blob_sigma = 2.5;
  spec.transform = test::turn({1, 2, -1}, 14, {1.5, -2, 1});
  spec.seed = 6;
  return spec;
}

VolumeRegistration align(const Device& device, const VolumePairSpec& spec,
                         const test::Contrast& contrast, const VolumeRegistrationOptions& options) {
  const auto pair = test::draw_pair(spec);
  const auto reference = test::tissues(pair.reference, test::usual_contrast);
  const auto moving = test::tissues(pair.moving, contrast);
  return register_volumes(device, test::view_of(reference, spec.reference),
                          test::view_of(moving, spec.moving), options);
}

VolumeRegistration align(const Device& device, const RotatedPairSpec& spec,
                         const test::Contrast& contrast, VolumeRegistrationOptions options) {
  options.reference_spacing = spec.reference_spacing;
  options.moving_spacing = spec.moving_spacing;
  options.max_rotation = 30;
  const auto pair = test::draw_rotated_pair(spec);
  const auto reference = test::tissues(pair.reference, test::usual_contrast);
  const auto moving = test::tissues(pair.moving, contrast);
  return register_volumes(device, test::view_of(reference, spec.reference),
                          test::view_of(moving, spec.moving), options);
}

}  // namespace

TEST_CASE("volumes of other modality: shifts, in any contrast") {
  test::on_every_device([](const Device& device) {
    const VolumePairSpec spec = shifted();
    const auto check = [&](const test::Contrast& contrast, double off) {
      const auto result = align(device, spec, contrast, of_other_modality());
      CAPTURE(result.translation.x);
      CAPTURE(result.translation.y);
      CAPTURE(result.translation.z);
      CAPTURE(result.significance);
      CHECK(test::distance(result.translation, spec.shift) <= off);
      CHECK(result.reliable);
      CHECK(result.refined);
    };
    check(test::reversed_contrast, same_edges_off);
    check(test::bent_contrast, other_edges_off);
    check(test::permuted_contrast, other_edges_off);
  });
}

TEST_CASE("volumes of other modality: rotations with anisotropic voxels") {
  test::on_every_device([](const Device& device) {
    const RotatedPairSpec spec = rotated_pair_spec();
    const auto check = [&](const test::Contrast& contrast, double off) {
      const auto result = align(device, spec, contrast, of_other_modality(Motion::rigid));
      CAPTURE(result.rotation_deg);
      CAPTURE(result.significance);
      CHECK(test::corner_error(spec, result.matrix.m) <= off);
      CHECK(result.reliable);
      CHECK(result.refined);
    };
    // At the corners, which a rotation as exact as a shift moves by twice as much.
    check(test::reversed_contrast, 2 * same_edges_off);
    check(test::bent_contrast, 2 * other_edges_off);
    check(test::permuted_contrast, 2 * other_edges_off);
  });
}

TEST_CASE("volumes of other modality: intensities alone do not find reversed contrast") {
  test::on_every_device([](const Device& device) {
    CHECK_FALSE(align(device, shifted(), test::reversed_contrast, {}).reliable);
    VolumeRegistrationOptions options;
    options.motion = Motion::rigid;
    CHECK_FALSE(align(device, rotated_pair_spec(), test::reversed_contrast, options).reliable);
  });
}

TEST_CASE("volumes of other modality: unrelated ones are refused") {
  test::on_every_device([](const Device& device) {
    for (std::uint32_t seed = 40; seed < 44; ++seed) {
      VolumePairSpec spec = shifted();
      spec.unrelated = true;
      spec.seed = seed;
      const auto result = align(device, spec, test::reversed_contrast, of_other_modality());
      CAPTURE(result.significance);
      CHECK_FALSE(result.reliable);
    }
    RotatedPairSpec spec = rotated_pair_spec();
    spec.unrelated = true;
    const auto result =
        align(device, spec, test::permuted_contrast, of_other_modality(Motion::rigid));
    CAPTURE(result.significance);
    CHECK_FALSE(result.reliable);
  });
}

TEST_CASE("volumes of other modality: the negative of the reference gives the same result") {
  test::on_every_device([](const Device& device) {
    const VolumePairSpec spec = shifted();
    const auto pair = test::draw_pair(spec);
    auto negative = pair.moving;
    for (float& voxel : negative) voxel = -voxel;
    VolumeRegistrar registrar(device, of_other_modality());
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    const auto first = registrar.align(test::view_of(pair.moving, spec.moving));
    const auto second = registrar.align(test::view_of(negative, spec.moving));
    // The means of a volume and of its negative differ by rounding.
    CHECK(test::distance(first.translation, second.translation) <= 1e-4);
    CHECK(first.significance == doctest::Approx(second.significance).epsilon(1e-4));
    // The same call again gives identical bits.
    const auto again = registrar.align(test::view_of(pair.moving, spec.moving));
    CHECK(again.translation.x == first.translation.x);
    CHECK(again.significance == first.significance);
  });
}

TEST_CASE("volumes of other modality: volumes without edges are refused, with the reason") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrationOptions options;
    options.modality = static_cast<Modality>(17);
    check_refused(ErrorKind::invalid_argument, "same, other, automatic",
                  [&] { VolumeRegistrar(device, options); });
    VolumeRegistrar registrar(device, of_other_modality());
    const warpalign::Shape shape{16, 16, 16};
    std::vector<float> voxels(4096, 7.0F);
    const auto refuse = [&](const char* words) {
      check_refused(ErrorKind::invalid_image, words,
                    [&] { registrar.set_reference(test::view_of(voxels, shape)); });
    };
    refuse("is constant");
    std::fill(voxels.begin(), voxels.end(), NAN);
    refuse("no voxel to register");
  });
}

TEST_CASE("volumes of any modality: intensities if they are reliable, otherwise edges") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrationOptions options;
    options.modality = Modality::automatic;
    const VolumePairSpec spec = shifted();
    const auto alike = align(device, spec, test::usual_contrast, options);
    CHECK(alike.modality == Modality::same);
    CHECK(alike.reliable);
    // A higher threshold, because of two results the better one would count.
    const auto by_grey = align(device, spec, test::usual_contrast, {});
    CHECK(alike.translation.x == by_grey.translation.x);
    CHECK(alike.significance == by_grey.significance);
    CHECK(alike.confidence < by_grey.confidence);
    const auto permuted = align(device, spec, test::permuted_contrast, options);
    CHECK(permuted.modality == Modality::other);
    CHECK(permuted.reliable);
    CHECK(test::distance(permuted.translation, spec.shift) <= other_edges_off);
    const auto by_edges = align(device, spec, test::permuted_contrast, of_other_modality());
    CHECK(permuted.significance == by_edges.significance);
    CHECK(permuted.confidence < by_edges.confidence);
    CHECK(by_edges.modality == Modality::other);

    options.motion = Motion::rigid;
    const auto rotated = align(device, rotated_pair_spec(), test::reversed_contrast, options);
    CHECK(rotated.modality == Modality::other);
    CHECK(rotated.reliable);
    CHECK(test::corner_error(rotated_pair_spec(), rotated.matrix.m) <= other_edges_off);
    CHECK(align(device, rotated_pair_spec(), test::usual_contrast, options).modality ==
          Modality::same);
  });
}

TEST_CASE(
    "volumes of any modality: unrelated ones are refused, those without edges are registered") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrationOptions options;
    options.modality = Modality::automatic;
    for (std::uint32_t seed = 60; seed < 66; ++seed) {
      VolumePairSpec spec = shifted();
      spec.unrelated = true;
      spec.seed = seed;
      const auto result = align(device, spec, test::permuted_contrast, options);
      CAPTURE(result.significance);
      CHECK_FALSE(result.reliable);
    }
    // As below: this volume has intensities, but no edges.
    const warpalign::Shape shape{8, 8, 2048};
    std::vector<float> voxels(static_cast<std::size_t>(shape.pixels()));
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i / 64);
    options.reference_spacing = options.moving_spacing = {1, 1, 1000};
    VolumeRegistrar registrar(device, options);
    registrar.set_reference(test::view_of(voxels, shape));
    CHECK(registrar.align(test::view_of(voxels, shape)).modality == Modality::same);
    const std::vector<float> flat(voxels.size(), 2);
    check_refused(ErrorKind::invalid_image, "constant",
                  [&] { registrar.set_reference(test::view_of(flat, shape)); });
    check_refused(ErrorKind::invalid_argument, "set_reference",
                  [&] { (void)registrar.align(test::view_of(voxels, shape)); });
  });
}

TEST_CASE("volumes of other modality: a volume with negligible slopes has no edges") {
  test::on_every_device([](const Device& device) {
    const warpalign::Shape shape{8, 8, 2048};
    std::vector<float> voxels(static_cast<std::size_t>(shape.pixels()));
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i / 64);
    VolumeRegistrationOptions options = of_other_modality();
    // Over its length the volume rises by its range, in steps of 5e-7 relative to the other
    // voxels: that is below a millionth.
    options.reference_spacing = {1, 1, 1000};
    VolumeRegistrar registrar(device, options);
    check_refused(ErrorKind::invalid_image, "no edges",
                  [&] { registrar.set_reference(test::view_of(voxels, shape)); });
  });
}
