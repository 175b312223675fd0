// Scenes that move under a pattern that is fixed to the sensor.
#include "registration/patterns/difference_shift.hpp"
#include "registration/patterns/fine_agreement.hpp"
#include "registration/patterns/fixed_pattern.hpp"
#include "registration/patterns/line_pattern.hpp"
#include "registration/patterns/pattern_trace.hpp"
#include "registration/patterns/sensor_signs.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using warpalign::PixelType;
using warpalign::Point;
using warpalign::RegistrationResult;

namespace {

constexpr std::int64_t side = 300;
constexpr Point shift{9, -6};

struct Shown {
  std::vector<std::uint8_t> reference, moving;
};

// What a sensor shows of a value at a pixel.
using Sensor = std::function<double(std::int64_t x, std::int64_t y, double value)>;

// A cut of a photograph and one that has moved by `shift`.
Shown shown(const char* name, Point moved, const Sensor& sensor, double noise = 0) {
  const reference::Plane photograph = test::photograph(name);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Shown result;
  const auto pixel = [&](std::int64_t x, std::int64_t y, double value) {
    return static_cast<std::uint8_t>(
        std::clamp(std::round(sensor(x, y, value) + noise * normal(random)), 0.0, 255.0));
  };
  const auto dx = static_cast<std::int64_t>(moved.x);
  const auto dy = static_cast<std::int64_t>(moved.y);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      result.reference.push_back(pixel(x, y, photograph.at(x + 30, y + 20)));
      result.moving.push_back(pixel(x, y, photograph.at(x + 30 - dx, y + 20 - dy)));
    }
  }
  return result;
}

RegistrationResult registered(const warpalign::Device& device, const Shown& pair,
                              const warpalign::RegistrationOptions& options = {}) {
  return warpalign::register_images(device, {pair.reference.data(), PixelType::u8, side, side, 0},
                                    {pair.moving.data(), PixelType::u8, side, side, 0}, options);
}

// How far the corners are from where a shift of the scene has them, at most.
double corner_error(const RegistrationResult& found, Point expected) {
  double error = 0;
  for (const Point corner :
       {Point{0, 0}, Point{side - 1, 0}, Point{0, side - 1}, Point{side - 1, side - 1}}) {
    const Point at = found.matrix(corner);
    error = std::max(error, std::hypot(at.x - corner.x - expected.x, at.y - corner.y - expected.y));
  }
  return error;
}

// Dark spots of 10 x 10 pixels.
Sensor dust() {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int64_t> place(8, side - 9);
  std::vector<double> light(side * side, 1);
  for (int spot = 0; spot < 60; ++spot) {
    const std::int64_t left = place(random) - 5;
    const std::int64_t top = place(random) - 5;
    for (std::int64_t y = top; y < top + 10; ++y) {
      for (std::int64_t x = left; x < left + 10; ++x) {
        light[static_cast<std::size_t>(y * side + x)] = 0.3;
      }
    }
  }
  return [light](std::int64_t x, std::int64_t y, double value) {
    return light[static_cast<std::size_t>(y * side + x)] * value;
  };
}

// 25 bright columns and 25 bright rows over half the light.
Sensor bright_lines() {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::size_t> line(0, side - 1);
  std::vector<double> columns(side, 0), rows(side, 0);
  for (int i = 0; i < 25; ++i) columns[line(random)] = 60;
  for (int i = 0; i < 25; ++i) rows[line(random)] = 40;
  return [=](std::int64_t x, std::int64_t y, double value) {
    return 0.5 * value + columns[static_cast<std::size_t>(x)] + rows[static_cast<std::size_t>(y)];
  };
}

// A cross of two dark lines, four pixels wide.
double cross(std::int64_t x, std::int64_t y, double value) {
  return std::abs(x - 160) < 2 || std::abs(y - 140) < 2 ? 5 : value;
}

double clean(std::int64_t /*x*/, std::int64_t /*y*/, double value) { return value; }

