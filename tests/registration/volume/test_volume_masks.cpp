// Registration of masked volumes with exactly known transforms, on every device.
#include "support/devices.hpp"
#include "support/rotated_volumes.hpp"
#include "support/tissues.hpp"
#include "support/volume_checks.hpp"
#include "support/volume_masks.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using test::check_refused;
using test::check_shift;
using test::RotatedPairSpec;
using test::VolumeMask;
using test::VolumePairSpec;
using test::VoxelBox;
using warpalign::Device;
using warpalign::ErrorKind;
using warpalign::HostVolume;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

// In voxels. The same as without a mask, although masks leave fewer voxels.
constexpr double clean_off = 0.005;
constexpr double rotated_off = 0.03;
// The same as for volumes of other modality without a mask.
constexpr double other_edges_off = 0.5;

/// Two volumes of one shape, and their masks. An empty mask means none.
struct MaskedPair {
  Shape shape;
  std::vector<float> reference, moving;
  VolumeMask reference_mask, moving_mask;
};

VolumeRegistration align(VolumeRegistrar& registrar, const MaskedPair& pair) {
  const HostVolume reference = test::view_of(pair.reference, pair.shape);
  const HostVolume moving = test::view_of(pair.moving, pair.shape);
  if (pair.reference_mask.empty()) {
    registrar.set_reference(reference);
  } else {
    registrar.set_reference(reference, test::view_of(pair.reference_mask, pair.shape));
  }
  if (pair.moving_mask.empty()) return registrar.align(moving);
  return registrar.align(moving, test::view_of(pair.moving_mask, pair.shape));
}

VolumeRegistration align(const Device& device, const MaskedPair& pair,
                         const VolumeRegistrationOptions& options = {}) {
  VolumeRegistrar registrar(device, options);
  return align(registrar, pair);
}

VolumePairSpec shifted(const Point3& shift, std::uint32_t seed = 3) {
  VolumePairSpec spec;
  spec.reference = spec.moving = {40, 36, 32};
  spec.shift = shift;
  spec.blob_sigma = 1.5;
  spec.seed = seed;
  return spec;
}

MaskedPair drawn(const VolumePairSpec& spec) {
  const auto pair = test::draw_pair(spec);
  return {spec.reference, pair.reference, pair.moving, {}, {}};
}

RotatedPairSpec rotated_pair_spec() {
  RotatedPairSpec spec;
  spec.reference = spec.moving = {40, 40, 36};
  spec.transform = test::turn({1, 2, -1}, 12, {1.5, -0.75, 2.25});
  spec.seed = 4;
  return spec;
}

MaskedPair drawn(const RotatedPairSpec& spec) {
  const auto pair = test::draw_rotated_pair(spec);
  return {spec.reference, pair.reference, pair.moving, {}, {}};
}

VolumeRegistrationOptions rotation_options(Modality modality = Modality::same) {
  VolumeRegistrationOptions options;
  options.motion = Motion::rigid;
  options.max_rotation = 25;
  options.modality = modality;
  return options;
}

/// A bright object at the same position of both frames, such as a table or a fixed implant.
const VoxelBox fixed_object{{12, 10, 9}, {28, 24, 21}};

void add_fixed_object(MaskedPair& pair) {
  const VolumeMask mask = test::mask_of(pair.shape, fixed_object);
  for (std::vector<float>* volume : {&pair.reference, &pair.moving}) {
    *volume = test::under_mask(*volume, mask, 12);
  }
}

void mask_fixed_object(MaskedPair& pair) {
  pair.reference_mask = pair.moving_mask = test::mask_of(pair.shape, fixed_object);
}

void check_rotated(const VolumeRegistration& result, const RotatedPairSpec& spec, double off) {
  CAPTURE(result.rotation_deg);
  CAPTURE(result.significance);
  CHECK(test::corner_error(spec, result.matrix.m) <= off);
  CHECK(result.reliable);
  CHECK(result.refined);
}

