// The sums for a step on the shift of each window against the oracle, on every device.
#include "reference/refinement/shift_sums.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/error.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::Image;
using warpalign::PixelType;
using warpalign::ShiftState;
using warpalign::ShiftSums;
using warpalign::ShiftSumsPlan;

constexpr std::int64_t width = 71;
constexpr std::int64_t height = 90;
constexpr std::array<float, 2> reference_means{3.0F, -1.0F};
constexpr std::array<float, 4> frame_means{2.0F, 0.5F, -3.0F, 1.0F};

std::array<double, 25> as_array(const ShiftSums& s) {
  return {s.weight, s.r,     s.m,     s.rr,    s.mm,    s.rm,     s.rx,      s.ry,    s.rx_r,
          s.ry_r,   s.mx,    s.my,    s.mx_r,  s.my_r,  s.mx_m,   s.my_m,    s.mx_rx, s.mx_ry,
          s.my_rx,  s.my_ry, s.mx_mx, s.mx_my, s.my_my, s.pixels, s.absolute};
}

reference::ShiftedWindow window_of(const ShiftState& s, std::size_t number) {
  reference::ShiftedWindow w;
  w.left = s.frame_x;
  w.top = s.frame_y;
  w.reference_x = s.reference_x + static_cast<double>(s.fraction_x);
  w.reference_y = s.reference_y + static_cast<double>(s.fraction_y);
  w.first_column = s.first_column;
  w.end_column = s.end_column;
  w.first_row = s.first_row;
  w.end_row = s.end_row;
  w.frame_mean = static_cast<double>(frame_means[number]);
  w.reference_mean = static_cast<double>(reference_means[number % 2]);
  w.gain = static_cast<double>(s.gain);
  w.offset = static_cast<double>(s.offset);
  w.scale = s.inverse_scale > 0 ? 1 / static_cast<double>(s.inverse_scale) : 0;
  return w;
}

template <std::size_t n>
warpalign::Buffer uploaded(const warpalign::Device& device, warpalign::Stream& stream,
                           const std::array<float, n>& values) {
  warpalign::Device on = device;
  warpalign::Buffer buffer = on.make_buffer(sizeof values);
  stream.upload(values.data(), sizeof values, buffer);
  return buffer;
}

Image stack_of(const warpalign::Device& device, warpalign::Stream& stream,
               const reference::Plane& frames) {
  const Image flat = test::to_device(device, stream, frames);
  Image stack = device.make_image(PixelType::f32, {width, height, 2});
  std::vector<float> pixels(frames.values.size());
  stream.download(flat, pixels.data(), pixels.size() * sizeof(float));
  stream.upload(pixels.data(), pixels.size() * sizeof(float), stack.buffer());
  return stack;
}

// Two frames in one image, one above the other, with two windows each.
std::vector<ShiftSums> sums_of(const warpalign::Device& device, const reference::Plane& frames,
                               const reference::Plane& reference,
                               const std::vector<ShiftState>& states, int parts) {
  auto stream = device.make_stream();
  const Image known = test::to_device(device, stream, reference);
  const Image stack = stack_of(device, stream, frames);
  std::vector<ShiftSums> sums(states.size());
  ShiftSumsPlan(device, {{width, height, 1}, 2, 2, parts})
      .execute(stream, stack, known, uploaded(device, stream, frame_means),
               uploaded(device, stream, reference_means), states, sums);
  return sums;
}

std::vector<ShiftState> some_states() {
  return {{1, 1, 1, 1, 0, 69 - 1, 0, 88 - 1, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1},
          {5, 9, 3, 11, 2, 50, 1, 65, 0.25F, 0.875F, 0.7F, -0.2F, 0.0F, 1},
          {20, 30, 22, 28, 0, 33, 0, 32, 0.5F, 0.125F, 1.2F, 0.3F, 0.3F, 1},
          {-3, 40, 10, 38, 4, 40, 0, 31, 0.99F, 0.01F, -0.5F, 0.0F, 0.5F, 1}};
}

reference::Plane frame_of(const reference::Plane& frames, std::int64_t number) {
  reference::Plane frame(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) frame.at(x, y) = frames.at(x, number * height + y);
  }
  return frame;
}

void compare(const warpalign::Device& device, const reference::Plane& frames,
             const reference::Plane& known, int parts) {
  const std::vector<ShiftState> states = some_states();
  const auto found = sums_of(device, frames, known, states, parts);
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    const auto expected = reference::shift_sums(frame_of(frames, static_cast<std::int64_t>(i / 2)),
                                                known, window_of(states[i], i));
    const auto sums = as_array(found[i]);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      CAPTURE(k);
      // Up to 6000 terms of about 10, of either sign, in single precision. Each term has a
      // relative rounding error of 6e-8, and so has each partial sum of a part.
      CHECK(std::abs(sums[k] - expected[k]) <= 1e-6 * 10 * expected[23] + 1e-5);
    }
  }
}

}  // namespace

