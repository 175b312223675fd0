// Regression tests: pairs of the evaluation that were once registered wrongly, each for another
// reason.
#include "accuracy/draw.hpp"
#include "accuracy/pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <warpalign/registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using accuracy::Pair;
using accuracy::Use;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;

Pair pair_of(Use use, const std::string& group, std::size_t index) {
  constexpr std::int64_t side = 512;
  const accuracy::Originals originals(use, side);
  const auto& groups = accuracy::all_groups();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.name == group; });
  REQUIRE(found != groups.end());
  return accuracy::make_pair(originals,
                             {1, static_cast<std::size_t>(found - groups.begin()), index}, side);
}

// Two square images of one scene.
Pair drawn(const warpalign::Similarity& similarity, std::int64_t side) {
  const accuracy::Originals originals(Use::tune, side);
  const accuracy::Scene& scene = originals.scene(originals.textured().front());
  Pair pair;
  pair.reference.shape = pair.moving.shape = {side, side, 1};
  pair.similarity = similarity;
  pair.truth = similarity.matrix(pair.reference.shape, pair.moving.shape);
  const Point middle{static_cast<double>(scene.width()) / 2,
                     static_cast<double>(scene.height()) / 2};
  const auto placement =
      accuracy::place(scene, pair.reference.shape, pair.moving.shape, similarity, middle, 0);
  accuracy::Random random({1, 0, 0});
  pair.reference.pixels = accuracy::expose(
      accuracy::draw(scene, placement.reference_to_scene, pair.reference.shape), {}, random);
  pair.moving.pixels = accuracy::expose(
      accuracy::draw(scene, placement.moving_to_scene, pair.moving.shape), {}, random);
  return pair;
}

// Tiles that overlap by a fraction `common` of a side, rotated relative to each other.
Pair tiles(double common, double rotation_deg) {
  constexpr std::int64_t side = 320;
  return drawn({rotation_deg, 1, {(1 - common) * side, 0}}, side);
}

HostImage view(const accuracy::Picture& picture) {
  return {picture.pixels.data(), PixelType::u8, picture.shape.width, picture.shape.height};
}

// A mask that keeps one rectangle.
std::vector<std::uint8_t> all_but(const warpalign::Shape& shape, std::int64_t left,
                                  std::int64_t right, std::int64_t top, std::int64_t bottom) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(shape.plane()), 0);
  for (std::int64_t y = top; y < bottom; ++y) {
    for (std::int64_t x = left; x < right; ++x) {
      mask[static_cast<std::size_t>(y * shape.width + x)] = 1;
    }
  }
  return mask;
}

void registers(const Pair& pair, double tolerance) {
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device);
    registrar.set_reference(view(pair.reference));
    const auto found = registrar.align(view(pair.moving));
    CHECK(found.reliable);
    CHECK(test::mean_corner_distance(found.matrix, pair.truth, pair.reference.shape) <= tolerance);
  });
}

// Random intensities without any structure.
std::vector<std::uint8_t> noise_of(std::size_t count) {
  accuracy::Random random({1, 0, 0});
  std::vector<std::uint8_t> pixels(count);
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random.between(0, 255));
  return pixels;
}

}  // namespace

TEST_CASE("hard pairs: clouds under noise of sigma 32") {
  // With a pixel of smoothing nearly all slopes are noise, and the fit was off by 0.97 px. The
  // bound of any method is 0.07 px for the mean (tools/evaluate/noise_bound.py); 0.19 is reached.
  registers(pair_of(Use::report, "noise", 13), 0.4);
}

TEST_CASE("hard pairs: illumination so uneven that intensities correlate negatively") {
  // A fit that takes the sign of the gain from the correlation diverges. The result is 0.11 px.
  registers(pair_of(Use::report, "mixed", 9), 0.2);
}

TEST_CASE("hard pairs: a retina under noise, whose shading is stronger than its vessels") {
  // Smoothed by two pixels, the fit followed the shading for 9.2 px, away from a start that was
  // off by 0.2 px. Without that smoothing the result is 0.45 px.
  registers(pair_of(Use::all, "mixed", 10), 0.8);
}

TEST_CASE("hard pairs: scale 3.6, where corners of the wide image lie far outside the other one") {
  // A limit on the movement of the corners once ended the fit too early. The result is 0.23 px, at
  // corners 700 pixels apart.
  registers(pair_of(Use::tune, "scale4", 2), 0.5);
}

TEST_CASE("hard pairs: tiles that overlap by a sixth, at an unknown rotation") {
  // The tiles' spectra have too little in common: only the grid of rotations and scales finds the
  // pose. For whole images the error would be 0.01 px; here the far corners are six times the
  // width of the overlap away from it.
  registers(tiles(1.0 / 6, 0), 0.2);
  registers(tiles(1.0 / 6, 25), 0.2);
}

TEST_CASE("hard pairs: a zoom of 6.5") {
  // The log-polar search only reaches up to 5.3: the grid finds this scale.
  registers(drawn({20, 1 / 6.5, {15, -12}}, 300), 0.5);
}

TEST_CASE("hard pairs: a small image is not compared with thousands of crops of a large one") {
  // 24 x 16 against 1100 x 960 once took nine minutes on PoCL, nearly all of them in such crops.
  const std::vector<std::uint8_t> pixels = noise_of(24 * 16);
  const std::vector<std::uint8_t> many = noise_of(1100 * 960);
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::RegistrationOptions options;
    options.collect_timings = true;
    warpalign::Registrar registrar(device, options);
    registrar.set_reference({pixels.data(), PixelType::u8, 24, 16, 0});
    const auto found = registrar.align({many.data(), PixelType::u8, 1100, 960, 0});
    CHECK_FALSE(found.reliable);
    REQUIRE_FALSE(found.timings.empty());
    for (const auto& timing : found.timings) CHECK(timing.stage != "crop");
  });
}

TEST_CASE("hard pairs: masks that leave a fortieth of the images as overlap") {
  const Pair pair = tiles(0.5, 12);
  // The mask keeps the reference's left half and the moving image's right half.
  const warpalign::Shape& shape = pair.reference.shape;
  const auto reference_mask = all_but(shape, 0, 130, 0, 240);
  const auto moving_mask = all_but(shape, 240, 320, 190, 320);
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device);
    registrar.set_reference(view(pair.reference),
                            {reference_mask.data(), PixelType::u8, shape.width, shape.height, 0});
    const auto found = registrar.align(
        view(pair.moving), {moving_mask.data(), PixelType::u8, shape.width, shape.height, 0});
    CHECK(found.reliable);
    CHECK(test::mean_corner_distance(found.matrix, pair.truth, shape) <= 1);
  });
}
