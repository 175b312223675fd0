// The pattern that is fixed to the sensor, over frames with known motions and a known pattern.
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>
#include <warpalign/sensor_pattern.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

using warpalign::BatchResult;
using warpalign::Device;
using warpalign::FrameRegistrar;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::SensorPattern;

namespace {

constexpr std::int64_t side = 200;
constexpr std::size_t pixels = side * side;
using Pattern = std::vector<double>;

// Whole pixels, so that a photograph is cut and not resampled.
constexpr std::array<Point, 12> jumps{{{0, 0},
                                       {7, -5},
                                       {-4, 3},
                                       {2, 8},
                                       {-6, -2},
                                       {5, 1},
                                       {-3, -7},
                                       {8, 4},
                                       {1, -3},
                                       {-8, 6},
                                       {3, 5},
                                       {-1, -8}}};

struct Frames {
  std::vector<std::vector<std::uint8_t>> pixels;
  [[nodiscard]] std::vector<HostImage> views() const {
    std::vector<HostImage> result;
    for (const auto& frame : pixels) {
      result.push_back({frame.data(), PixelType::u8, side, side, 0});
    }
    return result;
  }
};

/// Cuts of a photograph, at `contrast` of its own, that move as `moved` says, under a pattern.
Frames frames_of(const char* name, double contrast, const Pattern& pattern,
                 const std::vector<Point>& moved, double noise = 2) {
  const reference::Plane photograph = test::photograph(name);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Frames frames;
  for (const Point shift : moved) {
    auto& frame = frames.pixels.emplace_back();
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const double scene = photograph.at(x + 60 - static_cast<std::int64_t>(shift.x),
                                           y + 60 - static_cast<std::int64_t>(shift.y));
        const double value = 110 + contrast * (scene - 110) +
                             pattern[static_cast<std::size_t>(y * side + x)] +
                             noise * normal(random);
        frame.push_back(static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0)));
      }
    }
  }
  return frames;
}

std::vector<Point> all_jumps() { return {jumps.begin(), jumps.end()}; }
std::vector<Point> no_motion() { return std::vector<Point>(jumps.size()); }

Pattern nothing() { return Pattern(pixels); }

Pattern column_noise(double strength) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> columns(side);
  for (double& column : columns) column = strength * normal(random);
  Pattern pattern;
  for (std::size_t i = 0; i < pixels; ++i) pattern.push_back(columns[i % side]);
  return pattern;
}

Pattern pixel_noise(double strength) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Pattern pattern(pixels);
  for (double& pixel : pattern) pixel = strength * normal(random);
  return pattern;
}

Pattern hot_pixels() {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::size_t> place(0, pixels - 1);
  Pattern pattern(pixels);
  for (int i = 0; i < 200; ++i) pattern[place(random)] = 80;
  return pattern;
}

/// The rms of the residual of a pattern, as a fraction of the rms of the pattern. A constant is
/// part of the scene.
double left_of(const Pattern& pattern, const SensorPattern& found) {
  double sum = 0, mean = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    sum += (pattern[i] - static_cast<double>(found.offsets[i])) / pixels;
    mean += pattern[i] / pixels;
  }
  double left = 0, all = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    const double rest = pattern[i] - static_cast<double>(found.offsets[i]) - sum;
    left += rest * rest;
    all += (pattern[i] - mean) * (pattern[i] - mean);
  }
  return std::sqrt(left / all);
}

Frames without(const SensorPattern& pattern, Frames frames) {
  for (auto& frame : frames.pixels) {
    warpalign::subtract_sensor_pattern(pattern, {frame.data(), PixelType::u8, side, side, 0});
  }
  return frames;
}

/// How many frames are accepted farther than this from where `moved` says, and how many are not
/// accepted.
struct Outcome {
  int wrong = 0, refused = 0;
};

