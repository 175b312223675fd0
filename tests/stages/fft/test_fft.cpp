// The Fourier transform against FFTW in double precision, on every device.
#include "reference/fft/fft.hpp"
#include "support/clfft_device.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/skipped.hpp"
#include "support/transfer.hpp"

#include <warpalign/config.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <utility>
#include <vector>

namespace {

using warpalign::PixelType;
using warpalign::RealFftPlan;

// Single-precision transforms have errors of about 1e-7 log2(n); lengths with large prime factors
// take two more transforms (Bluestein). The largest error seen is 2e-6, and 2.7e-6 for a round
// trip.
constexpr double forward_tolerance = 2e-6;
constexpr double round_trip_tolerance = 4e-6;

void compare(const warpalign::Device& device, test::Size size) {
  CAPTURE(test::to_string(size));
  auto stream = device.make_stream();
  const auto image = test::random_plane(size.width, size.height, -1, 1, 10);
  const auto real = test::to_device(device, stream, image);
  auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(real.shape()));
  test::poison(stream, spectrum);
  const RealFftPlan plan(device, {real.shape()});
  plan.forward(stream, real, spectrum);
  const auto found = test::spectrum_from_device(stream, spectrum);
  CHECK(test::relative_error(found.values, reference::forward(image).values) <= forward_tolerance);
  CHECK(test::from_device(stream, real).values == image.values);  // forward keeps its input

  auto back = device.make_image(PixelType::f32, real.shape());
  test::poison(stream, back);
  plan.inverse(stream, spectrum, back);
  auto expected = image;
  for (double& value : expected.values) value *= static_cast<double>(image.values.size());
  CHECK(test::relative_error(test::from_device(stream, back).values, expected.values) <=
        round_trip_tolerance);
}

// Each thread transforms all shapes repeatedly, starting from a different one. Returns the largest
// error; round trips, whose error may be twice as large, count half.
double worst_thread_error(const warpalign::Device& device, std::size_t first,
                          const std::vector<reference::Plane>& images,
                          const std::vector<reference::Spectrum>& expected) {
  test::WorstError worst;
  auto stream = device.make_stream();
  for (std::size_t i = first; i < first + 30; ++i) {
    auto image = images[i % images.size()];
    const auto real = test::to_device(device, stream, image);
    auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(real.shape()));
    auto back = device.make_image(PixelType::f32, real.shape());
    const RealFftPlan plan(device, {real.shape()});
    plan.forward(stream, real, spectrum);
    const auto found = test::spectrum_from_device(stream, spectrum);
    worst.add(test::relative_error(found.values, expected[i % images.size()].values));
    plan.inverse(stream, spectrum, back);
    for (double& value : image.values) value *= static_cast<double>(image.values.size());
    worst.add(test::relative_error(test::from_device(stream, back).values, image.values) / 2);
  }
  return worst.value();
}

// Plans of one shape share kernels and scratch memory, which different threads use.
void check_threads(const warpalign::Device& device) {
  CAPTURE(device.info().fft);
  std::vector<reference::Plane> images;
  std::vector<reference::Spectrum> expected;
  for (const test::Size& size : std::vector<test::Size>{{64, 64}, {60, 49}, {96, 80}}) {
    images.push_back(test::random_plane(size.width, size.height, -1, 1, 12));
    expected.push_back(reference::forward(images.back()));
  }
  std::vector<std::future<double>> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.push_back(std::async(
        std::launch::async, [&, i] { return worst_thread_error(device, i, images, expected); }));
  }
  for (auto& thread : threads) CHECK(thread.get() <= forward_tolerance);
}

}  // namespace

TEST_CASE("fft: forward and back, of any size") {
  test::on_every_device([](const warpalign::Device& device) {
    // Few sizes, since plans take seconds to compile on some devices: degenerate, odd, prime, power
    // of 2.
    const std::vector<test::Size> sizes{{1, 1},   {1, 7},   {7, 1},    {5, 3},
                                        {64, 64}, {60, 49}, {509, 641}};
    for (const test::Size& size : sizes) compare(device, size);
  });
}

TEST_CASE("fft: a plan for one direction computes the same as a plan for both, and only that") {
  using warpalign::FftDirections;
  test::on_every_device([](const warpalign::Device& device) {
    // A power of two, lengths with large primes, a column, several images, a volume.
    for (const auto& [shape, dimensions] :
         std::vector<std::pair<warpalign::Shape, int>>{{{64, 64, 1}, 2},
                                                       {{37, 53, 1}, 2},
                                                       {{1, 24, 1}, 2},
                                                       {{24, 20, 4}, 2},
                                                       {{12, 10, 8}, 3}}) {
      CAPTURE(warpalign::to_string(shape));
      auto stream = device.make_stream();
      const auto pixels = test::random_plane(shape.width, shape.height * shape.depth, -1, 1, 30);
      const std::vector<float> values(pixels.values.begin(), pixels.values.end());
      auto real = device.make_image(PixelType::f32, shape);
      stream.upload(values.data(), values.size() * sizeof(float), real.buffer());
      auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
      auto back = device.make_image(PixelType::f32, shape);
      test::poison(stream, spectrum);
      test::poison(stream, back);
      const RealFftPlan forward(device, {shape, dimensions, FftDirections::forward});
      const RealFftPlan inverse(device, {shape, dimensions, FftDirections::inverse});
      forward.forward(stream, real, spectrum);
      inverse.inverse(stream, spectrum, back);
      std::vector<float> found(values.size());
      stream.download(back, found.data(), found.size() * sizeof(float));
      test::WorstError worst;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double expected = static_cast<double>(values[i]) *
                                static_cast<double>(values.size()) /
                                (dimensions == 2 ? static_cast<double>(shape.depth) : 1.0);
        worst.add(std::abs(static_cast<double>(found[i]) - expected));
      }
      // Values are up to 1 times the number of pixels in a transform.
      CHECK(worst.value() <= round_trip_tolerance * static_cast<double>(values.size()));
      CHECK_THROWS_AS(forward.inverse(stream, spectrum, back), warpalign::Error);
      CHECK_THROWS_AS(inverse.forward(stream, real, spectrum), warpalign::Error);
    }
  });
}