void check_same_bits(const VolumeRegistration& a, const VolumeRegistration& b) {
  CHECK(a.matrix.m == b.matrix.m);
  CHECK(a.translation.x == b.translation.x);
  CHECK(a.translation.y == b.translation.y);
  CHECK(a.translation.z == b.translation.z);
  CHECK(a.correlation == b.correlation);
  CHECK(a.significance == b.significance);
  CHECK(a.confidence == b.confidence);
  CHECK(a.overlap == b.overlap);
  CHECK(a.reliable == b.reliable);
}

/// Checks that the result does not depend on the values under the masks.
void check_blind(const Device& device, const MaskedPair& pair,
                 const VolumeRegistrationOptions& options) {
  const VolumeRegistration found = align(device, pair, options);
  CHECK(found.reliable);
  MaskedPair other = pair;
  other.reference = test::garbage_under_mask(pair.reference, pair.reference_mask, 1);
  other.moving = test::garbage_under_mask(pair.moving, pair.moving_mask, 2);
  check_same_bits(found, align(device, other, options));
}

}  // namespace

TEST_CASE("masked volumes: a masked object that stays in the frame does not affect the shift") {
  test::on_every_device([](const Device& device) {
    for (const Point3& shift : {Point3{3, -5, 2}, Point3{0.25, 4.5, -6.75}, Point3{-9.5, 1, 7}}) {
      MaskedPair pair = drawn(shifted(shift));
      add_fixed_object(pair);
      // Without masks it determines the shift.
      CHECK(test::distance(align(device, pair).translation, {}) < 0.1);
      mask_fixed_object(pair);
      check_shift(align(device, pair), shift, clean_off);
    }
  });
}

TEST_CASE("masked volumes: a mask in either volume, of one half or of all but a part") {
  test::on_every_device([](const Device& device) {
    const Point3 shift{4.5, -3.25, 2.75};
    const MaskedPair whole = drawn(shifted(shift));
    const VolumeMask half = test::mask_of(whole.shape, {{20, 0, 0}, {40, 36, 32}});
    const VolumeMask part = test::mask_of(whole.shape, {{8, 7, 6}, {32, 29, 27}}, true);
    MaskedPair pair = whole;
    pair.reference_mask = half;
    check_shift(align(device, pair), shift, clean_off);
    pair.moving_mask = part;
    check_shift(align(device, pair), shift, clean_off);
    pair.reference_mask.clear();
    check_shift(align(device, pair), shift, clean_off);
  });
}

TEST_CASE("masked volumes: masked content of another scene does not count") {
  test::on_every_device([](const Device& device) {
    const VolumePairSpec spec = shifted({2.5, 3, -4.25});
    MaskedPair pair = drawn(spec);
    VolumePairSpec unrelated = spec;
    unrelated.seed = 90;
    const MaskedPair other = drawn(unrelated);
    pair.moving_mask = test::mask_of(pair.shape, {{0, 0, 0}, {26, 36, 32}});
    for (std::size_t i = 0; i < pair.moving.size(); ++i) {
      if (pair.moving_mask[i] == 0) pair.moving[i] = 5 * other.reference[i];
    }
    check_shift(align(device, pair), spec.shift, clean_off);
  });
}

TEST_CASE("masked volumes: the overlap is a fraction of the reference's unmasked voxels") {
  test::on_every_device([](const Device& device) {
    MaskedPair pair = drawn(shifted({4, 0, 0}));
    pair.reference_mask = test::mask_of(pair.shape, {{10, 0, 0}, {30, 36, 32}}, true);
    pair.moving_mask = test::mask_of(pair.shape, {{0, 0, 0}, {40, 12, 32}});
    // Columns 10 to 30 all lie within the moving volume, and 24 of its 36 rows count.
    CHECK(align(device, pair).overlap == doctest::Approx(24.0 / 36).epsilon(1e-9));
    RotatedPairSpec spec = rotated_pair_spec();
    spec.transform = test::turn({0, 0, 1}, 10);
    MaskedPair rotated_pair = drawn(spec);
    rotated_pair.reference_mask =
        test::mask_of(rotated_pair.shape, {{10, 10, 0}, {30, 30, 36}}, true);
    rotated_pair.moving_mask = test::mask_of(rotated_pair.shape, {{0, 0, 0}, {40, 40, 18}}, true);
    // 18 of 36 planes, by the nearest voxel.
    CHECK(align(device, rotated_pair, rotation_options()).overlap ==
          doctest::Approx(0.5).epsilon(0.01));
  });
}

