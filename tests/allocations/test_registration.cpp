// A second align() of images of the same sizes allocates nothing, on every device.
//
// The lists in a result belong to the caller: RegistrationResult::runners_up and ::timings are
// only filled, and so allocated, if the options request them, which these tests do not.
#include "allocations/check.hpp"
#include "support/devices.hpp"
#include "support/volume_masks.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace warpalign;

constexpr std::int64_t width = 200;
constexpr std::int64_t height = 170;

/// Draws blobs of several sizes under a similarity, as pixels; pixels are black beyond `frame`
/// pixels from the edge.
std::vector<std::uint8_t> blobs(const Affine& to_scene, std::int64_t frame) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool seen = std::min({x, y, width - 1 - x, height - 1 - y}) >= frame;
      const Point p = to_scene({static_cast<double>(x), static_cast<double>(y)});
      double value = 0;
      std::uint32_t state = 7;
      for (int blob = 0; blob < 90; ++blob) {
        const auto next = [&] {
          state = state * 1664525U + 1013904223U;
          return static_cast<double>(state >> 8U) / (1U << 24U);
        };
        const double dx = p.x - (next() * 1.4 - 0.2) * width;
        const double dy = p.y - (next() * 1.4 - 0.2) * height;
        const double radius = 3 + 12 * next();
        value += (2 * next() - 1) * std::exp(-(dx * dx + dy * dy) / (2 * radius * radius));
      }
      pixels.push_back(seen ? static_cast<std::uint8_t>(std::lround(128 + 60 * std::tanh(value)))
                            : 0);
    }
  }
  return pixels;
}

HostImage view(const std::vector<std::uint8_t>& pixels) {
  return {pixels.data(), PixelType::u8, width, height, 0};
}

struct Pair {
  explicit Pair(std::int64_t frame)
      : reference(blobs({}, frame)),
        moving(blobs(Similarity{9, 1.1, {4, -3}}.matrix({width, height, 1}, {width, height, 1}),
                     frame)) {}
  std::vector<std::uint8_t> reference, moving;
};

void check_second(const Device& device, const Pair& pair, const RegistrationOptions& options,
                  bool must_find) {
  Registrar registrar(device, options);
  registrar.set_reference(view(pair.reference));
  const RegistrationResult first = registrar.align(view(pair.moving));
  CHECK(first.reliable == must_find);
  RegistrationResult second;
  test::allocates_nothing(device, [&] { second = registrar.align(view(pair.moving)); });
  CHECK(second.confidence == doctest::Approx(first.confidence));
  test::allocates_nothing(device, [&] { registrar.set_reference(view(pair.reference)); });
}

}  // namespace

TEST_CASE("allocations: align, refined") {
  const Pair pair(0);
  test::on_every_device([&](const Device& device) { check_second(device, pair, {}, true); });
}

TEST_CASE("allocations: align, converted pixels") {
  const Pair pair(0);
  const std::vector<double> reference(pair.reference.begin(), pair.reference.end());
  const std::vector<double> moving(pair.moving.begin(), pair.moving.end());
  test::on_every_device([&](const Device& device) {
    Registrar registrar(device, {});
    registrar.set_reference({reference.data(), PixelType::f64, width, height, 0});
    const HostImage image{moving.data(), PixelType::f64, width, height, 0};
    CHECK(registrar.align(image).reliable);
    test::allocates_nothing(device, [&] { CHECK(registrar.align(image).reliable); });
  });
}

TEST_CASE("allocations: align, the fast pipeline") {
  const Pair pair(0);
  test::on_every_device([&](const Device& device) {
    RegistrationOptions options;
    options.fast = true;
    check_second(device, pair, options, true);
  });
}

TEST_CASE("allocations: align, images with borders, which are masked") {
  const Pair pair(12);
  test::on_every_device([&](const Device& device) { check_second(device, pair, {}, true); });
}