TEST_CASE("shift_sums: agree with the oracle, undivided and in parts") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    for (const int parts : {1, 3, 40}) {
      CAPTURE(parts);
      compare(device, frames, known, parts);
    }
  });
}

TEST_CASE(
    "shift_sums: non-finite pixels do not count, nor do pixels that were smoothed with them") {
  test::on_every_device([](const warpalign::Device& device) {
    auto frames = test::random_plane(width, 2 * height, -4, 4, 9);
    auto known = test::random_plane(width, height, -4, 4, 10);
    frames.at(12, 30) = std::numeric_limits<double>::quiet_NaN();
    known.at(40, 40) = std::numeric_limits<double>::infinity();
    compare(device, frames, known, 2);
  });
}

TEST_CASE("shift_sums: inactive windows keep their sums") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    std::vector<ShiftState> states = some_states();
    states[1].active = 0;
    const auto found = sums_of(device, frames, known, states, 2);
    CHECK(found[1].pixels == 0);
    CHECK(found[0].pixels > 0);
    CHECK(found[2].pixels > 0);
  });
}

TEST_CASE("shift_sums: windows that are grouped are summed, and also returned one by one") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    // Both windows of a frame have the frame's mean. No pixel of the last window counts.
    std::vector<ShiftState> states = some_states();
    states[3].end_column = states[3].first_column;
    const ShiftSumsPlan plan(device, {{width, height, 1}, 2, 2, 3, 2});
    const std::array<float, 2> means{frame_means[0], frame_means[2]};
    const std::array<float, 1> mean_of_reference{reference_means[0]};
    std::vector<ShiftSums> sums(2);
    std::vector<ShiftSums> each(4);
    const auto run = [&] {
      plan.execute(stream, stack_of(device, stream, frames), test::to_device(device, stream, known),
                   uploaded(device, stream, means), uploaded(device, stream, mean_of_reference),
                   states, sums);
      plan.fetch_windows(stream, each);
    };
    run();
    const auto both = [&](std::size_t a, std::size_t b, std::size_t k) {
      return as_array(each[a])[k] + as_array(each[b])[k];
    };
    for (std::size_t k = 0; k < 25; ++k) {
      CAPTURE(k);
      // The test adds the same floats in double precision, the kernel in pairs of floats.
      CHECK(as_array(sums[0])[k] == doctest::Approx(both(0, 1, k)).epsilon(1e-12));
      CHECK(as_array(sums[1])[k] == doctest::Approx(both(2, 3, k)).epsilon(1e-12));
    }
    CHECK(each[3].pixels == 0);
    auto window = window_of(states[2], 2);
    window.reference_mean = static_cast<double>(reference_means[0]);
    const auto expected = reference::shift_sums(frame_of(frames, 1), known, window);
    for (std::size_t k = 0; k < 25; ++k) {
      CAPTURE(k);
      CHECK(std::abs(as_array(each[2])[k] - expected[k]) <= 1e-6 * 10 * expected[23] + 1e-5);
    }
    // Inactive windows keep their sums.
    states[0].active = states[1].active = 0;
    const std::vector<ShiftSums> before = each;
    sums[0].pixels = -1;
    run();
    CHECK(sums[0].pixels == -1);
    CHECK(as_array(each[0]) == as_array(before[0]));
    CHECK(as_array(each[1]) == as_array(before[1]));
  });
}

TEST_CASE("shift_sums: windows that reach beyond the images are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frames = test::random_plane(width, 2 * height, -4, 4, 7);
    const auto known = test::random_plane(width, height, -4, 4, 8);
    const auto refused = [&](auto change) {
      std::vector<ShiftState> states = some_states();
      change(states[1]);
      CHECK_THROWS_AS(sums_of(device, frames, known, states, 1), warpalign::Error);
    };
    refused([](ShiftState& s) { s.frame_x = -2; });
    refused([](ShiftState& s) { s.frame_y = -1; });
    refused([](ShiftState& s) { s.reference_x = -2; });
    refused([](ShiftState& s) { s.end_column = 67; });
    refused([](ShiftState& s) { s.end_row = 78; });
    CHECK_THROWS_AS(sums_of(device, frames, known, {}, 1), warpalign::Error);
    CHECK_THROWS_AS(ShiftSumsPlan(device, {{width, height, 1}, 1, 1, 0}), warpalign::Error);
    CHECK_THROWS_AS(ShiftSumsPlan(device, {{width, height, 1}, 3, 1, 1, 2}), warpalign::Error);
  });
}
