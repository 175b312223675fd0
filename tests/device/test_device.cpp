// Devices, buffers, images, streams and marks, on every device.
#include "support/devices.hpp"

#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/stages/sobel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

using warpalign::Error;
using warpalign::PixelType;

TEST_CASE("device: its description is complete") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto& info = device.info();
    CHECK_FALSE(info.name.empty());
    CHECK_FALSE(info.platform.empty());
    CHECK_FALSE(info.driver.empty());
    CHECK_FALSE(info.fft.empty());
    CHECK(info.id.rfind(info.backend + ":", 0) == 0);
    CHECK(info.memory_bytes > 0);
    CHECK(info.max_allocation_bytes > 0);
    if (info.sampling == warpalign::Sampling::buffer) CHECK_FALSE(info.sampling_reason.empty());
  });
}

TEST_CASE("device: bytes are uploaded, copied and downloaded unchanged") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    std::vector<std::uint8_t> bytes(100001);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    auto first = device.make_buffer(bytes.size());
    auto second = device.make_buffer(bytes.size());
    stream.upload(bytes.data(), bytes.size(), first);
    stream.copy(first, second);
    std::vector<std::uint8_t> found(bytes.size());
    stream.download(second, found.data(), found.size());
    CHECK(found == bytes);
  });
}

TEST_CASE("device: bytes are copied from and to the runtime's host memory") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    warpalign::HostBuffer up = device.make_host_buffer(70001);
    warpalign::HostBuffer down = device.make_host_buffer(70001);
    CHECK(up.size_bytes() == 70001);
    CHECK(up.device().same_as(device));
    const std::span bytes(static_cast<std::uint8_t*>(up.data()), up.size_bytes());
    const std::span found(static_cast<std::uint8_t*>(down.data()), down.size_bytes());
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    std::fill(found.begin(), found.end(), std::uint8_t{7});
    auto buffer = device.make_buffer(bytes.size());
    stream.upload(up.data(), bytes.size(), buffer);
    stream.download(buffer, down.data(), found.size());
    CHECK(std::equal(bytes.begin(), bytes.end(), found.begin()));
    warpalign::HostBuffer moved = std::move(up);
    CHECK(moved.data() == bytes.data());
    down = std::move(moved);
    CHECK(down.data() == bytes.data());
    CHECK_THROWS_AS(static_cast<void>(device.make_host_buffer(0)), Error);
  });
}

TEST_CASE("device: images with a row pitch are uploaded densely") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    std::vector<std::uint16_t> padded(12 * 5);
    std::iota(padded.begin(), padded.end(), std::uint16_t{0});
    auto image = device.make_image(PixelType::u16, {7, 5, 1});
    stream.upload(warpalign::HostImage{padded.data(), PixelType::u16, 7, 5, 24}, image);
    std::vector<std::uint16_t> found(35);
    stream.download(image, found.data(), 70);
    for (std::size_t y = 0; y < 5; ++y) {
      for (std::size_t x = 0; x < 7; ++x) CHECK(found[y * 7 + x] == padded[y * 12 + x]);
    }
    CHECK_THROWS_AS(
        stream.upload(warpalign::HostImage{padded.data(), PixelType::u16, 7, 5, 13}, image), Error);
    CHECK_THROWS_AS(
        stream.upload(warpalign::HostImage{padded.data(), PixelType::u8, 7, 5, 0}, image), Error);
  });
}

TEST_CASE("device: marks give device times that never decrease") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream(true);
    auto input = device.make_image(PixelType::f32, {512, 512, 1});
    auto output = device.make_image(PixelType::f32, {512, 512, 1});
    const warpalign::WarpPlan plan(device, {input.shape(), output.shape()});
    const std::vector<float> zeros(512 * 512);
    stream.upload(zeros.data(), zeros.size() * sizeof(float), input.buffer());
    plan.execute(stream, input, warpalign::Affine{}, output);
    const auto start = stream.mark();
    const auto same = stream.mark();
    for (int i = 0; i < 20; ++i) plan.execute(stream, input, warpalign::Affine{}, output);
    const auto end = stream.mark();
    const double nothing = stream.milliseconds_between(start, same);
    const double work = stream.milliseconds_between(same, end);
    CHECK(nothing >= 0);
    CHECK(work > 0);
    CHECK(work < 60000);
    auto untimed = device.make_stream();
    CHECK_THROWS_AS((void)untimed.mark(), Error);
  });
}