TEST_CASE("allocations: align, every motion") {
  const Pair pair(0);
  test::on_every_device([&](const Device& device) {
    for (const Motion motion : {Motion::rigid, Motion::rotation, Motion::translation,
                                Motion::affine, Motion::homography, Motion::automatic}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      Registrar registrar(device, options);
      registrar.set_reference(view(pair.reference));
      static_cast<void>(registrar.align(view(pair.moving)));
      test::allocates_nothing(device,
                              [&] { static_cast<void>(registrar.align(view(pair.moving))); });
    }
  });
}

TEST_CASE("allocations: align, gradient orientations with the full search") {
  const Pair pair(0);
  test::on_every_device([&](const Device& device) {
    RegistrationOptions options;
    options.modality = warpalign::Modality::other;
    check_second(device, pair, options, true);
    options.modality = warpalign::Modality::automatic;
    options.search = warpalign::Effort::thorough;
    check_second(device, pair, options, true);
  });
}

// The search runs to its end, at every base scale and on the larger padded frame.
TEST_CASE("allocations: align, unrelated images") {
  Pair pair(0);
  std::uint32_t state = 5;
  for (std::uint8_t& pixel : pair.moving) {
    state = state * 1664525U + 1013904223U;
    pixel = static_cast<std::uint8_t>(state >> 24U);
  }
  test::on_every_device([&](const Device& device) {
    check_second(device, pair, {}, false);
    // Every candidate is fitted with a homography, and then patches are matched.
    RegistrationOptions options;
    options.motion = Motion::homography;
    check_second(device, pair, options, false);
  });
}

TEST_CASE("allocations: align, rotated volumes") {
  const test::VolumePairSpec spec{.shift = {1.25, -2.5, 1.75}};
  const test::HostPairOfVolumes pair = test::draw_pair(spec);
  test::on_every_device([&](const Device& device) {
    VolumeRegistrationOptions options;
    options.motion = Motion::similarity;
    options.max_rotation = 20;
    VolumeRegistrar registrar(device, options);
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    CHECK(registrar.align(test::view_of(pair.moving, spec.moving)).refined);
    test::allocates_nothing(device, [&] {
      static_cast<void>(registrar.align(test::view_of(pair.moving, spec.moving)));
    });
  });
}

TEST_CASE("allocations: align, volumes") {
  const test::VolumePairSpec spec{.shift = {3.25, -2.5, 1.75}};
  const test::HostPairOfVolumes pair = test::draw_pair(spec);
  test::on_every_device([&](const Device& device) {
    for (const Modality modality : {Modality::same, Modality::other, Modality::automatic}) {
      VolumeRegistrationOptions options;
      options.modality = modality;
      VolumeRegistrar registrar(device, options);
      registrar.set_reference(test::view_of(pair.reference, spec.reference));
      const VolumeRegistration first = registrar.align(test::view_of(pair.moving, spec.moving));
      CHECK(first.refined);
      test::allocates_nothing(device, [&] {
        static_cast<void>(registrar.align(test::view_of(pair.moving, spec.moving)));
      });
    }
  });
}

TEST_CASE("allocations: align, volumes with masks") {
  const test::VolumePairSpec spec{.shift = {1.25, -2.5, 1.75}};
  const test::HostPairOfVolumes pair = test::draw_pair(spec);
  const test::VolumeMask mask = test::mask_of(spec.moving, {{10, 12, 8}, {18, 20, 16}});
  test::on_every_device([&](const Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid}) {
      VolumeRegistrationOptions options;
      options.motion = motion;
      if (motion == Motion::rigid) options.max_rotation = 20;
      VolumeRegistrar registrar(device, options);
      registrar.set_reference(test::view_of(pair.reference, spec.reference));
      const auto align = [&] {
        return registrar.align(test::view_of(pair.moving, spec.moving),
                               test::view_of(mask, spec.moving));
      };
      CHECK(align().refined);
      test::allocates_nothing(device, [&] { static_cast<void>(align()); });
    }
  });
}
