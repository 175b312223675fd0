// Registration of volumes with an exactly known shift, on every device.
#include "support/devices.hpp"
#include "support/volume_checks.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using test::check_refused;
using test::check_shift;
using test::VolumePairSpec;
using warpalign::Device;
using warpalign::ErrorKind;
using warpalign::HostVolume;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

// docs/accuracy-volumes.md reports median errors of 0.0003 for the finest of these blobs without
// noise, which is the cubic spline's own error, and of 0.008 to 0.04 with noise of 0.3.
constexpr double clean_off = 0.003;
constexpr double noisy_off = 0.08;

VolumePairSpec shifted(const Point3& shift, std::uint32_t seed = 3) {
  VolumePairSpec spec;
  spec.shift = shift;
  spec.blob_sigma = 1.5;
  spec.seed = seed;
  return spec;
}

VolumeRegistration align(const Device& device, const VolumePairSpec& spec,
                         const VolumeRegistrationOptions& options = {}) {
  const auto pair = test::draw_pair(spec);
  return register_volumes(device, test::view_of(pair.reference, spec.reference),
                          test::view_of(pair.moving, spec.moving), options);
}

template <class Pixel>
std::vector<Pixel> as(const std::vector<float>& values, double gain, double offset) {
  std::vector<Pixel> pixels;
  for (const float value : values) {
    pixels.push_back(static_cast<Pixel>(std::lround(static_cast<double>(value) * gain + offset)));
  }
  return pixels;
}

}  // namespace

TEST_CASE("volumes: shifts of whole voxels and of fractions") {
  test::on_every_device([](const Device& device) {
    for (const Point3& shift : {Point3{0, 0, 0}, Point3{3, -5, 2}, Point3{0.25, 4.5, -6.75}}) {
      const auto result = align(device, shifted(shift));
      check_shift(result, shift, clean_off);
      const double common = (32 - std::abs(shift.x)) * (32 - std::abs(shift.y)) *
                            (32 - std::abs(shift.z)) / (32.0 * 32 * 32);
      CHECK(result.overlap == doctest::Approx(common).epsilon(1e-3));
    }
  });
}

TEST_CASE("volumes: shifts beyond half a side") {
  test::on_every_device([](const Device& device) {
    for (const Point3& shift : {Point3{19.3, 0.6, -1.2}, Point3{-2.1, -19.3, 0},
                                Point3{1.5, 2.5, 20}, Point3{13, -12.5, 12.2}}) {
      const auto result = align(device, shifted(shift));
      check_shift(result, shift, clean_off);
      CHECK(result.overlap < 0.45);
    }
  });
}

TEST_CASE("volumes: unequal sizes") {
  test::on_every_device([](const Device& device) {
    VolumePairSpec spec = shifted({6.4, -3.3, 9.8});
    spec.reference = {28, 32, 20};
    spec.moving = {40, 24, 36};
    check_shift(align(device, spec), spec.shift, clean_off);
    std::swap(spec.reference, spec.moving);
    spec.shift = {-6.4, 3.3, -9.8};
    check_shift(align(device, spec), spec.shift, clean_off);
  });
}

TEST_CASE("volumes: noise in both") {
  test::on_every_device([](const Device& device) {
    for (std::uint32_t seed = 10; seed < 14; ++seed) {
      VolumePairSpec spec = shifted({2.3, -7.45, 3.8}, seed);
      spec.noise = 0.3;
      check_shift(align(device, spec), spec.shift, noisy_off);
    }
  });
}

TEST_CASE("volumes: unrelated ones are refused") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrar registrar(device);
    for (std::uint32_t seed = 20; seed < 28; ++seed) {
      VolumePairSpec spec = shifted({1, 2, 3}, seed);
      spec.unrelated = true;
      const auto pair = test::draw_pair(spec);
      registrar.set_reference(test::view_of(pair.reference, spec.reference));
      const auto result = registrar.align(test::view_of(pair.moving, spec.moving));
      CAPTURE(result.significance);
      CHECK_FALSE(result.reliable);
      CHECK(result.confidence < 0.5);
    }
  });
}

TEST_CASE("volumes: integer types, a gain and an offset") {
  test::on_every_device([](const Device& device) {
    const VolumePairSpec spec = shifted({4.25, -2.5, 1.125});
    const auto pair = test::draw_pair(spec);
    const auto narrow = as<std::uint8_t>(pair.reference, 80, 60);
    const auto wide = as<std::uint16_t>(pair.moving, 20000, 20000);
    const auto hounsfield = as<std::int16_t>(pair.moving, 800, -300);  // as a CT delivers them
    VolumeRegistrar registrar(device);
    registrar.set_reference({narrow.data(), PixelType::u8, spec.reference});
    // 8 bits over about three deviations: noise of 1/256 of the range.
    check_shift(registrar.align({wide.data(), PixelType::u16, spec.moving}), spec.shift, 0.02);
    check_shift(registrar.align(test::view_of(pair.moving, spec.moving)), spec.shift, 0.02);
    check_shift(registrar.align({hounsfield.data(), PixelType::i16, spec.moving}), spec.shift,
                0.02);
  });
}

