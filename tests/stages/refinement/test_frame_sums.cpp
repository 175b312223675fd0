// The sums for a step on the similarity of each frame against the oracle, on every device.
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/frame_sums.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>
#include <warpalign/error.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::FrameState;
using warpalign::FrameSums;
using warpalign::FrameSumsPlan;
using warpalign::Image;
using warpalign::PixelType;

constexpr std::int64_t width = 71;
constexpr std::int64_t height = 90;

// Images of the frames' size, one above the other in one image.
Image stack_of(const warpalign::Device& device, warpalign::Stream& stream,
               const reference::Plane& images) {
  const std::vector<float> pixels(images.values.begin(), images.values.end());
  Image stack =
      warpalign::Device(device).make_image(PixelType::f32, {width, height, images.height / height});
  stream.upload(pixels.data(), pixels.size() * sizeof(float), stack.buffer());
  return stack;
}

// Two frames with two cells each, and one reference or two.
std::vector<FrameSums> sums_of(const warpalign::Device& device, const reference::Plane& frames,
                               const reference::Plane& references,
                               const std::vector<FrameState>& states) {
  auto stream = device.make_stream();
  const Image stack = stack_of(device, stream, frames);
  const Image known = stack_of(device, stream, references);
  std::vector<FrameSums> sums(states.size());
  FrameSumsPlan(device, {{width, height, 1}, 2, 2, known.shape().depth})
      .execute(stream, stack, known, states, sums);
  return sums;
}

// These fractions and steps keep all points off the borders of a pixel's cell, where single
// precision and the oracle could choose different cells.
std::vector<FrameState> some_states() {
  return {{1,      width - 1, 1,    height - 1, 1,    1,    0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F,  //
           -34.0F, -44.0F,    2.0F, 3.0F,       0.0F, 0.0F, 0.0F, 1},
          {5,       50,      9,        65,      3,    11,    0.2503F, 0.8751F,
           0.9848F, 0.1736F, -0.1736F, 0.9848F,  //
           -20.5F,  -12.25F, 0.5F,     -1.0F,   0.7F, -0.2F, 0.0F,    1},
          {20,       53,      30,       62,       60,   70,   0.5003F, 0.1251F,
           -1.1111F, 0.0314F, -0.0314F, -1.1111F,  //
           24.5F,    25.0F,   -3.0F,    3.0F,     1.2F, 0.3F, 0.3F,    1},
          {1,       40,      40,       71,      -8,    70,   0.9901F, 0.0101F,
           0.7211F, 0.6107F, -0.6107F, 0.7211F,  //
           -3.0F,   4.0F,    1.0F,     -1.0F,   -0.5F, 0.0F, 0.5F,    1}};
}

reference::Plane frame_of(const reference::Plane& frames, std::int64_t number) {
  reference::Plane frame(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) frame.at(x, y) = frames.at(x, number * height + y);
  }
  return frame;
}

void compare(const warpalign::Device& device, const reference::Plane& frames,
             const reference::Plane& known) {
  const std::vector<FrameState> states = some_states();
  const auto found = sums_of(device, frames, known, states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    const auto frame = static_cast<std::int64_t>(i / 2);
    const auto reference = frame_of(known, known.height > height ? frame : 0);
    const auto expected =
        reference::frame_sums(frame_of(frames, frame), reference, test::cell_of(states[i]));
    const auto sums = test::in_oracle_order(found[i]);
    REQUIRE(sums.size() == expected.size());
    CHECK(expected[43] > 100);
    CHECK(sums[43] == expected[43]);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      CAPTURE(k);
      // Up to 6000 terms of about 10, of either sign, in single precision. Each term and each
      // partial sum has a relative rounding error of 6e-8, and the fraction of a point is off by
      // 1e-5 of a pixel, times the slope.
      CHECK(std::abs(sums[k] - expected[k]) <=
            test::size_of_terms(k) * (1e-6 * 10 * expected[43] + 1e-5));
    }
  }
}

}  // namespace

TEST_CASE("frame_sums: agree with the oracle, rotated, scaled and shifted") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    compare(device, frames, known);
  });
}

TEST_CASE("frame_sums: each frame with a reference of its own") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    compare(device, frames, test::random_plane(width, 2 * height, -4, 4, 11));
    const warpalign::Shape frame{width, height, 1};
    CHECK_THROWS_AS(FrameSumsPlan(device, {frame, 2, 3, 2}), warpalign::Error);
    auto stream = device.make_stream();
    const Image stack = stack_of(device, stream, frames);
    std::vector<FrameSums> sums(4);
    const FrameSumsPlan plan(device, {frame, 2, 2, 2});
    const Image one = stack_of(device, stream, frame_of(frames, 0));
    CHECK_THROWS_AS(plan.execute(stream, stack, one, some_states(), sums), warpalign::Error);
  });
}

