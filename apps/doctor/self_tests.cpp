// Self-tests of a device, with results that are known in advance.
#include "doctor/self_tests.hpp"

#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>

namespace warpalign::program::doctor {
namespace {

constexpr double pi = std::numbers::pi;

template <class Pixel>
Image uploaded(Stream& stream, PixelType type, const Shape& shape,
               const std::vector<Pixel>& pixels) {
  Image image = stream.device().make_image(type, shape);
  stream.upload(pixels.data(), pixels.size() * sizeof(Pixel), image.buffer());
  return image;
}

template <class Pixel>
std::vector<Pixel> downloaded(Stream& stream, const Image& image) {
  std::vector<Pixel> pixels(image.size_bytes() / sizeof(Pixel));
  stream.download(image, pixels.data(), image.size_bytes());
  return pixels;
}

/// The values of f(x, y), row by row.
template <class Pixel, class Function>
std::vector<Pixel> tabulated(const Shape& shape, const Function& f) {
  std::vector<Pixel> values;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) values.push_back(static_cast<Pixel>(f(x, y)));
  }
  return values;
}

/// The largest difference. A non-finite number counts as an infinite error.
template <class Pixel, class Expected>
double largest_error(const std::vector<Pixel>& found, const std::vector<Expected>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error =
        std::abs(std::complex<double>(found[i]) - std::complex<double>(expected[i]));
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

Finding test_copy(const Device& device) {
  constexpr std::size_t usual_bytes = 64 << 20;
  constexpr int runs = 5;
  const std::size_t bytes = std::min(usual_bytes, device.info().max_allocation_bytes / 4) /
                            sizeof(std::uint32_t) * sizeof(std::uint32_t);
  std::vector<std::uint32_t> pattern(bytes / sizeof(std::uint32_t));
  std::uint32_t number = 1;
  for (std::uint32_t& word : pattern) word = number = number * 1664525U + 1013904223U;
  Stream stream = device.make_stream(true);
  Buffer from = device.make_buffer(bytes);
  Buffer to = device.make_buffer(bytes);
  stream.upload(pattern.data(), bytes, from);
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const Mark begin = stream.mark();
    stream.copy(from, to);
    const Mark end = stream.mark();
    best = std::min(best, stream.milliseconds_between(begin, end));
  }
  std::vector<std::uint32_t> copied(pattern.size());
  stream.download(to, copied.data(), bytes);
  if (copied != pattern) return {false, "the copy differs from the original"};
  // Count both the bytes read and the bytes written.
  const double gigabytes = 2e-9 * static_cast<double>(bytes);
  return {true, fmt::format("{:.1f} GB/s, reading and writing", gigabytes / (best * 1e-3))};
}

/// Transforms two waves, which have two known coefficients; all others are 0.
Finding test_fft(const Device& device) {
  const Shape shape{60, 42, 1};  // with the factors 2, 3, 5 and 7
  constexpr std::int64_t u = 3;
  constexpr std::int64_t v = 5;
  const auto pixels = tabulated<float>(shape, [&](std::int64_t x, std::int64_t y) {
    const double turns = static_cast<double>(u * x) / static_cast<double>(shape.width) +
                         static_cast<double>(v * y) / static_cast<double>(shape.height);
    return 0.25 + std::cos(2 * pi * turns);
  });
  const auto count = static_cast<double>(shape.width * shape.height);
  const Shape half = RealFftPlan::half_spectrum(shape);
  const auto expected = tabulated<std::complex<double>>(half, [&](std::int64_t x, std::int64_t y) {
    if (x == 0 && y == 0) return 0.25 * count;
    return x == u && y == v ? 0.5 * count : 0.0;
  });
  Stream stream = device.make_stream();
  const RealFftPlan plan(device, {shape, 2, FftDirections::both});
  Image image = uploaded(stream, PixelType::f32, shape, pixels);
  Image spectrum = device.make_image(PixelType::c32, half);
  plan.forward(stream, image, spectrum);
  const double forward =
      largest_error(downloaded<std::complex<float>>(stream, spectrum), expected) / count;
  plan.inverse(stream, spectrum, image);
  std::vector<float> back = downloaded<float>(stream, image);
  for (float& pixel : back) pixel /= static_cast<float>(count);
  // The rounding error of single precision is 6e-8; errors grow with the logarithm of the size.
  return within(std::max(forward, largest_error(back, pixels)), 2e-6);
}