TEST_CASE("fft: a batch transforms each slice independently") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const warpalign::Shape shape{24, 20, 3};
    const RealFftPlan plan(device, {shape});
    auto real = device.make_image(PixelType::f32, shape);
    auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
    auto back = device.make_image(PixelType::f32, shape);
    // The middle slice is a million times as large as the others, or NaN. Nothing of it, not even
    // its rounding, may affect the other slices.
    for (const double middle : {1.0, 1e6, std::numeric_limits<double>::quiet_NaN()}) {
      CAPTURE(middle);
      std::vector<float> pixels;
      std::vector<reference::Plane> planes;
      for (std::uint32_t slice = 0; slice < 3; ++slice) {
        planes.push_back(test::random_plane(24, 20, -1, 1, 20 + slice));
        for (double& value : planes.back().values) {
          value = static_cast<float>(value * (slice == 1 ? middle : 1));
          pixels.push_back(static_cast<float>(value));
        }
      }
      stream.upload(pixels.data(), pixels.size() * sizeof(float), real.buffer());
      plan.forward(stream, real, spectrum);
      const auto each = [&](auto check) {
        for (std::int64_t slice = 0; slice < 3; ++slice) {
          if (slice == 1 && std::isnan(middle)) continue;
          check(slice, planes[static_cast<std::size_t>(slice)]);
        }
      };
      each([&](std::int64_t slice, const reference::Plane& plane) {
        const auto found = test::spectrum_from_device(stream, spectrum, slice);
        CHECK(test::relative_error(found.values, reference::forward(plane).values) <=
              forward_tolerance);
      });
      plan.inverse(stream, spectrum, back);  // uses the spectrum as scratch memory
      each([&](std::int64_t slice, reference::Plane expected) {
        for (double& value : expected.values) value *= 480;
        CHECK(test::relative_error(test::from_device(stream, back, slice).values,
                                   expected.values) <= round_trip_tolerance);
      });
    }
  });
}

TEST_CASE("fft: one shape planned twice and used on two streams") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(64, 64, -1, 1, 11);
    const auto expected = reference::forward(image);
    const warpalign::Shape shape{64, 64, 1};
    auto first_stream = device.make_stream();
    auto second_stream = device.make_stream();
    const RealFftPlan first(device, {shape});
    const RealFftPlan second(device, {shape});
    const auto a = test::to_device(device, first_stream, image);
    const auto b = test::to_device(device, second_stream, image);
    auto fa = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
    auto fb = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
    for (int i = 0; i < 5; ++i) {
      first.forward(first_stream, a, fa);
      second.forward(second_stream, b, fb);
    }
    CHECK(test::relative_error(test::spectrum_from_device(first_stream, fa).values,
                               expected.values) <= forward_tolerance);
    CHECK(test::relative_error(test::spectrum_from_device(second_stream, fb).values,
                               expected.values) <= forward_tolerance);
  });
}

TEST_CASE("fft: threads plan and transform at the same time, each on its own stream") {
  test::on_every_device([](const warpalign::Device& device) {
    check_threads(device);
    if (const auto clfft = test::with_clfft(device)) check_threads(*clfft);
  });
}

// The CPU kernels have a pass for each prime factor up to 13 and process 16 rows twice at a time.
// They leave lines above 4096 to VkFFT on devices with 1 MiB of local memory, which is common with
// PoCL.
TEST_CASE("fft: sizes with every factor up to 13, and longer than local memory") {
  test::on_every_device([](const warpalign::Device& device) {
    const std::vector<test::Size> sizes{{143, 98}, {270, 33}, {2, 31}, {4096, 3}, {2, 8192}};
    for (const test::Size& size : sizes) compare(device, size);
  });
}

TEST_CASE("fft: VkFFT can be selected where another library is the default") {
  warpalign::Config config;
  config.opencl_fft = "vkfft";
  for (const warpalign::Device& candidate : test::devices()) {
    if (candidate.info().fft != "simd") {
      test::skip_case("the FFT for CPUs is not the default of " + candidate.info().id);
      continue;
    }
    const auto device = warpalign::open_device(candidate.info().id, config);
    CAPTURE(device.info().name);
    CHECK(device.info().fft == "vkfft");
    compare(device, {1, 7});
    compare(device, {60, 49});
  }
}

TEST_CASE("fft: clFFT can be selected, and reports which sizes it cannot transform") {
  test::on_every_device([](const warpalign::Device& candidate) {
    const auto device = test::with_clfft(candidate);
    if (!device) return;
    CHECK(device->info().fft == "clfft");
    compare(*device, {64, 64});
    compare(*device, {60, 49});
    CHECK_THROWS_WITH_AS(RealFftPlan(*device, {{509, 64, 1}}), doctest::Contains("vkfft"),
                         warpalign::Error);
  });
}
