// Windowing and placing against the oracle, on every device.
#include "reference/stages.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/apodize.hpp>
#include <warpalign/stages/statistics.hpp>

#include <cmath>
#include <limits>

namespace {

void compare(const warpalign::Device& device, const reference::Plane& image,
             warpalign::Shape canvas, warpalign::Window window) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image);
  const warpalign::StatisticsRecord record{0.25F, 0, 0, 0};
  auto statistics = device.make_buffer(sizeof record);
  stream.upload(&record, sizeof record, statistics);
  auto output = device.make_image(warpalign::PixelType::f32, canvas);
  test::poison(stream, output);
  warpalign::ApodizePlan(device, {input.shape(), canvas, window})
      .execute(stream, input, statistics, output);
  const auto found = test::from_device(stream, output);
  const auto expected = reference::apodize(image, 0.25, canvas.width, canvas.height,
                                           window == warpalign::Window::hann);
  double error = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double difference = std::abs(found.values[i] - expected.values[i]);
    if (!(difference <= error)) error = difference;
  }
  // Values up to 1.25; sin(pi x) of OpenCL may be off by 4 ulp, twice squared: below 4e-6.
  CHECK(error <= 4e-6);
}

}  // namespace

TEST_CASE("apodize: every size, on its own and on larger canvases, even and odd margins") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto [w, h] = size;
      const auto image = test::random_plane(w, h, -1, 1, 8);
      for (const auto window : {warpalign::Window::hann, warpalign::Window::none}) {
        compare(device, image, {w, h, 1}, window);
        compare(device, image, {w + 8, h + 3, 1}, window);
      }
    }
  });
}

TEST_CASE("apodize: pixels that are not finite count as the mean") {
  test::on_every_device([](const warpalign::Device& device) {
    auto image = test::random_plane(40, 30, -1, 1, 9);
    image.at(20, 15) = std::numeric_limits<double>::quiet_NaN();
    image.at(21, 15) = std::numeric_limits<double>::infinity();
    compare(device, image, {48, 32, 1}, warpalign::Window::hann);
  });
}

TEST_CASE("apodize: a canvas smaller than the image is refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(
        warpalign::ApodizePlan(device, {{10, 10, 1}, {9, 12, 1}, warpalign::Window::hann}),
        warpalign::Error);
  });
}