Outcome outcome_of(const Device& device, const Frames& frames, const std::vector<Point>& moved) {
  constexpr double allowed = 0.1;
  warpalign::RegistrationOptions options;
  options.motion = warpalign::Motion::rigid;
  FrameRegistrar registrar(device, options);
  const std::vector<HostImage> views = frames.views();
  registrar.set_reference(views.front());
  Outcome outcome;
  const std::vector<BatchResult> results = registrar.align(views);
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (!results[i].result || !results[i].result->reliable) {
      ++outcome.refused;
      continue;
    }
    for (const Point corner : {Point{0, 0}, Point{side - 1, 0}, Point{0, side - 1}}) {
      const Point at = results[i].result->matrix(corner);
      if (std::hypot(at.x - corner.x - moved[i].x, at.y - corner.y - moved[i].y) > allowed) {
        ++outcome.wrong;
        break;
      }
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("sensor pattern: columns and pixels as strong as the scene are found and left out") {
  // The deviation of the cuts, at a third of the contrast, is about 14 levels.
  for (const bool is_columns : {true, false}) {
    const Pattern pattern = is_columns ? column_noise(14) : pixel_noise(14);
    const Frames frames = frames_of("gravel.png", 0.35, pattern, all_jumps());
    test::on_every_device([&](const Device& device) {
      CAPTURE(is_columns);
      const auto found = warpalign::find_sensor_pattern(device, frames.views());
      REQUIRE(found);
      CHECK(found->frames >= 6);
      CHECK(found->has_scene);
      CHECK(found->rms == doctest::Approx(14).epsilon(0.15));  // of so many random offsets
      // In each of 12 frames the scene behind a pixel is another one: a third of its deviation.
      CHECK(left_of(pattern, *found) < 0.33);
      const Outcome outcome = outcome_of(device, without(*found, frames), all_jumps());
      CHECK(outcome.wrong == 0);
      CHECK(outcome.refused == 0);
    });
  }
}

TEST_CASE("sensor pattern: hot pixels are found, and no others") {
  const Pattern pattern = hot_pixels();
  const Frames frames = frames_of("gravel.png", 0.3, pattern, all_jumps());
  test::on_every_device([&](const Device& device) {
    const auto found = warpalign::find_sensor_pattern(device, frames.views());
    REQUIRE(found);
    int lost = 0, false_ones = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
      const auto offset = static_cast<double>(found->offsets[i]);
      if (pattern[i] > 0 && std::abs(offset - pattern[i]) > 20) ++lost;
      if (pattern[i] == 0 && std::abs(offset) > 20) ++false_ones;
    }
    CHECK(lost <= 10);  // of 200: pixels whose neighbours are hot as well, or in few frames
    CHECK(false_ones <= 4);
  });
}

TEST_CASE("sensor pattern: there is none in frames without one, and in frames that stand still") {
  std::vector<Point> drift;
  for (int i = 0; i < 12; ++i)
    drift.push_back({static_cast<double>(i), static_cast<double>(i / 2)});
  test::on_every_device([&](const Device& device) {
    for (const char* name : {"gravel.png", "bridge.jpg"}) {
      CAPTURE(name);
      for (const auto& moved : {all_jumps(), drift, no_motion()}) {
        const Frames frames = frames_of(name, 0.7, nothing(), moved);
        CHECK_FALSE(warpalign::find_sensor_pattern(device, frames.views()));
      }
      const Frames still = frames_of(name, 0.5, column_noise(10), no_motion());
      CHECK_FALSE(warpalign::find_sensor_pattern(device, still.views()));
    }
  });
}

TEST_CASE("sensor pattern: frames that show only the sensor have no scene") {
  const Pattern pattern = pixel_noise(8);
  const Frames frames = frames_of("gravel.png", 0, pattern, no_motion());
  test::on_every_device([&](const Device& device) {
    CHECK(outcome_of(device, frames, no_motion()).refused == 0);  // registered by the pattern
    const auto found = warpalign::find_sensor_pattern(device, frames.views());
    REQUIRE(found);
    CHECK(left_of(pattern, *found) < 0.15);  // noise of 2 in 12 frames, and rounding
    CHECK_FALSE(found->has_scene);
  });
}

TEST_CASE("sensor pattern: pixels that a mask excludes are no part of it") {
  const Frames frames = frames_of("gravel.png", 0.35, pixel_noise(14), all_jumps());
  std::vector<std::uint8_t> mask(pixels, 1);
  for (std::size_t i = 0; i < pixels; ++i) mask[i] = i % side < 40 ? 0 : 1;
  const HostImage used{mask.data(), PixelType::u8, side, side, 0};
  test::on_every_device([&](const Device& device) {
    const auto found = warpalign::find_sensor_pattern(device, frames.views(), {}, &used);
    REQUIRE(found);
    for (std::size_t i = 0; i < pixels; ++i) {
      if (mask[i] == 0) REQUIRE(found->offsets[i] == 0);
    }
  });
}

TEST_CASE("sensor pattern: an image of the same camera shows it, one of another does not") {
  for (const Pattern& pattern : {column_noise(14), pixel_noise(14), hot_pixels()}) {
    const Frames frames = frames_of("gravel.png", 0.35, pattern, all_jumps());
    test::on_every_device([&](const Device& device) {
      const auto found = warpalign::find_sensor_pattern(device, frames.views());
      REQUIRE(found);
      const auto gain_in = [&](const char* scene, double contrast, const Pattern& shown) {
        // The view of frame 0: what a pattern kept of the scene would be found in it.
        const Frames image = frames_of(scene, contrast, shown, {Point{0, 0}});
        return warpalign::sensor_pattern_gain(*found, image.views().front());
      };
      for (const char* scene : {"gravel.png", "bridge.jpg"}) {
        CAPTURE(scene);
        CHECK(gain_in(scene, 0.35, pattern) == 1);
        Pattern half = pattern;
        for (double& offset : half) offset *= 0.5;
        // The offsets that were found differ from the true ones by up to a third.
        CHECK(gain_in(scene, 0.35, half) == doctest::Approx(0.5).epsilon(0.1));
        // Cameras without a pattern, at the contrast of the frames and that of the photograph, and
        // with another pattern.
        CHECK(gain_in(scene, 0.35, nothing()) == 0);
        CHECK(gain_in(scene, 1, nothing()) == 0);
        CHECK(gain_in(scene, 0.35, {pattern.rbegin(), pattern.rend()}) == 0);
        Pattern negative = pattern;
        for (double& offset : negative) offset = -offset;
        CHECK(gain_in(scene, 0.35, negative) == 0);
      }
      CHECK(gain_in("gravel.png", 1, pattern) == 1);
    });
  }
}

TEST_CASE("sensor pattern: an image in other units, with holes and a mask shows it") {
  const Pattern pattern = column_noise(14);
  const Frames frames = frames_of("gravel.png", 0.35, pattern, all_jumps());
  const Frames image = frames_of("bridge.jpg", 0.35, pattern, {Point{0, 0}});
  std::vector<float> scaled;
  for (const std::uint8_t pixel : image.pixels.front()) scaled.push_back(pixel / 255.0F);
  // Most pixels are missing or masked, and those hold other columns as strong.
  std::vector<std::uint8_t> mask(pixels, 1);
  const Pattern others = column_noise(40);
  for (std::size_t i = 0; i < pixels; ++i) {
    if (i / side < 70) scaled[i] = std::numeric_limits<float>::quiet_NaN();
    if (i / side < 130) continue;
    mask[i] = 0;
    scaled[i] = static_cast<float>(-others[i]);
  }
  const HostImage used{mask.data(), PixelType::u8, side, side, 0};
  const HostImage view{scaled.data(), PixelType::f32, side, side, 0};
  test::on_every_device([&](const Device& device) {
    const auto found = warpalign::find_sensor_pattern(device, frames.views());
    REQUIRE(found);
    CHECK(warpalign::sensor_pattern_gain(*found, view, &used) ==
          doctest::Approx(1 / 255.0).epsilon(0.1));
    CHECK(warpalign::sensor_pattern_gain(*found, view) == 0);
  });
}

TEST_CASE("sensor pattern: invalid arguments are refused, and few frames have none") {
  const Frames frames = frames_of("gravel.png", 0.5, nothing(), all_jumps());
  test::on_every_device([&](const Device& device) {
    std::vector<HostImage> views = frames.views();
    CHECK_FALSE(warpalign::find_sensor_pattern(device, std::span(views).first(5)));
    CHECK_FALSE(warpalign::find_sensor_pattern(device, {}));
    const HostImage mask{frames.pixels[0].data(), PixelType::u8, side / 2, side, 0};
    CHECK_THROWS_WITH_AS(
        static_cast<void>(warpalign::find_sensor_pattern(device, views, {}, &mask)),
        doctest::Contains("the mask must be u8 and of the frames' shape"), warpalign::Error);
    views[3].height -= 1;
    CHECK_THROWS_WITH_AS(static_cast<void>(warpalign::find_sensor_pattern(device, views)),
                         doctest::Contains("one shape"), warpalign::Error);
  });
  SensorPattern pattern{4, 2, std::vector<float>(8, 2.6F), 2.6, 6, true, true};
  std::vector<std::uint8_t> frame{0, 1, 2, 3, 4, 5, 254, 255};
  warpalign::subtract_sensor_pattern(pattern, {frame.data(), PixelType::u8, 4, 2, 0});
  CHECK(frame == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 2, 251, 252});
  warpalign::subtract_sensor_pattern(pattern, {frame.data(), PixelType::u8, 4, 2, 0}, -2);
  CHECK(frame == std::vector<std::uint8_t>{5, 5, 5, 5, 6, 7, 255, 255});
  const HostImage small{frame.data(), PixelType::u8, 2, 4, 0};
  CHECK_THROWS_AS(static_cast<void>(warpalign::sensor_pattern_gain(pattern, small)),
                  warpalign::Error);
  CHECK_THROWS_AS(warpalign::subtract_sensor_pattern(
                      pattern, {frame.data(), PixelType::u8, 4, 2, 0}, std::nan("")),
                  warpalign::Error);
  CHECK_THROWS_AS(
      warpalign::subtract_sensor_pattern(pattern, {frame.data(), PixelType::u8, 2, 4, 0}),
      warpalign::Error);
}