// Each pixel with an offset.
Sensor noisy_pixels(double strength) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> offsets(side * side);
  for (double& offset : offsets) offset = strength * normal(random);
  return [=](std::int64_t x, std::int64_t y, double value) {
    return 100 + 0.4 * value + offsets[static_cast<std::size_t>(y * side + x)];
  };
}

// What is right to a tenth of a pixel is what the check promises.
constexpr double allowed = 0.1;

}  // namespace

TEST_CASE(
    "fixed pattern: the motion is that of the scene, not a blend with dust, lines or a cross") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const char* name : {"bridge.jpg", "gravel.png"}) {
      for (const Sensor& sensor : {dust(), bright_lines(), Sensor(cross)}) {
        CAPTURE(name);
        const RegistrationResult found = registered(device, shown(name, shift, sensor, 1));
        CHECK(found.reliable);
        CHECK(corner_error(found, shift) <= allowed);
      }
    }
  });
}

TEST_CASE(
    "fixed pattern: two motions of which neither is clear are ambiguous, and both are listed") {
  // Half of the pixels show another photograph, which stands still.
  const reference::Plane fixed = test::photograph("gravel.png");
  const Sensor halves = [&](std::int64_t x, std::int64_t y, double value) {
    return x + y < side ? fixed.at(x + 180, y + 200) : value;
  };
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationResult found = registered(device, shown("gravel.png", shift, halves, 2));
    CHECK_FALSE(found.reliable);
    CHECK(found.ambiguous);
    REQUIRE(found.runners_up.size() >= 1);
    const auto distance = [](const warpalign::Alignment& alignment, Point from) {
      const Point at = alignment.similarity.translation;
      return std::hypot(at.x - from.x, at.y - from.y);
    };
    // The second one is listed as the search has met it, which may be a blend.
    constexpr double near = 2;
    CHECK(std::min(distance(found, shift), distance(found.runners_up[0], shift)) <= allowed);
    CHECK(std::min(distance(found, {0, 0}), distance(found.runners_up[0], {0, 0})) <= near);
  });
}

TEST_CASE("fixed pattern: under noise of every pixel an answer is right or refused") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double strength : {5, 15, 30, 60}) {
      CAPTURE(strength);
      const RegistrationResult found =
          registered(device, shown("gravel.png", shift, noisy_pixels(strength), 1));
      const double error = std::min(corner_error(found, shift), corner_error(found, {0, 0}));
      CHECK((!found.reliable || error <= allowed));
      if (strength < 10) CHECK(found.reliable);
    }
  });
}

TEST_CASE("fixed pattern: noise as strong as a scene does not pass for it") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double strength : {30, 40}) {
      CAPTURE(strength);
      const RegistrationResult found =
          registered(device, shown("gravel.png", shift, noisy_pixels(strength), 1));
      CHECK((!found.reliable || corner_error(found, shift) <= allowed));
      // The difference of the images leads to the scene, whose fit is as exact as the noise allows.
      if (strength > 30) CHECK(corner_error(found, shift) <= 0.5);
    }
  });
}

TEST_CASE("fixed pattern: the difference of two images tells where the scene has moved") {
  test::on_every_device([&](const warpalign::Device& device) {
    auto stream = device.make_stream();
    warpalign::detail::StageClock clock(stream);
    warpalign::detail::DifferenceShift difference(device);
    const auto found = [&](const Shown& pair) {
      const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
      const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
      return difference.find(clock, {side, side, reference, moving, {}, {}}, 1);
    };
    const auto moved = found(shown("gravel.png", shift, noisy_pixels(20), 1));
    REQUIRE(moved);
    const double sign = (*moved)[1] * shift.y > 0 ? 1 : -1;
    CHECK(std::abs(sign * (*moved)[0] - shift.x) <= 1);
    CHECK(std::abs(sign * (*moved)[1] - shift.y) <= 1);
    CHECK_FALSE(found(shown("gravel.png", {0, 0}, noisy_pixels(20), 3)));
  });
}