TEST_CASE("masked volumes: voxels without a value are masked, and counted") {
  test::on_every_device([](const Device& device) {
    const RotatedPairSpec spec = rotated_pair_spec();
    MaskedPair pair = drawn(spec);
    const VolumeMask hole = test::mask_of(pair.shape, {{0, 0, 0}, {14, 40, 36}});
    MaskedPair masked = pair;
    masked.moving_mask = hole;
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < hole.size(); ++i) {
      if (hole[i] != 0) continue;
      pair.moving[i] = i % 2 == 0 ? NAN : -INFINITY;
      ++missing;
    }
    for (const Modality modality : {Modality::same, Modality::other}) {
      const VolumeRegistrationOptions options = rotation_options(modality);
      const VolumeRegistration found = align(device, pair, options);
      check_same_bits(found, align(device, masked, options));
      CHECK(found.missing.moving == missing);
      CHECK(found.missing.reference == 0);
    }
    check_rotated(align(device, pair, rotation_options()), spec, rotated_off);
    // A registrar takes complete and incomplete volumes in turn.
    VolumeRegistrar registrar(device, rotation_options());
    const VolumeRegistration first = align(registrar, drawn(spec));
    CHECK(align(registrar, pair).missing.moving == missing);
    check_same_bits(align(registrar, drawn(spec)), first);
  });
}

TEST_CASE("masked volumes: rotations, with masks of one volume and of both") {
  test::on_every_device([](const Device& device) {
    const RotatedPairSpec spec = rotated_pair_spec();
    MaskedPair pair = drawn(spec);
    pair.moving_mask = test::mask_of(pair.shape, {{0, 0, 0}, {14, 40, 36}});
    check_rotated(align(device, pair, rotation_options()), spec, rotated_off);
    pair.reference_mask = test::mask_of(pair.shape, {{0, 26, 0}, {40, 40, 36}});
    check_rotated(align(device, pair, rotation_options()), spec, rotated_off);
    pair.moving_mask.clear();
    check_rotated(align(device, pair, rotation_options()), spec, rotated_off);
  });
}

TEST_CASE("masked volumes: a masked object that stays in the frame does not affect the rotation") {
  test::on_every_device([](const Device& device) {
    const RotatedPairSpec spec = rotated_pair_spec();
    MaskedPair pair = drawn(spec);
    add_fixed_object(pair);
    CHECK(test::corner_error(spec, align(device, pair, rotation_options()).matrix.m) > 1);
    mask_fixed_object(pair);
    check_rotated(align(device, pair, rotation_options()), spec, rotated_off);
  });
}

TEST_CASE("masked volumes: levels of different sides and spacings, and affine transforms") {
  test::on_every_device([](const Device& device) {
    RotatedPairSpec spec = rotated_pair_spec();
    spec.reference = spec.moving = {71, 64, 27};
    spec.reference_spacing = spec.moving_spacing = {1, 1, 2.5};
    spec.blob_sigma = 3;
    spec.transform = test::turn({1, -1, 3}, 8, {2, 3, -4}, 1.05);
    MaskedPair pair = drawn(spec);
    pair.reference_mask = test::mask_of(pair.shape, {{0, 0, 0}, {24, 64, 27}});
    pair.moving_mask = test::mask_of(pair.shape, {{20, 0, 0}, {44, 20, 27}});
    VolumeRegistrationOptions options = rotation_options();
    options.motion = Motion::affine;
    options.reference_spacing = spec.reference_spacing;
    options.moving_spacing = spec.moving_spacing;
    check_rotated(align(device, pair, options), spec, rotated_off);
  });
}

