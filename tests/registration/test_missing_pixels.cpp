// Images with missing pixels or with extreme values, and masks of images on the device.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>
#include <warpalign/missing.hpp>
#include <warpalign/registrar.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using warpalign::Device;
using warpalign::HostImage;
using warpalign::Image;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Registrar;
using warpalign::RegistrationResult;
using warpalign::Shape;

constexpr float nan_pixel = std::numeric_limits<float>::quiet_NaN();
constexpr Shape shape{300, 280, 1};
// As for photographs without missing pixels (test_photographs.cpp).
constexpr double clean_off = 0.02;

/// A photograph and its rotated, scaled and shifted content.
struct Scene {
  test::Pair pair =
      test::cut(test::photograph("bridge.jpg"), {shape, shape, {9, 1.05, {4, -7}}, 1.5});
  std::vector<float> reference{pair.reference.values.begin(), pair.reference.values.end()};
  std::vector<float> moving{pair.moving.values.begin(), pair.moving.values.end()};
};

HostImage view(const std::vector<float>& pixels) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}

template <class Map>
std::vector<float> mapped(const std::vector<float>& pixels, const Map& map) {
  std::vector<float> result;
  for (const float pixel : pixels) result.push_back(static_cast<float>(map(double{pixel})));
  return result;
}

RegistrationResult registered(const Device& device, const std::vector<float>& reference,
                              const std::vector<float>& moving) {
  return warpalign::register_images(device, view(reference), view(moving));
}

void check_found(const RegistrationResult& found, const Scene& scene, double off = clean_off) {
  CHECK(found.reliable);
  CHECK(test::max_corner_distance(found.matrix, scene.pair.truth, shape) <= off);
}

Image uploaded(const Device& device, const HostImage& pixels) {
  Image image = device.make_image(pixels.type, pixels.shape());
  auto stream = device.make_stream();
  stream.upload(pixels, image);
  stream.finish();
  return image;
}

}  // namespace

TEST_CASE("missing pixels: NaN at single pixels, in a border and in a hole is ignored") {
  Scene scene;
  std::mt19937 random(5);
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < scene.moving.size(); ++i) {
    const auto x = static_cast<std::int64_t>(i) % shape.width;
    const auto y = static_cast<std::int64_t>(i) / shape.width;
    const bool hole = std::hypot(static_cast<double>(x - 200), static_cast<double>(y - 90)) < 30;
    if (x >= 12 && !hole && random() % 50 != 0) continue;
    scene.moving[i] = random() % 3 == 0 ? std::numeric_limits<float>::infinity() : nan_pixel;
    ++missing;
  }
  scene.reference[17] = nan_pixel;
  test::on_every_device([&](const Device& device) {
    const RegistrationResult found = registered(device, scene.reference, scene.moving);
    // The smoothed levels lack the neighbours of missing pixels, too.
    check_found(found, scene, 2 * clean_off);
    CHECK(found.missing.reference == 1);
    CHECK(found.missing.moving == missing);
    const RegistrationResult on_device = [&] {
      Registrar registrar(device);
      registrar.set_reference(uploaded(device, view(scene.reference)));
      return registrar.align(uploaded(device, view(scene.moving)));
    }();
    CHECK(on_device.matrix.c == found.matrix.c);
    CHECK(on_device.missing.moving == missing);
    warpalign::FrameRegistrar frames(device);
    frames.set_reference(view(scene.reference));
    CHECK(frames.align(view(scene.moving)).matrix.c == found.matrix.c);
  });
}

