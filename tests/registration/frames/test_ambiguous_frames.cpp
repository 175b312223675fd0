// Frames of a texture that repeats itself: accepted only where the frame before tells which of the
// equal shifts is right.
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::FrameRegistrar;
using warpalign::HostImage;
using warpalign::Motion;
using warpalign::MotionPrior;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;

constexpr std::int64_t width = 200;
constexpr std::int64_t height = 180;
constexpr double noise = 0.3;  // of texture with a standard deviation of about 1

using Pixels = std::vector<float>;

HostImage view(const Pixels& pixels) { return {pixels.data(), PixelType::f32, width, height, 0}; }

/// A texture that (18, 0) and (0, 16) repeat, shifted, with noise of its own.
Pixels lattice(Point shift, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(0, noise);
  Pixels pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double u = 2 * std::numbers::pi * (static_cast<double>(x) - shift.x) / 18;
      const double v = 2 * std::numbers::pi * (static_cast<double>(y) - shift.y) / 16;
      const double value = std::cos(u) + std::cos(v) + 0.6 * std::cos(u + v + 1) +
                           0.5 * std::cos(2 * u - v) + 0.4 * std::cos(2 * v + 0.3);
      pixels.push_back(static_cast<float>(value / 1.2 + error(random)));
    }
  }
  return pixels;
}

/// Frames that drift by `step` each.
std::vector<Pixels> drifting(Point step, int count) {
  std::vector<Pixels> frames;
  for (int i = 0; i < count; ++i) {
    frames.push_back(lattice({i * step.x, i * step.y}, static_cast<std::uint32_t>(i + 1)));
  }
  return frames;
}

double error_of(const Affine& matrix, Point expected) {
  return std::hypot(matrix.c - expected.x, matrix.f - expected.y);
}

// Noise of a third of the texture's height moves a fit by some hundredths of a pixel.
constexpr double accuracy = 0.1;

}  // namespace

TEST_CASE("ambiguous frames: frames of a repeating texture are not accepted by themselves") {
  const std::vector<Pixels> frames = drifting({2.5, 1.5}, 6);
  std::vector<HostImage> views;
  for (const Pixels& frame : frames) views.push_back(view(frame));
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::similarity}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      FrameRegistrar registrar(device, options);
      registrar.set_reference(views.front());
      for (const auto& outcome : registrar.align(std::span(views).subspan(1))) {
        REQUIRE(outcome.result);
        CHECK_FALSE(outcome.result->reliable);
        CHECK(outcome.result->ambiguous);
      }
    }
  });
}

TEST_CASE("ambiguous frames: the frame before decides, while the drift is below a quarter period") {
  constexpr int count = 10;  // the last one has drifted by 1.25 periods
  const Point step{2.5, -1.5};
  const std::vector<Pixels> frames = drifting(step, count);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      FrameRegistrar to_first(device, options);
      to_first.set_reference(view(frames.front()));
      MotionPrior prior;
      for (int i = 1; i < count; ++i) {
        CAPTURE(i);
        const RegistrationResult found = to_first.align(view(frames[i]), prior);
        CHECK(found.reliable);
        CHECK_FALSE(found.ambiguous);
        CHECK(error_of(found.matrix, {i * step.x, i * step.y}) < accuracy);
        prior.matrix = found.matrix;
      }
      // Without the prior the smallest motion is the answer again.
      CHECK(to_first.align(view(frames.back())).ambiguous);
      FrameRegistrar to_previous(device, options, 1);
      for (int i = 1; i < count; ++i) {
        CAPTURE(i);
        to_previous.set_reference(view(frames[i - 1]));
        const RegistrationResult found = to_previous.align(view(frames[i]), MotionPrior{});
        CHECK(found.reliable);
        CHECK(error_of(found.matrix, step) < accuracy);
      }
    }
  });
}

TEST_CASE("ambiguous frames: a drift that is no small part of a period stays ambiguous") {
  const std::vector<Pixels> frames = drifting({7, 0}, 2);  // 18 repeats it: (-11, 0) is as good
  const std::vector<Pixels> slow = drifting({3, 0}, 2);
  RegistrationOptions options;
  options.motion = Motion::translation;
  test::on_every_device([&](const warpalign::Device& device) {
    FrameRegistrar registrar(device, options);
    registrar.set_reference(view(frames.front()));
    const RegistrationResult found = registrar.align(view(frames.back()), MotionPrior{});
    CHECK_FALSE(found.reliable);
    CHECK(found.ambiguous);
    CHECK(found.period.size() == 2);
    // With a frame missing in between, a slow drift might have been one of several periods.
    CHECK(registrar.align(view(slow.back()), MotionPrior{}).reliable);
    CHECK(registrar.align(view(slow.back()), MotionPrior{Affine{}, 2}).ambiguous);
  });
}

TEST_CASE("ambiguous frames: a prior that is not finite, or not earlier, is refused") {
  const Pixels frame = lattice({0, 0}, 1);
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(registrar.set_prior(MotionPrior{Affine::translation(nan, 0), 1}),
                    warpalign::Error);
    CHECK_THROWS_AS(registrar.set_prior(MotionPrior{Affine{}, 0}), warpalign::Error);
    registrar.set_prior(std::nullopt);
    FrameRegistrar frames(device);
    CHECK_THROWS_AS(static_cast<void>(frames.align(view(frame), MotionPrior{})), warpalign::Error);
  });
}

TEST_CASE("ambiguous frames: each frame looks near its own initial transform") {
  const std::vector<Pixels> frames = drifting({7, -5}, 4);  // not below a quarter period
  std::vector<HostImage> views;
  std::vector<warpalign::Homography> rough;
  for (int i = 1; i < 4; ++i) {
    views.push_back(view(frames[i]));
    rough.emplace_back(Affine::translation(7.0 * i + 2, -5.0 * i - 3));
  }
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::similarity}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      FrameRegistrar registrar(device, options);
      registrar.set_reference(view(frames.front()));
      const auto found = registrar.align(views, rough);
      REQUIRE(found.size() == 3);
      for (int i = 1; i < 4; ++i) {
        CAPTURE(i);
        REQUIRE(found[i - 1].result);
        CHECK(found[i - 1].result->reliable);
        CHECK(error_of(found[i - 1].result->matrix, {7.0 * i, -5.0 * i}) < accuracy);
      }
      CHECK(registrar.align(views[0], rough[0]).reliable);
      CHECK(registrar.align(views[0]).ambiguous);  // the transform is for that call only
      const auto refused = [&](std::vector<warpalign::Homography> initial, const char* why) {
        CHECK_THROWS_WITH_AS((void)registrar.align(views, initial), doctest::Contains(why),
                             warpalign::Error);
      };
      refused({rough[0], rough[1]}, "there are 3 frames, but 2 initial transforms");
      refused({rough[0], rough[1], Affine{-1, 0, 199, 0, 1, 0}}, "frame 2: the initial transform");
      refused({rough[0], Affine{1, 1, 0, 1, 1, 0}, rough[2]}, "singular");
      refused({Affine::translation(300, 0), rough[1], rough[2]}, "puts the images apart");
    }
  });
}