TEST_CASE("masked volumes: other modality, without edges at the masks' borders") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrationOptions options;
    options.modality = Modality::other;
    VolumePairSpec spec = shifted({3.25, -4.5, 2}, 5);
    spec.blob_sigma = 2;
    MaskedPair pair = drawn(spec);
    pair.reference = test::tissues(pair.reference, test::usual_contrast);
    pair.moving = test::tissues(pair.moving, test::permuted_contrast);
    add_fixed_object(pair);
    CHECK(test::distance(align(device, pair, options).translation, {}) < 0.2);
    mask_fixed_object(pair);
    const auto by_edges = align(device, pair, options);
    check_shift(by_edges, spec.shift, other_edges_off);
    options.modality = Modality::automatic;
    const auto by_any = align(device, pair, options);
    CHECK(by_any.modality == Modality::other);
    CHECK(by_any.significance == by_edges.significance);

    RotatedPairSpec rotated_spec = rotated_pair_spec();
    rotated_spec.blob_sigma = 2.5;
    MaskedPair rotated_pair = drawn(rotated_spec);
    rotated_pair.reference = test::tissues(rotated_pair.reference, test::usual_contrast);
    rotated_pair.moving = test::tissues(rotated_pair.moving, test::reversed_contrast);
    rotated_pair.moving_mask = test::mask_of(rotated_pair.shape, {{0, 0, 0}, {10, 40, 36}});
    check_rotated(align(device, rotated_pair, rotation_options(Modality::other)), rotated_spec,
                  other_edges_off);
  });
}

TEST_CASE("masked volumes: the result is bit-identical for any values under a mask") {
  test::on_every_device([](const Device& device) {
    MaskedPair pair = drawn(shifted({3, -5, 2.5}));
    pair.reference_mask = test::mask_of(pair.shape, fixed_object);
    pair.moving_mask = test::mask_of(pair.shape, {{0, 0, 0}, {9, 36, 20}});
    check_blind(device, pair, {});
    VolumeRegistrationOptions other;
    other.modality = Modality::other;
    check_blind(device, pair, other);
    MaskedPair rotated_pair = drawn(rotated_pair_spec());
    rotated_pair.reference_mask = test::mask_of(rotated_pair.shape, {{0, 0, 0}, {40, 11, 36}});
    rotated_pair.moving_mask = test::mask_of(rotated_pair.shape, {{33, 0, 0}, {40, 40, 36}});
    check_blind(device, rotated_pair, rotation_options());
    check_blind(device, rotated_pair, rotation_options(Modality::other));
  });
}

TEST_CASE("masked volumes: a mask that excludes nothing changes no result") {
  test::on_every_device([](const Device& device) {
    MaskedPair pair = drawn(shifted({3, -5, 2.5}));
    const auto without = align(device, pair);
    pair.reference_mask = VolumeMask(pair.reference.size(), 255);
    const auto with = align(device, pair);
    CHECK(test::distance(with.translation, without.translation) < 1e-4);
    CHECK(with.significance == doctest::Approx(without.significance).epsilon(1e-4));
    // The overlap is that of the nearest whole shift.
    CHECK(with.overlap == doctest::Approx(without.overlap).epsilon(0.02));
  });
}

TEST_CASE("masked volumes: a mask applies to its own volume only") {
  test::on_every_device([](const Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid}) {
      VolumeRegistrationOptions options;
      if (motion == Motion::rigid) options = rotation_options();
      const MaskedPair whole = drawn(shifted({3, -5, 2.5}));
      MaskedPair masked = whole;
      mask_fixed_object(masked);
      MaskedPair one = whole;
      one.moving_mask = masked.moving_mask;
      VolumeRegistrar registrar(device, options);
      const std::vector<const MaskedPair*> pairs{&whole, &masked, &whole, &one, &masked, &one};
      for (const MaskedPair* pair : pairs) {
        check_same_bits(align(registrar, *pair), align(device, *pair, options));
      }
    }
  });
}