TEST_CASE("missing pixels: those under a mask do not count, and all others may be missing") {
  Scene scene;
  std::vector<std::uint8_t> mask(scene.moving.size(), 1);
  for (std::size_t i = 0; i < 40 * static_cast<std::size_t>(shape.width); ++i) {
    mask[i] = 0;
    scene.moving[i] = nan_pixel;
  }
  scene.moving[50 * static_cast<std::size_t>(shape.width)] = nan_pixel;
  const HostImage mask_view{mask.data(), PixelType::u8, shape.width, shape.height, 0};
  const std::vector<float> none(scene.moving.size(), nan_pixel);
  test::on_every_device([&](const Device& device) {
    Registrar registrar(device);
    registrar.set_reference(view(scene.reference));
    const RegistrationResult found = registrar.align(view(scene.moving), mask_view);
    check_found(found, scene);
    CHECK(found.missing.moving == 1);
    const RegistrationResult on_device =
        registrar.align(uploaded(device, view(scene.moving)), uploaded(device, mask_view));
    CHECK(on_device.matrix.c == found.matrix.c);
    CHECK(on_device.confidence == found.confidence);
    registrar.set_reference(uploaded(device, view(scene.moving)), uploaded(device, mask_view));
    const Shape wrong{shape.width, shape.height - 1, 1};
    CHECK_THROWS_WITH_AS((void)registrar.align(uploaded(device, view(scene.reference)),
                                               device.make_image(PixelType::u8, wrong)),
                         doctest::Contains("but its image is"), warpalign::Error);
    CHECK_THROWS_WITH_AS(registrar.set_reference(view(none)),
                         doctest::Contains("no pixel to register"), warpalign::Error);
    warpalign::RegistrationOptions bent;
    bent.motion = Motion::deformable;
    Registrar deformable(device, bent);
    deformable.set_reference(view(scene.reference));
    CHECK(deformable.align(view(scene.moving)).missing.moving == 40 * shape.width + 1);
  });
}

TEST_CASE("extreme values: gains of 1e30 and 1e-30, and offsets, change nothing") {
  const Scene scene;
  test::on_every_device([&](const Device& device) {
    for (const double gain : {1e30, -1e34, 1e-30}) {
      CAPTURE(gain);
      const auto scaled = mapped(scene.moving, [&](double v) { return gain * v; });
      if (gain > 0) check_found(registered(device, scene.reference, scaled), scene);
      // Both images are scaled. A Registrar compares intensities of either sign.
      const auto both = mapped(scene.reference, [&](double v) { return gain * v; });
      check_found(registered(device, both, scaled), scene);
    }
    // f32 rounds to multiples of 1/16 here, a thousandth of the contrast.
    const auto raised = mapped(scene.moving, [](double v) { return v + 1e6; });
    check_found(registered(device, scene.reference, raised), scene);
  });
}

TEST_CASE("extreme values: doubles and integers lose no contrast to a pedestal") {
  const Scene scene;
  std::vector<double> doubles;
  std::vector<std::int32_t> integers;
  for (const double value : scene.pair.moving.values) {
    doubles.push_back(1e7 + value / 100);  // a range of about 2
    integers.push_back(1'900'000'000 + static_cast<std::int32_t>(std::lround(value)));
  }
  const std::vector<double> flat(doubles.size(), 1e7);
  test::on_every_device([&](const Device& device) {
    Registrar registrar(device);
    registrar.set_reference(view(scene.reference));
    check_found(registrar.align({doubles.data(), PixelType::f64, shape.width, shape.height, 0}),
                scene);
    check_found(registrar.align({integers.data(), PixelType::i32, shape.width, shape.height, 0}),
                scene);
    for (const double gain : {1e300, 1e-250}) {  // beyond the range of f32
      std::vector<double> scaled;
      for (const double value : scene.pair.moving.values) scaled.push_back(gain * value);
      Registrar of_scaled(device);
      of_scaled.set_reference(view(scene.reference));
      check_found(of_scaled.align({scaled.data(), PixelType::f64, shape.width, shape.height, 0}),
                  scene);
    }
    CHECK_THROWS_WITH_AS(
        (void)registrar.align({flat.data(), PixelType::f64, shape.width, shape.height, 0}),
        doctest::Contains("is constant"), warpalign::Error);
  });
}