/// Filters a plane, whose gradient is the same everywhere, and half of it across the repeated
/// edges.
Finding test_sobel(const Device& device) {
  const Shape shape{49, 38, 1};
  const auto pixels =
      tabulated<std::uint8_t>(shape, [](std::int64_t x, std::int64_t y) { return 3 * x + 2 * y; });
  const auto expected = tabulated<double>(shape, [&](std::int64_t x, std::int64_t y) {
    const double gx = x == 0 || x == shape.width - 1 ? 12 : 24;
    const double gy = y == 0 || y == shape.height - 1 ? 8 : 16;
    return std::hypot(gx, gy);
  });
  Stream stream = device.make_stream();
  const Image image = uploaded(stream, PixelType::u8, shape, pixels);
  Image gradient = device.make_image(PixelType::f32, shape);
  SobelPlan(device, {PixelType::u8, shape, SobelMethod::packed}).execute(stream, image, gradient);
  // The computation is exact up to the square root, whose last digit may differ.
  return within(largest_error(downloaded<float>(stream, gradient), expected), 1e-5);
}

/// The centred cubic B-spline.
double cubic(double t) {
  t = std::abs(t);
  if (t >= 2) return 0;
  return t < 1 ? 2.0 / 3 - t * t + t * t * t / 2 : (2 - t) * (2 - t) * (2 - t) / 6;
}

/// The cubic spline through cos(w n) at every integer n, evaluated at x.
double cosine_spline(double w, double x) {
  const double first = std::floor(x) - 1;
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += cubic(x - first - k) * std::cos(w * (first + k));
  return sum / (2.0 / 3 + std::cos(w) / 3);
}

/// Resamples a cosine whose period fits the mirror boundary, and whose spline therefore has a
/// closed form.
Finding test_resampling(const Device& device) {
  const Shape shape{57, 44, 1};
  const double wx = 7 * pi / static_cast<double>(shape.width - 1);
  const double wy = 5 * pi / static_cast<double>(shape.height - 1);
  const auto pixels = tabulated<float>(shape, [&](std::int64_t x, std::int64_t y) {
    return std::cos(wx * static_cast<double>(x)) * std::cos(wy * static_cast<double>(y));
  });
  const Affine places{0.9, 0, 1.3, 0, 1.05, -2.4};  // partly beyond the edge
  const auto expected = tabulated<double>(shape, [&](std::int64_t x, std::int64_t y) {
    const Point at = places({static_cast<double>(x), static_cast<double>(y)});
    return cosine_spline(wx, at.x) * cosine_spline(wy, at.y);
  });
  ResampleSpec spec;
  spec.images.shape = spec.output = shape;
  ResamplePlan plan(device, spec);
  Stream stream = device.make_stream();
  const Image image = uploaded(stream, PixelType::f32, shape, pixels);
  Image output = device.make_image(PixelType::f32, shape);
  plan.execute(stream, image, HomogeneousMatrix(places), output);
  // The tolerance covers single precision, the prefilter's sums and sixteen products.
  return within(largest_error(downloaded<float>(stream, output), expected), 2e-5);
}

}  // namespace

Finding within(double error, double allowed, const std::string& unit) {
  return {error <= allowed,
          fmt::format("largest error {:.1e}{}, {:.0e} is allowed", error, unit, allowed)};
}

const std::vector<SelfTest>& self_tests() {
  static const std::vector<SelfTest> tests{{"copy bandwidth", test_copy},
                                           {"Fourier transform", test_fft},
                                           {"Sobel filter", test_sobel},
                                           {"B-spline resampling", test_resampling},
                                           {"registration", test_registration}};
  return tests;
}

}  // namespace warpalign::program::doctor