TEST_CASE("masked volumes: masks on the device, of integers, and for converted volumes") {
  test::on_every_device([](const Device& device) {
    MaskedPair pair = drawn(shifted({3, -5, 2.5}));
    mask_fixed_object(pair);
    const auto expected = align(device, pair);
    auto stream = device.make_stream();
    auto reference = device.make_image(PixelType::f32, pair.shape);
    auto moving = device.make_image(PixelType::f32, pair.shape);
    auto mask = device.make_image(PixelType::u8, pair.shape);
    stream.upload(pair.reference.data(), reference.size_bytes(), reference.buffer());
    stream.upload(pair.moving.data(), moving.size_bytes(), moving.buffer());
    stream.upload(pair.reference_mask.data(), mask.size_bytes(), mask.buffer());
    stream.finish();
    VolumeRegistrar registrar(device);
    registrar.set_reference(reference, mask);
    check_same_bits(registrar.align(moving, mask), expected);
    std::vector<std::uint16_t> integers;
    std::vector<double> doubles;
    for (const float value : pair.moving) {
      const auto level = std::lround(static_cast<double>(value) * 20000 + 20000);
      integers.push_back(static_cast<std::uint16_t>(level));
      doubles.push_back(static_cast<double>(value));
    }
    const HostVolume mask_view = test::view_of(pair.moving_mask, pair.shape);
    check_shift(registrar.align({integers.data(), PixelType::u16, pair.shape}, mask_view),
                {3, -5, 2.5}, clean_off);
    check_same_bits(registrar.align({doubles.data(), PixelType::f64, pair.shape}, mask_view),
                    expected);
  });
}

TEST_CASE("masked volumes: unrelated ones are refused") {
  test::on_every_device([](const Device& device) {
    for (std::uint32_t seed = 20; seed < 26; ++seed) {
      VolumePairSpec spec = shifted({1, 2, 3}, seed);
      spec.unrelated = true;
      MaskedPair pair = drawn(spec);
      // The same mask in both: its border must not count as common content.
      mask_fixed_object(pair);
      const auto result = align(device, pair);
      CAPTURE(result.significance);
      CHECK_FALSE(result.reliable);
    }
  });
}

TEST_CASE("masked volumes: invalid masks are refused, with the reason") {
  test::on_every_device([](const Device& device) {
    const MaskedPair pair = drawn(shifted({1, 2, 3}));
    const HostVolume volume = test::view_of(pair.moving, pair.shape);
    VolumeRegistrar registrar(device);
    registrar.set_reference(volume);
    const auto refuse = [&](ErrorKind kind, const char* words, const HostVolume& mask) {
      check_refused(kind, words, [&] { (void)registrar.align(volume, mask); });
    };
    VolumeMask mask(pair.moving.size(), 1);
    refuse(ErrorKind::invalid_argument, "u8", {pair.moving.data(), PixelType::f32, pair.shape});
    refuse(ErrorKind::invalid_argument, "40 x 36 x 31", {mask.data(), PixelType::u8, {40, 36, 31}});
    refuse(ErrorKind::invalid_argument, "no voxels", {nullptr, PixelType::u8, pair.shape});
    const VolumeMask none(mask.size(), 0);
    refuse(ErrorKind::invalid_image, "leaves no voxel", test::view_of(none, pair.shape));
    // After smoothing, the inner 5 x 6 x 7 voxels count.
    const VolumeMask few = test::mask_of(pair.shape, {{10, 10, 10}, {17, 18, 19}}, true);
    refuse(ErrorKind::invalid_image, "leaves 210 voxels", test::view_of(few, pair.shape));
    refuse(ErrorKind::invalid_image, "512 are needed", test::view_of(few, pair.shape));
    // None of its edges are left.
    VolumeRegistrationOptions options;
    options.modality = Modality::other;
    VolumeRegistrar other(device, options);
    VolumeMask stripes = mask;
    for (std::size_t i = 0; i < stripes.size(); i += 4) stripes[i] = 0;
    check_refused(ErrorKind::invalid_image, "leaves 0 voxels",
                  [&] { other.set_reference(volume, test::view_of(stripes, pair.shape)); });
    const std::vector<float> holed(pair.moving.size(), NAN);
    check_refused(ErrorKind::invalid_image, "no voxel to register", [&] {
      registrar.set_reference(test::view_of(holed, pair.shape), test::view_of(mask, pair.shape));
    });
    check_refused(ErrorKind::invalid_argument, "set_reference",
                  [&] { (void)registrar.align(volume); });
    const auto elsewhere = warpalign::open_device(device.info().id);
    const auto image = device.make_image(PixelType::f32, pair.shape);
    const auto foreign = elsewhere.make_image(PixelType::u8, pair.shape);
    check_refused(ErrorKind::invalid_argument, "belongs to",
                  [&] { registrar.set_reference(image, foreign); });
  });
}