TEST_CASE("fixed pattern: the residual of aligned images shows a pattern, and nothing else") {
  const warpalign::Homography truth{warpalign::Affine::translation(shift.x, shift.y)};
  const auto trace_of = [&](const Shown& pair) {
    const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
    const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
    return warpalign::detail::PatternTrace().find({side, side, reference, moving, {}, {}}, truth,
                                                  1);
  };
  // Of a pattern alone it is -0.5; noise of the images, and dust that covers little, lead to less.
  for (const Sensor& sensor : {noisy_pixels(20), dust(), bright_lines()}) {
    CHECK(trace_of(shown("gravel.png", shift, sensor, 1)) < -0.2);
  }
  CHECK(trace_of(shown("gravel.png", shift, clean, 8)) == 0);
  CHECK(trace_of(shown("bridge.jpg", shift, clean, 8)) == 0);
  // Two views that differ in more than noise: one is blurred.
  Shown blurred = shown("bridge.jpg", shift, clean, 1);
  for (std::size_t i = 2; i + 2 < blurred.moving.size(); ++i) {
    blurred.moving[i] = static_cast<std::uint8_t>(
        (blurred.moving[i - 1] + blurred.moving[i] + blurred.moving[i + 1]) / 3);
  }
  CHECK(trace_of(blurred) == 0);
}

TEST_CASE("fixed pattern: a cross that matches itself upside down is not accepted") {
  // Bright lines and rings about the centre over a dim scene, which moves.
  const Sensor reticle = [](std::int64_t x, std::int64_t y, double value) {
    const double u = static_cast<double>(x) - (side - 1) / 2.0,
                 v = static_cast<double>(y) - (side - 1) / 2.0;
    const double radius = std::hypot(u, v);
    const bool drawn = std::abs(u) < 2 || std::abs(v) < 2 || std::abs(radius - 60) < 2 ||
                       std::abs(radius - 110) < 2;
    return drawn ? 250 : 0.1 * value;
  };
  const Point moved{7, -5};
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationResult found = registered(device, shown("gravel.png", moved, reticle, 2));
    const double error = std::min(corner_error(found, moved), corner_error(found, {0, 0}));
    CHECK((!found.reliable || error <= allowed));
  });
}

TEST_CASE("fixed pattern: fine structure agrees more than coarser only under noise of pixels") {
  const auto agreement = [&](const Shown& pair) {
    const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
    const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
    return warpalign::detail::fine_agreement({side, side, reference, moving, {}, {}});
  };
  CHECK(agreement(shown("gravel.png", shift, noisy_pixels(30), 1)) > 0.2);
  CHECK(agreement(shown("gravel.png", shift, clean, 3)) < 0.05);
  CHECK(agreement(shown("gravel.png", {0, 0}, clean, 8)) < 0.05);
  CHECK(agreement(shown("bridge.jpg", {0, 0}, dust(), 3)) < 0.05);
  CHECK(agreement(shown("bridge.jpg", {0, 0}, noisy_pixels(20), 3)) < 0.05);
  // A part of another photograph, which moves over one that does not, under another light.
  const reference::Plane object = test::photograph("gravel.png");
  Shown pair = shown("bridge.jpg", {0, 0}, clean, 3);
  for (std::int64_t y = 0; y < 90; ++y) {
    for (std::int64_t x = 0; x < 90; ++x) {
      const auto value = static_cast<std::uint8_t>(object.at(x + 40, y + 40));
      pair.reference[static_cast<std::size_t>((y + 20) * side + x + 20)] = value;
      pair.moving[static_cast<std::size_t>((y + 29) * side + x + 34)] = value;
    }
  }
  for (std::size_t i = 0; i < pair.moving.size(); ++i) {
    const double light = 0.75 + 0.25 * std::sin(0.03 * static_cast<double>(i % side));
    pair.moving[i] = static_cast<std::uint8_t>(light * pair.moving[i]);
  }
  CHECK(agreement(pair) < 0.05);
}