// A device may keep freed memory and reuse it, but not while queued work reads it.
TEST_CASE("device: an image may be destroyed while queued work reads it") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr int rounds = 40;
    const warpalign::Shape shape{509, 257, 1};
    const auto pixels = static_cast<std::size_t>(shape.pixels());
    const warpalign::SobelPlan plan(device, {PixelType::f32, shape});
    auto work = device.make_stream();
    auto other = device.make_stream();
    std::vector<float> steps(pixels);
    for (std::size_t i = 0; i < pixels; ++i) steps[i] = static_cast<float>(i * 7 % 1000);
    const std::vector<float> blank(pixels, 0.0F);
    const std::size_t bytes = pixels * sizeof(float);
    std::vector<warpalign::Image> results;
    for (int i = 0; i < rounds; ++i) {
      results.push_back(device.make_image(PixelType::f32, shape));
      {
        auto input = device.make_image(PixelType::f32, shape);
        work.upload(steps.data(), bytes, input.buffer());
        for (int again = 0; again < 20; ++again) plan.execute(work, input, results.back());
      }
      // Gets the memory of the destroyed input, if the device reuses it at once.
      auto next = device.make_image(PixelType::f32, shape);
      other.upload(blank.data(), bytes, next.buffer());
    }
    std::vector<float> first(pixels);
    work.download(results.front().buffer(), first.data(), bytes);
    CHECK(std::any_of(first.begin(), first.end(), [](float x) { return x != 0; }));
    for (const warpalign::Image& result : results) {
      std::vector<float> found(pixels);
      work.download(result.buffer(), found.data(), bytes);
      CHECK(found == first);
    }
  });
}

TEST_CASE("device: impossible sizes are refused, and the device works afterwards") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS((void)device.make_buffer(0), Error);
    CHECK_THROWS_AS((void)device.make_image(PixelType::f32, {0, 1, 1}), Error);
    CHECK_THROWS_AS((void)device.make_image(PixelType::f32, {1, 1, -1}), Error);
    CHECK_THROWS_AS((void)device.make_image(PixelType::c32, {2147483647, 2147483647, 2147483647}),
                    Error);
    try {
      (void)device.make_buffer(std::size_t{1} << 60);
      FAIL("an exabyte was allocated");
    } catch (const Error& error) {
      CHECK(error.kind() == warpalign::ErrorKind::out_of_memory);
    }
    auto stream = device.make_stream();
    auto buffer = device.make_buffer(16);
    const char text[16] = "still alive";
    stream.upload(text, sizeof text, buffer);
    char found[16];
    stream.download(buffer, found, sizeof found);
    CHECK(std::string(found) == text);
  });
}

TEST_CASE("device: two openings of one device do not share buffers") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto other = warpalign::open_device(device.info().id);
    CHECK_FALSE(device.same_as(other));
    const auto foreign = other.make_image(PixelType::u8, {8, 8, 1});
    auto output = device.make_image(PixelType::f32, {8, 8, 1});
    auto stream = device.make_stream();
    const warpalign::SobelPlan plan(device, {PixelType::u8, {8, 8, 1}});
    CHECK_THROWS_WITH_AS(plan.execute(stream, foreign, output), doctest::Contains("belongs to"),
                         Error);
    auto foreign_stream = other.make_stream();
    const auto input = device.make_image(PixelType::u8, {8, 8, 1});
    CHECK_THROWS_AS(plan.execute(foreign_stream, input, output), Error);
  });
}

