// autocorrelation_peaks against the oracle, on every device.
#include "reference/spectrum/autocorrelation_peaks.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using warpalign::Shape;

constexpr Shape image_shape{23, 18, 1};
constexpr Shape surface_shape{40, 32, 1};

/// The stage reads no other pixels than these sums: the others are infinite.
reference::Plane sums_of(const reference::Plane& image) {
  return reference::autocorrelation(image, surface_shape.width, surface_shape.height);
}

std::vector<float> peaks_of(const warpalign::Device& device, const reference::Plane& surface) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, surface);
  const warpalign::AutocorrelationPeaksPlan plan(device, {image_shape, surface_shape});
  std::vector<float> peaks(static_cast<std::size_t>(plan.rows()), 99);
  auto output = device.make_buffer(peaks.size() * sizeof(float));
  stream.upload(peaks.data(), peaks.size() * sizeof(float), output);
  plan.execute(stream, input, output);
  stream.download(output, peaks.data(), peaks.size() * sizeof(float));
  return peaks;
}

reference::Plane repeating(double period_x, double period_y) {
  reference::Plane image(image_shape.width, image_shape.height);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double u = 2 * 3.14159265358979 * static_cast<double>(x) / period_x;
      const double v = 2 * 3.14159265358979 * static_cast<double>(y) / period_y;
      image.at(x, y) = std::cos(u) + std::sin(v) + std::cos(u + v);
    }
  }
  return image;
}

}  // namespace

TEST_CASE("autocorrelation_peaks: agrees with the oracle") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto& image :
         {test::random_plane(image_shape.width, image_shape.height, -1, 1, 1), repeating(6, 5)}) {
      const std::vector<double> expected = reference::autocorrelation_peaks(image);
      const std::vector<float> found = peaks_of(device, sums_of(image));
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        // Sums and two divisions in single precision, of coefficients up to 1.
        CHECK(std::abs(static_cast<double>(found[i]) - expected[i]) < 2e-6);
      }
    }
  });
}

TEST_CASE(
    "autocorrelation_peaks: what repeats itself has a coefficient near 1, what does not is 0") {
  test::on_every_device([](const warpalign::Device& device) {
    const std::vector<float> found = peaks_of(device, sums_of(repeating(6, 5)));
    CHECK(found[5] > 0.95F);  // (0, 5) and (6, 5) are periods
    CHECK(found[0] > 0.95F);  // (6, 0) is one
    CHECK(found[2] < 0.6F);   // no shift by two rows is
    reference::Plane empty(image_shape.width, image_shape.height);
    const std::vector<float> nothing = peaks_of(device, sums_of(empty));
    CHECK(*std::max_element(nothing.begin(), nothing.end()) == 0);
  });
}

TEST_CASE("autocorrelation_peaks: images of a stack equal single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    const std::vector<reference::Plane> surfaces{sums_of(repeating(6, 5)),
                                                 sums_of(repeating(7, 9))};
    std::vector<float> pixels, expected;
    for (const reference::Plane& surface : surfaces) {
      pixels.insert(pixels.end(), surface.values.begin(), surface.values.end());
      const std::vector<float> alone = peaks_of(device, surface);
      expected.insert(expected.end(), alone.begin(), alone.end());
    }
    auto stream = device.make_stream();
    auto stack = device.make_image(warpalign::PixelType::f32,
                                   {surface_shape.width, surface_shape.height, 2});
    stream.upload(pixels.data(), pixels.size() * sizeof(float), stack.buffer());
    std::vector<float> found(expected.size());
    auto output = device.make_buffer(found.size() * sizeof(float));
    warpalign::AutocorrelationPeaksPlan(device, {image_shape, surface_shape, 2})
        .execute(stream, stack, output);
    stream.download(output, found.data(), found.size() * sizeof(float));
    CHECK(found == expected);
  });
}

TEST_CASE("autocorrelation_peaks: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto refused = [&](const Shape& image, const Shape& surface) {
      CHECK_THROWS_AS(warpalign::AutocorrelationPeaksPlan(device, {image, surface}),
                      warpalign::Error);
    };
    refused({0, 8, 1}, {16, 16, 1});
    refused({8, 8, 2}, {16, 16, 1});
    refused({8, 8, 1}, {13, 14, 1});
    refused({8, 8, 1}, {14, 13, 1});
    const warpalign::AutocorrelationPeaksPlan plan(device, {{8, 8, 1}, {14, 14, 1}});
    auto stream = device.make_stream();
    const auto surface = device.make_image(warpalign::PixelType::f32, {14, 14, 1});
    auto small = device.make_buffer(4 * sizeof(float));
    CHECK_THROWS_AS(plan.execute(stream, surface, small), warpalign::Error);
  });
}