TEST_CASE("fixed pattern: a level shows signs of a pattern, and none without one") {
  warpalign::detail::SensorSigns signs;
  const auto any = [&](const Shown& pair, Point moved, double correlation) {
    const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
    const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
    const warpalign::Homography answer(warpalign::Affine::translation(moved.x, moved.y));
    return signs.any({side, side, reference, moving, {}, {}},
                     {answer, std::hypot(moved.x, moved.y), 1, correlation});
  };
  constexpr Point still{0, 0}, near{3, 0};
  CHECK(any(shown("gravel.png", shift, dust(), 1), shift, 0.9));
  CHECK(any(shown("gravel.png", shift, noisy_pixels(30), 1), shift, 0.5));  // in the residual
  CHECK(any(shown("gravel.png", shift, noisy_pixels(30), 1), still, 0.5));  // in fine structure
  CHECK(any(shown("bridge.jpg", shift, dust(), 1), still, 0.98));           // in changes
  CHECK_FALSE(any(shown("gravel.png", shift, clean, 3), shift, 0.9));
  CHECK_FALSE(any(shown("bridge.jpg", shift, clean, 1), shift, 0.98));
  CHECK_FALSE(any(shown("bridge.jpg", near, clean, 1), near, 0.98));
  CHECK_FALSE(any(shown("bridge.jpg", still, clean, 3), still, 0.9));
  CHECK_FALSE(any(shown("bridge.jpg", still, dust(), 3), still, 0.9));
  CHECK(warpalign::detail::is_beyond_reach(side / 4.0 + 1, {side, side, 1}));
  CHECK_FALSE(warpalign::detail::is_beyond_reach(side / 4.0 - 1, {side, side, 1}));
}

TEST_CASE("fixed pattern: images that stand still stay so, whatever they show") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Sensor& sensor : {dust(), bright_lines(), Sensor(clean)}) {
      const RegistrationResult found = registered(device, shown("bridge.jpg", {0, 0}, sensor, 3));
      CHECK(found.reliable);
      CHECK(corner_error(found, {0, 0}) <= allowed);
    }
  });
}

TEST_CASE("fixed pattern: the votes are those of the larger part") {
  const Shown pair = shown("gravel.png", shift, dust());
  const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
  const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
  const auto scene = warpalign::Homography(warpalign::Affine::translation(shift.x, shift.y));
  warpalign::detail::FixedPattern pattern;
  pattern.take({side, side, reference, moving, {}, {}});
  // 60 spots of 100 pixels are 7 % of the pixels; about as many vote for the sensor.
  CHECK(pattern.votes(scene).sensor_part() > 0.02);
  CHECK(pattern.votes(scene).sensor_part() < 0.2);
  CHECK(pattern.changed_part() > 0.5);  // the spots are the smaller part of the structure
  const Shown without = shown("gravel.png", shift, clean);
  const std::vector<float> first(without.reference.begin(), without.reference.end());
  const std::vector<float> second(without.moving.begin(), without.moving.end());
  pattern.take({side, side, first, second, {}, {}});
  CHECK(pattern.votes(scene).sensor_part() < 0.01);
  pattern.take({side, side, first, first, {}, {}});
  CHECK(pattern.changed_part() == 0);
}

