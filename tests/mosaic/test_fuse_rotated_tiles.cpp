// The picture of rotated tiles, compared with the scene from which they are drawn.
#include "mosaic/drawn_rotated_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

namespace {

using namespace warpalign;
using test::RotatedMosaic;

template <class Places>
std::vector<std::uint16_t> fused_rotated(const Device& device, const RotatedMosaic& drawn,
                                         const std::vector<Places>& places, const Shape& picture,
                                         std::int64_t rows, std::optional<double> nodata = {}) {
  std::vector<std::uint16_t> pixels;
  fuse_tiles(
      device, drawn.tiles, std::span<const Places>(places),
      [&](std::size_t i, int) { return drawn.view(i); },
      {.picture = picture, .type = PixelType::u16, .rows = rows, .nodata = nodata},
      [&](std::int64_t /*first*/, std::span<const HostImage> channels) {
        const auto* from = static_cast<const std::uint16_t*>(channels[0].data);
        pixels.insert(pixels.end(), from, from + channels[0].width * channels[0].height);
      });
  return pixels;
}

/// The true matrices, for a picture that begins `start` pixels after the scene's origin.
std::vector<Homography> matrices_from(const RotatedMosaic& drawn, double start) {
  std::vector<Homography> matrices;
  for (const test::Matrix& truth : drawn.truth) {
    matrices.emplace_back(test::product(test::shift_by(-start, -start), truth));
  }
  return matrices;
}

TEST_CASE("the picture of rotated and tilted tiles is the scene") {
  test::on_every_device([](const Device& device) {
    const RotatedMosaic drawn({.rows = 2,
                               .columns = 3,
                               .tile = {160, 144, 1},
                               .overlap = 0.3,
                               .angle = 3,
                               .scale = 0.02,
                               .perspective = 0.01});
    constexpr double start = 20;  // so that tiles cover the whole picture
    const Shape picture{300, 180, 1};
    const std::vector<Homography> matrices = matrices_from(drawn, start);
    const std::vector<std::uint16_t> found = fused_rotated(device, drawn, matrices, picture, 64);
    CHECK(fused_rotated(device, drawn, matrices, picture, 37) == found);
    const std::vector<std::uint16_t> truth = drawn.scene.draw(picture, {start, start});
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double off = static_cast<double>(found[i]) - static_cast<double>(truth[i]);
      sum += off * off;
    }
    // Of spots of 2400 to 12000: what cubic splines of spots this small reach (measured: see the
    // shifted tiles, which are compared with 65).
    CHECK(std::sqrt(sum / static_cast<double>(truth.size())) < 65);
  });
}

TEST_CASE("matrices that are translations give the picture of positions") {
  test::on_every_device([](const Device& device) {
    const RotatedMosaic drawn({.rows = 2, .columns = 2, .tile = {90, 80, 1}, .angle = 0});
    std::vector<Point> positions;
    std::vector<Homography> matrices;
    for (const test::Matrix& m : drawn.truth) {
      positions.push_back({m[2] + 7, m[5] + 7});
      matrices.emplace_back(test::product(test::shift_by(7, 7), m));
    }
    const Shape picture{190, 170, 1};
    const auto expected = fused_rotated(device, drawn, positions, picture, 50);
    const auto found = fused_rotated(device, drawn, matrices, picture, 50);
    int largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(int{found[i]} - int{expected[i]}));
    }
    CHECK(largest <= 1);  // another order of the same sums
  });
}

TEST_CASE("missing pixels of rotated tiles are left to other tiles") {
  test::on_every_device([](const Device& device) {
    RotatedMosaic drawn({.rows = 1, .columns = 2, .tile = {120, 100, 1}, .overlap = 0.5});
    const std::vector<Homography> matrices = matrices_from(drawn, 0);
    const Shape picture{170, 100, 1};
    const auto whole = fused_rotated(device, drawn, matrices, picture, 100, 7);
    // A hole in the first tile, which the second one covers.
    const Point hole = matrices[0]({85, 50});
    for (std::size_t y = 42; y < 58; ++y) {
      for (std::size_t x = 77; x < 93; ++x) drawn.pixels[0][y * 120 + x] = 7;
    }
    const auto found = fused_rotated(device, drawn, matrices, picture, 100, 7);
    const auto at = [&](const Point& p) {
      return static_cast<std::size_t>(std::lround(p.y) * picture.width + std::lround(p.x));
    };
    CHECK(found[at(hole)] != 7);
    // Both tiles show the same scene: what the second one alone gives is a spline's error away.
    CHECK(std::abs(int{found[at(hole)]} - int{whole[at(hole)]}) < 300);
    // Where the second tile does not reach, the hole stays.
    for (std::size_t y = 42; y < 58; ++y) {
      for (std::size_t x = 10; x < 26; ++x) drawn.pixels[0][y * 120 + x] = 7;
    }
    CHECK(fused_rotated(device, drawn, matrices, picture, 100, 7)[at(matrices[0]({18, 50}))] == 7);
  });
}

TEST_CASE("matrices of tiles that no picture can hold are refused") {
  const Device& device = test::devices().front();
  const RotatedMosaic drawn({.rows = 1, .columns = 2, .tile = {40, 40, 1}});
  const Shape picture{80, 40, 1};
  const auto refusal = [&](const Homography& matrix) {
    std::vector<Homography> matrices = matrices_from(drawn, 0);
    matrices[1] = matrix;
    try {
      static_cast<void>(fused_rotated(device, drawn, matrices, picture, 40));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::invalid_argument);
      return std::string(error.message());
    }
    return std::string();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(std::array<double, 9>{1, 0, nan, 0, 1, 0, 0, 0, 1}).find("not finite") !=
        std::string::npos);
  CHECK(refusal(std::array<double, 9>{1, 0, 0, 0, 1, 0, 0.1, 0, -1}).find("to infinity") !=
        std::string::npos);
  CHECK(refusal(std::array<double, 9>{1, 0, 0, 1, 0, 0, 0, 0, 1}).find("singular") !=
        std::string::npos);
  CHECK(refusal(std::array<double, 9>{1, 0, 3e9, 0, 1, 0, 0, 0, 1}).find("2^30") !=
        std::string::npos);
  FusionSpec spec{.picture = picture, .type = PixelType::u16};
  spec.distortion.x[0] = 1;
  const std::vector<Homography> matrices = matrices_from(drawn, 0);
  CHECK_THROWS_AS(fuse_tiles(
                      device, drawn.tiles, std::span<const Homography>(matrices),
                      [&](std::size_t i, int) { return drawn.view(i); }, spec,
                      [](std::int64_t, std::span<const HostImage>) {}),
                  Error);
}

}  // namespace
