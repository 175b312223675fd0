// Apodized windows against the oracle, on every device.
#include "reference/filter/apodize.hpp"
#include "reference/filter/cut_windows.hpp"
#include "reference/filter/sobel.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::CutWindowsPlan;
using warpalign::CutWindowsSpec;
using warpalign::PixelType;
using warpalign::Signal;
using warpalign::WindowOrigin;

constexpr std::int64_t frame_width = 83;
constexpr std::int64_t frame_height = 57;

std::vector<reference::Plane> random_frames() {
  std::vector<reference::Plane> frames;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    frames.push_back(test::random_plane(frame_width, frame_height, 900, 1100, seed));
  }
  return frames;
}

warpalign::Image stacked(const warpalign::Device& device, warpalign::Stream& stream,
                         const std::vector<reference::Plane>& frames) {
  reference::Plane all(frame_width, frame_height * static_cast<std::int64_t>(frames.size()));
  auto next = all.values.begin();
  for (const reference::Plane& frame : frames) {
    next = std::copy(frame.values.begin(), frame.values.end(), next);
  }
  const warpalign::Image flat = test::to_device(device, stream, all);
  warpalign::Device on = device;
  warpalign::Image image = on.make_image(
      PixelType::f32, {frame_width, frame_height, static_cast<std::int64_t>(frames.size())});
  std::vector<float> pixels(all.values.size());
  stream.download(flat, pixels.data(), pixels.size() * sizeof(float));
  stream.upload(pixels.data(), pixels.size() * sizeof(float), image.buffer());
  return image;
}

void compare(const warpalign::Device& device, const std::vector<reference::Plane>& frames,
             const warpalign::Shape& window) {
  CutWindowsSpec spec{{frame_width, frame_height, 1},
                      static_cast<std::int64_t>(frames.size()),
                      {{0, 0}, {17, 5}},
                      window};
  spec.origins.push_back({static_cast<std::int32_t>(frame_width - window.width),
                          static_cast<std::int32_t>(frame_height - window.height)});
  auto stream = device.make_stream();
  const auto input = stacked(device, stream, frames);
  warpalign::Device on = device;
  auto means = on.make_buffer(frames.size() * spec.origins.size() * sizeof(float));
  auto output = on.make_image(PixelType::f32, CutWindowsPlan::windows_shape(spec));
  test::poison(stream, output);
  CutWindowsPlan(device, spec).execute(stream, input, means, output);
  std::vector<float> found_means(frames.size() * spec.origins.size());
  stream.download(means, found_means.data(), found_means.size() * sizeof(float));
  for (std::size_t i = 0; i < found_means.size(); ++i) {
    CAPTURE(i);
    const WindowOrigin& origin = spec.origins[i % spec.origins.size()];
    const reference::CutWindow expected = reference::cut_window(
        frames[i / spec.origins.size()], origin.x, origin.y, window.width, window.height);
    // Sums of thousands of values near 1000 in single precision: a few ulp of 1000 (6e-5) each.
    CHECK(std::abs(static_cast<double>(found_means[i]) - expected.mean) <= 1e-3);
    CHECK(test::max_difference(test::from_device(stream, output, static_cast<std::int64_t>(i)),
                               expected.pixels) <= 1e-3);
  }
}

// The pixels of a window or their gradient, computed without pixels outside the window.
reference::Plane signal_of(const reference::Plane& frame, const WindowOrigin& origin,
                           const CutWindowsSpec& spec) {
  const reference::Plane window =
      reference::part_of(frame, origin.x, origin.y, spec.window.width, spec.window.height);
  return spec.signal == Signal::gradient ? reference::sobel(window) : window;
}