TEST_CASE("fixed pattern: masked pixels are no part of it, whatever they hold") {
  struct Findings {
    warpalign::detail::MotionVotes votes;
    double gain, pattern, still, changed;
    bool operator==(const Findings& other) const {
      return votes.scene == other.votes.scene && votes.sensor == other.votes.sensor &&
             votes.chance == other.votes.chance && gain == other.gain && pattern == other.pattern &&
             still == other.still && changed == other.changed;
    }
  };
  const Shown pair = shown("gravel.png", shift, clean, 1);
  const auto is_hole = [](std::size_t i) { return i % side % 30 < 10 && i / side % 30 < 10; };
  std::vector<float> weight(side * side);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = is_hole(i) ? 0 : 1;
  // `masks`: of the reference and of the moving image.
  const auto findings = [&](Point answer, float in_holes, std::array<bool, 2> masks) {
    std::vector<float> reference(pair.reference.begin(), pair.reference.end());
    std::vector<float> moving(pair.moving.begin(), pair.moving.end());
    std::vector<float> weights[2];
    for (const std::size_t which : {0, 1}) {
      if (!masks[which]) continue;
      weights[which] = weight;
      std::vector<float>& image = which == 0 ? reference : moving;
      for (std::size_t i = 0; i < image.size(); ++i) image[i] = is_hole(i) ? in_holes : image[i];
    }
    warpalign::detail::FixedPattern pattern;
    pattern.take({side, side, reference, moving, weights[0], weights[1]});
    const auto scene = warpalign::Homography(warpalign::Affine::translation(answer.x, answer.y));
    const auto count = [](std::span<const std::uint8_t> pixels) {
      return static_cast<double>(std::count(pixels.begin(), pixels.end(), std::uint8_t{1}));
    };
    return Findings{pattern.votes(scene), static_cast<double>(pattern.gain()),
                    count(pattern.pattern(scene)), count(pattern.still_pattern()),
                    pattern.changed_part()};
  };
  const Findings whole = findings(shift, 0, {false, false});
  // At the second answer, pixels beside holes are interpolated.
  for (const Point answer : {shift, Point{shift.x + 0.5, shift.y - 0.5}}) {
    for (const std::array<bool, 2> masks : {std::array{true, true}, {true, false}, {false, true}}) {
      CAPTURE(answer.x);
      CAPTURE(masks[0]);
      CAPTURE(masks[1]);
      const Findings found = findings(answer, 0, masks);
      CHECK(found == findings(answer, 255, masks));
      CHECK(found.votes.scene > 0.5 * whole.votes.scene);
      // Nothing is fixed. The part that is a sign of a pattern is 0.004 (sensor_signs.cpp).
      CHECK(found.votes.sensor < 0.0004 * found.votes.scene);
      CHECK(found.pattern < 0.0004 * side * side);
      // The holes are a ninth of the pixels, and chance keeps some structure.
      CHECK(found.still < 1.1 * whole.still);
      CHECK(std::abs(found.changed - whole.changed) < 0.02);
    }
  }
}

TEST_CASE("fixed pattern: the pattern covers the spots, in sensor coordinates") {
  const Sensor spots = dust();
  const Shown pair = shown("gravel.png", shift, spots);
  const std::vector<float> reference(pair.reference.begin(), pair.reference.end());
  const std::vector<float> moving(pair.moving.begin(), pair.moving.end());
  warpalign::detail::FixedPattern pattern;
  pattern.take({side, side, reference, moving, {}, {}});
  const auto found =
      pattern.pattern(warpalign::Homography(warpalign::Affine::translation(shift.x, shift.y)));
  double spotted = 0, covered = 0, other = 0;
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      const bool is_spot = spots(x, y, 1) < 1;
      const bool is_found = found[static_cast<std::size_t>(y * side + x)] != 0;
      spotted += is_spot ? 1 : 0;
      covered += is_spot && is_found ? 1 : 0;
      other += !is_spot && is_found ? 1 : 0;
    }
  }
  CHECK(covered > 0.9 * spotted);
  CHECK(other < 0.25 * side * side);  // the margins, which double the spots, and some chance
}

TEST_CASE(
    "fixed pattern: lines of the sensor are distinguished from those of a scene, and subtracted") {
  const auto floats = [](const std::vector<std::uint8_t>& values) {
    return std::vector<float>(values.begin(), values.end());
  };
  warpalign::detail::LinePattern lines;
  const Shown without = shown("bridge.jpg", shift, clean);
  CHECK_FALSE(lines.find(floats(without.reference), floats(without.moving), side, side, 1));
  const Sensor half = [](std::int64_t, std::int64_t, double value) { return 0.5 * value; };
  const Shown scene = shown("bridge.jpg", shift, half);
  const Shown pair = shown("bridge.jpg", shift, bright_lines());
  std::vector<float> reference = floats(pair.reference);
  std::vector<float> moving = floats(pair.moving);
  REQUIRE(lines.find(reference, moving, side, side, 1));
  lines.subtract(reference, moving);
  // Of the pattern, whose mean square is 25 / 300 of 60^2 and of 40^2, a fiftieth is left.
  double squares = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double error = static_cast<double>(reference[i]) - scene.reference[i];
    squares += error * error;
  }
  CHECK(squares / static_cast<double>(reference.size()) < (3600.0 + 1600) * 25 / 300 / 50);
}