TEST_CASE("device: the environment variable is used when no name is given") {
  const auto& first = test::devices().front();
  ::setenv("WARPALIGN_DEVICE", first.info().id.c_str(), 1);
  CHECK(warpalign::open_device().info().id == first.info().id);
  ::setenv("WARPALIGN_DEVICE", "no such thing", 1);
  CHECK_THROWS_AS((void)warpalign::open_device(), Error);
  CHECK_NOTHROW((void)warpalign::open_device(first.info().id));
  ::unsetenv("WARPALIGN_DEVICE");
  warpalign::Config config;
  config.device = first.info().id;
  CHECK(warpalign::open_device("", config).info().id == first.info().id);
}

TEST_CASE("device: without a name the first working device is opened, or all reasons are given") {
  const char* before = std::getenv("WARPALIGN_DEVICE");
  const std::string kept = before == nullptr ? "" : before;
  ::unsetenv("WARPALIGN_DEVICE");
  warpalign::Config config;
  config.backends = {"nowhere", "opencl"};
  if (warpalign::list_backends(config).back().available) {
    CHECK(warpalign::open_device("", config).info().backend == "opencl");
  }
  config.backends = {"nowhere", "elsewhere"};
  try {
    (void)warpalign::open_device("", config);
    FAIL("opened");
  } catch (const Error& error) {
    CHECK(error.kind() == warpalign::ErrorKind::device_unavailable);
    const std::string text = error.what();
    const std::size_t first_reason = text.find("nowhere: there is no module");
    CHECK_MESSAGE(first_reason != std::string::npos, text);
    CHECK_MESSAGE(text.find("elsewhere: there is no module") != std::string::npos, text);
    // Each backend is named once, although GPUs are tried first and any device afterwards.
    CHECK(text.find("nowhere: there is no module", first_reason + 1) == std::string::npos);
  }
  if (before != nullptr) ::setenv("WARPALIGN_DEVICE", kept.c_str(), 1);
}

TEST_CASE("device: streams, marks and events can be moved") {
  test::on_every_device([](const warpalign::Device& device) {
    std::vector<float> pixels(64);
    std::iota(pixels.begin(), pixels.end(), 0.0F);
    auto image = device.make_image(PixelType::f32, {8, 8, 1});
    auto stream = device.make_stream();
    stream = device.make_stream(true);
    stream.upload(warpalign::HostImage{pixels.data(), PixelType::f32, 8, 8, 0}, image);
    warpalign::Stream& same = stream;
    stream = std::move(same);
    auto first = stream.mark();
    auto second = stream.mark();
    std::vector<float> found(64);
    stream.download(image, found.data(), 64 * sizeof(float));
    CHECK(found == pixels);
    CHECK(stream.milliseconds_between(first, second) >= 0);
    first = std::move(second);
    CHECK(stream.milliseconds_between(first, first) == 0);
  });
}

TEST_CASE("device: copies and downloads of another size are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    auto buffer = device.make_buffer(16);
    auto larger = device.make_buffer(20);
    const auto image = device.make_image(PixelType::u8, {4, 4, 1});
    std::vector<std::uint8_t> bytes(64);
    CHECK_THROWS_WITH_AS(stream.copy(buffer, larger), doctest::Contains("the same size"), Error);
    CHECK_THROWS_WITH_AS(stream.copy(larger, buffer), doctest::Contains("the same size"), Error);
    CHECK_THROWS_WITH_AS(stream.copy(buffer, buffer), doctest::Contains("two buffers"), Error);
    CHECK_THROWS_WITH_AS(stream.download(buffer, bytes.data(), 17),
                         doctest::Contains("has 16 bytes, the plan needs 17"), Error);
    CHECK_THROWS_WITH_AS(stream.download(image, bytes.data(), 15),
                         doctest::Contains("the image has 16 bytes, but the target has 15"), Error);
  });
}