TEST_CASE(
    "frame_sums: non-finite pixels do not count, nor do pixels that were smoothed with them") {
  test::on_every_device([](const warpalign::Device& device) {
    auto frames = test::random_plane(width, 2 * height, -4, 4, 9);
    auto known = test::random_plane(width, height, -4, 4, 10);
    frames.at(12, 30) = std::numeric_limits<double>::quiet_NaN();
    known.at(40, 40) = std::numeric_limits<double>::infinity();
    // At a sample only three neighbours lie within the spline; a kernel multiplies the fourth by
    // 0, which gives NaN for infinity. The first state, which is at samples, is therefore skipped.
    const std::vector<FrameState> states = some_states();
    const auto found = sums_of(device, frames, known, states);
    for (const std::size_t i : {1U, 2U, 3U}) {
      CAPTURE(i);
      const auto expected = reference::frame_sums(
          frame_of(frames, static_cast<std::int64_t>(i / 2)), known, test::cell_of(states[i]));
      CHECK(found[i].pixels == expected[43]);
      CHECK(std::isfinite(found[i].zj[10]));
    }
    // The pixels smoothed with the non-finite one: nine of the frame, and at least nine of the
    // reference.
    CHECK(found[0].pixels <= (width - 3) * (height - 3) - 18);
    CHECK(std::isfinite(found[0].rm));
  });
}

TEST_CASE("frame_sums: inactive cells keep their sums") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    std::vector<FrameState> states = some_states();
    states[1].active = 0;
    states[2].end_column = states[2].first_column;
    const auto found = sums_of(device, frames, known, states);
    CHECK(found[0].pixels > 0);
    CHECK(found[1].pixels == 0);
    CHECK(found[2].pixels == 0);
    CHECK(found[3].pixels > 0);
  });
}

TEST_CASE("frame_sums: a step towards the truth solves its equations") {
  test::on_every_device([](const warpalign::Device& device) {
    // An image against itself, moved by the parameters t: to first order, sum z e is the gain
    // times sum z j^T t.
    reference::Plane frames(width, 2 * height);
    const std::array<double, 4> moved{0.03, -0.02, 0.0005, -0.0004};
    const double cx = 35;
    const double cy = 45;
    const auto scene = [](double x, double y) {
      return 3 * std::sin(0.21 * x + 0.1 * y) + 2 * std::cos(0.17 * y - 0.13 * x + 1);
    };
    reference::Plane known(width, height);
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const double dx = static_cast<double>(x) - cx;
        const double dy = static_cast<double>(y) - cy;
        known.at(x, y) = scene(static_cast<double>(x), static_cast<double>(y));
        const double to_x = static_cast<double>(x) + moved[0] + moved[2] * dx + moved[3] * dy;
        const double to_y = static_cast<double>(y) + moved[1] + moved[2] * dy - moved[3] * dx;
        frames.at(x, y) = frames.at(x, y + height) = scene(to_x, to_y);
      }
    }
    std::vector<FrameState> states(4, FrameState{2, width - 3, 2, height - 3, 2, 2});
    for (FrameState& state : states) {
      state.from_centre_x = static_cast<float>(2 - cx);
      state.from_centre_y = static_cast<float>(2 - cy);
      state.gain = 1;
      state.active = 1;
    }
    const auto found = sums_of(device, frames, known, states);
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      double predicted = 0;
      for (std::size_t k = 0; k < 4; ++k) predicted += found[3].zj[4 * i + k] * moved[k];
      const double residual = found[3].zm[i] - found[3].zr[i];
      // The second-order terms of steps of hundredths of a pixel on waves of wavelength 6.
      CHECK(std::abs(residual - predicted) <= 0.02 * std::abs(found[3].zj[5 * i] * moved[i]));
    }
  });
}

TEST_CASE("frame_sums: cells that reach beyond the images are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    const auto refused = [&](auto change) {
      std::vector<FrameState> states = some_states();
      change(states[1]);
      CHECK_THROWS_AS(sums_of(device, frames, known, states), warpalign::Error);
    };
    refused([](FrameState& s) { s.first_column = 0; });
    refused([](FrameState& s) { s.first_row = 0; });
    refused([](FrameState& s) { s.end_column = width; });
    refused([](FrameState& s) { s.end_row = height; });
    refused([](FrameState& s) { s.reference_x = 1 << 30; });
    refused([](FrameState& s) { s.b = std::numeric_limits<float>::infinity(); });
    refused([](FrameState& s) { s.fraction_y = std::numeric_limits<float>::quiet_NaN(); });
    CHECK_THROWS_AS(sums_of(device, frames, known, {}), warpalign::Error);
    CHECK_THROWS_AS(FrameSumsPlan(device, {{width, height, 1}, 0, 1}), warpalign::Error);
  });
}
