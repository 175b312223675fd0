// The maximum with its coordinates against the oracle, on every device.
#include "reference/spectrum/peak.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/peak.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::PeakRecord;

std::vector<PeakRecord> run(const warpalign::Device& device,
                            const std::vector<reference::Plane>& slices) {
  auto stream = device.make_stream();
  const warpalign::Shape shape{slices[0].width, slices[0].height,
                               static_cast<std::int64_t>(slices.size())};
  std::vector<float> pixels;
  for (const auto& slice : slices) {
    for (const double value : slice.values) pixels.push_back(static_cast<float>(value));
  }
  auto image = device.make_image(warpalign::PixelType::f32, shape);
  stream.upload(pixels.data(), pixels.size() * sizeof(float), image.buffer());
  std::vector<PeakRecord> records(slices.size());
  auto buffer = device.make_buffer(records.size() * sizeof(PeakRecord));
  warpalign::PeakPlan(device, {shape}).execute(stream, image, buffer);
  stream.download(buffer, records.data(), buffer.size_bytes());
  return records;
}

void compare(const PeakRecord& found, const reference::Plane& image) {
  const auto expected = reference::peak(image);
  CHECK(static_cast<double>(found.value) == expected.value);
  CHECK(found.x == expected.x);
  CHECK(found.y == expected.y);
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      const std::int64_t x = (found.x + i + 2 * image.width) % image.width;
      const std::int64_t y = (found.y + j + 2 * image.height) % image.height;
      const auto index = static_cast<std::size_t>((j + 1) * 3 + i + 1);
      CHECK(static_cast<double>(found.neighbours[index]) == image.at(x, y));
    }
  }
}

}  // namespace

TEST_CASE("peak: random images of every size") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto image = test::random_plane(size.width, size.height, -2, -1, 18);
      compare(run(device, {image})[0], image);
    }
  });
}

TEST_CASE("peak: every slice has its own, and corners have neighbours across the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    std::vector<reference::Plane> slices;
    for (std::uint32_t i = 0; i < 4; ++i)
      slices.push_back(test::random_plane(70, 53, 0, 1, 30 + i));
    slices[0].at(0, 0) = 5;
    slices[1].at(69, 0) = 5;
    slices[2].at(0, 52) = 5;
    slices[3].at(69, 52) = 5;
    const auto records = run(device, slices);
    for (std::size_t i = 0; i < 4; ++i) compare(records[i], slices[i]);
  });
}

TEST_CASE("peak: the first of equal maxima, and never NaN") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane image(1000, 900);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    image.at(3, 0) = nan;
    image.at(700, 400) = 2;
    image.at(10, 401) = 2;
    image.at(999, 899) = 2;
    const auto found = run(device, {image})[0];
    CHECK(found.value == 2);
    CHECK(found.x == 700);
    CHECK(found.y == 400);

    reference::Plane zeros(300, 300);
    const auto flat = run(device, {zeros})[0];
    CHECK(flat.x == 0);
    CHECK(flat.y == 0);

    reference::Plane nothing(40, 9);
    for (double& value : nothing.values) value = nan;
    const auto none = run(device, {nothing})[0];
    CHECK(none.value == -std::numeric_limits<float>::infinity());
    CHECK(none.x == 0);
    CHECK(none.y == 0);
  });
}

TEST_CASE("peak: the sub-pixel fit finds a parabola's vertex, and stays within half a pixel") {
  PeakRecord record;
  record.x = 10;
  record.y = 20;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      const double value = 5 - 2 * std::pow(i - 0.3, 2) - 3 * std::pow(j + 0.2, 2);
      record.neighbours[static_cast<std::size_t>((j + 1) * 3 + i + 1)] = static_cast<float>(value);
    }
  }
  record.value = record.neighbours[4];
  CHECK(warpalign::subpixel_position(record).x == doctest::Approx(10.3).epsilon(1e-6));
  CHECK(warpalign::subpixel_position(record).y == doctest::Approx(19.8).epsilon(1e-6));
  record.neighbours.fill(1);
  CHECK(warpalign::subpixel_position(record).x == 10);
  record.neighbours[5] = std::nanf("");
  CHECK(warpalign::subpixel_position(record).x == 10);
}