// Cuts two of three windows, starting with the second, into larger slices.
void compare_padded(const warpalign::Device& device, const reference::Plane& frame,
                    CutWindowsSpec spec, double tolerance) {
  spec.frame = {frame_width, frame_height, 1};
  spec.origins = {{0, 0}, {17, 5}, {3, 20}};
  auto stream = device.make_stream();
  warpalign::Device on = device;
  auto means = on.make_buffer(2 * sizeof(float));
  auto output = on.make_image(PixelType::f32, {spec.padded.width, spec.padded.height, 2});
  test::poison(stream, output);
  CutWindowsPlan(device, spec)
      .execute(stream, test::to_device(device, stream, frame), {1, 2}, means, output);
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    const reference::Plane signal = signal_of(frame, spec.origins[i + 1], spec);
    const reference::Plane expected =
        reference::apodize(signal, reference::finite_mean(signal), spec.padded.width,
                           spec.padded.height, spec.weights == warpalign::Window::hann);
    CHECK(test::max_difference(test::from_device(stream, output, static_cast<std::int64_t>(i)),
                               expected) <= tolerance);
  }
}

}  // namespace

TEST_CASE("cut_windows: some windows in larger slices, pixels or gradients, weighted or not") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto frame = random_frames().front();
    auto with_hole = frame;
    with_hole.at(30, 25) = std::numeric_limits<double>::quiet_NaN();
    for (const auto weights : {warpalign::Window::hann, warpalign::Window::none}) {
      for (const warpalign::Shape& padded :
           {warpalign::Shape{33, 20, 1}, {48, 48, 1}, {64, 21, 1}}) {
        CAPTURE(padded.width);
        const warpalign::Shape window{33, 20, 1};
        // Pixels as above. Gradients are up to 1200, differences of sums of four times 1000, each
        // rounded to 2.5e-4.
        compare_padded(device, with_hole, {{}, 1, {}, window, padded, weights}, 1e-3);
        compare_padded(device, frame, {{}, 1, {}, window, padded, weights, Signal::gradient}, 2e-3);
      }
    }
  });
}

TEST_CASE("cut_windows: windows that do not exist are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    warpalign::Device on = device;
    const auto frames = on.make_image(PixelType::f32, {64, 64, 1});
    auto means = on.make_buffer(2 * sizeof(float));
    auto output = on.make_image(PixelType::f32, {32, 32, 2});
    const CutWindowsPlan plan(device, {{64, 64, 1}, 1, {{0, 0}, {1, 1}}, {32, 32, 1}});
    const auto refused = [&](const warpalign::WindowRange& range) {
      CHECK_THROWS_AS(plan.execute(stream, frames, range, means, output), warpalign::Error);
    };
    refused({-1, 2});
    refused({1, 2});
    refused({0, 0});
    refused({0, 1});  // the output has two slices
  });
}

TEST_CASE("cut_windows: agrees with the oracle at the edges and inside, in every frame") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const warpalign::Shape& window :
         {warpalign::Shape{16, 16, 1}, {33, 20, 1}, {64, 50, 1}, {66, 52, 1}}) {
      CAPTURE(window.width);
      compare(device, random_frames(), window);
    }
  });
}

TEST_CASE("cut_windows: pixels that are not finite count as the mean of the others") {
  test::on_every_device([](const warpalign::Device& device) {
    auto frames = random_frames();
    frames[1].at(20, 10) = std::numeric_limits<double>::quiet_NaN();
    frames[1].at(21, 10) = std::numeric_limits<double>::infinity();
    compare(device, frames, {32, 32, 1});
  });
}

TEST_CASE("cut_windows: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const CutWindowsSpec good{{64, 64, 1}, 1, {{0, 0}}, {32, 32, 1}};
    const auto refused = [&](auto change) {
      CutWindowsSpec spec = good;
      change(spec);
      CHECK_THROWS_AS(CutWindowsPlan(device, spec), warpalign::Error);
    };
    refused([](CutWindowsSpec& s) { s.origins = {{33, 0}}; });
    refused([](CutWindowsSpec& s) { s.origins = {{0, -1}}; });
    refused([](CutWindowsSpec& s) { s.origins = {}; });
    refused([](CutWindowsSpec& s) { s.frames = 0; });
    refused([](CutWindowsSpec& s) { s.window = {0, 8, 1}; });
    refused([](CutWindowsSpec& s) { s.padded = {31, 40, 1}; });
  });
}