TEST_CASE("volumes: the reference is kept, from the device too, and discarded when it is refused") {
  test::on_every_device([](const Device& device) {
    const VolumePairSpec spec = shifted({-1.5, 3.25, 0.75});
    const auto pair = test::draw_pair(spec);
    auto stream = device.make_stream();
    auto image = device.make_image(PixelType::f32, spec.reference);
    stream.upload(pair.reference.data(), image.size_bytes(), image.buffer());
    stream.finish();
    VolumeRegistrar registrar(device);
    registrar.set_reference(image);
    const auto first = registrar.align(test::view_of(pair.moving, spec.moving));
    check_shift(first, spec.shift, clean_off);
    check_shift(registrar.align(image), {}, clean_off);
    const auto again = registrar.align(test::view_of(pair.moving, spec.moving));
    CHECK(again.translation.x == first.translation.x);
    CHECK(again.significance == first.significance);
    const std::vector<float> flat(pair.reference.size(), 2.0F);
    check_refused(ErrorKind::invalid_image, "constant",
                  [&] { registrar.set_reference(test::view_of(flat, spec.reference)); });
    const auto has_none = [&] {
      check_refused(ErrorKind::invalid_argument, "set_reference",
                    [&] { (void)registrar.align(test::view_of(pair.moving, spec.moving)); });
    };
    has_none();
    registrar.set_reference(image);
    check_refused(ErrorKind::invalid_argument, "side", [&] {
      registrar.set_reference(test::view_of(flat, {1, 1, 1}));
    });
    has_none();
  });
}

TEST_CASE("volumes: max_shift limits the search, axis by axis") {
  test::on_every_device([](const Device& device) {
    const Point3 shift{9.4, 1.2, -0.6};
    VolumeRegistrationOptions options;
    options.max_shift = {12, 3, 3};
    check_shift(align(device, shifted(shift), options), shift, clean_off);
    options.max_shift = {0, 0, 3};
    check_shift(align(device, shifted(shift), options), shift, clean_off);
    options.max_shift = {4, 0, 0};
    const auto result = align(device, shifted(shift), options);
    CHECK_FALSE(result.reliable);
    CHECK(std::abs(result.translation.x) <= 4.5);
  });
}

TEST_CASE("volumes: the shift is whole without refinement, and timings are optional") {
  test::on_every_device([](const Device& device) {
    VolumeRegistrationOptions options;
    options.refine = false;
    options.collect_timings = true;
    const auto result = align(device, shifted({5.3, -2.2, 0.9}), options);
    CHECK(result.translation.x == 5);
    CHECK(result.translation.y == -2);
    CHECK(result.translation.z == 1);
    CHECK(result.reliable);
    CHECK_FALSE(result.refined);
    REQUIRE_FALSE(result.timings.empty());
    CHECK(result.timings.front().stage == "upload");
  });
}

TEST_CASE("volumes: invalid input is refused, with the reason") {
  test::on_every_device([](const Device& device) {
    const Shape shape{16, 16, 16};
    std::vector<float> voxels(4096);
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i % 97);
    VolumeRegistrar registrar(device);
    registrar.set_reference(test::view_of(voxels, shape));
    const auto refuse = [&](ErrorKind kind, const char* words, const HostVolume& volume) {
      check_refused(kind, words, [&] { (void)registrar.align(volume); });
    };
    refuse(ErrorKind::invalid_argument, "8 to 16384", {voxels.data(), PixelType::f32, {32, 16, 7}});
    refuse(ErrorKind::invalid_argument, "8 to 16384",
           {voxels.data(), PixelType::f32, {20000, 8, 8}});
    refuse(ErrorKind::invalid_argument, "complex", {voxels.data(), PixelType::c32, shape});
    refuse(ErrorKind::invalid_argument, "no voxels", {nullptr, PixelType::f32, shape});
    // Refused because of its size alone: these voxels do not exist.
    refuse(ErrorKind::out_of_memory, "GiB", {voxels.data(), PixelType::f32, {16384, 16384, 16384}});
    voxels[100] = 3e38F;
    refuse(ErrorKind::invalid_image, "1e37", test::view_of(voxels, shape));
    std::fill(voxels.begin(), voxels.end(), NAN);
    refuse(ErrorKind::invalid_image, "no voxel to register", test::view_of(voxels, shape));
    std::fill(voxels.begin(), voxels.end(), 7.0F);
    refuse(ErrorKind::invalid_image, "constant", test::view_of(voxels, shape));
    VolumeRegistrationOptions options;
    options.max_shift.y = NAN;
    check_refused(ErrorKind::invalid_argument, "max_shift",
                  [&] { VolumeRegistrar(device, options); });
  });
}

TEST_CASE("volumes: a volume of another device is refused") {
  test::on_every_device([](const Device& device) {
    const auto other = warpalign::open_device(device.info().id);
    const auto image = other.make_image(PixelType::f32, {16, 16, 16});
    VolumeRegistrar registrar(device);
    check_refused(ErrorKind::invalid_argument, "belongs to",
                  [&] { registrar.set_reference(image); });
  });
}
