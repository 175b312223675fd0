// Simulated oblique views against the oracle, on every device.
#include "reference/features/simulated_views.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/packed_planes.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/features/simulated_views.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Device;
using warpalign::Error;
using warpalign::Shape;
using warpalign::SimulatedView;
using warpalign::SimulatedViewsPlan;
using warpalign::SimulatedViewsSpec;
using warpalign::Stream;

reference::ViewMap map_of(const Affine& map) {
  const auto rounded = [](double number) {
    return static_cast<double>(static_cast<float>(number));
  };
  return {rounded(map.a), rounded(map.b), rounded(map.c),
          rounded(map.d), rounded(map.e), rounded(map.f)};
}

/// The view of a camera that is rotated by `radians` and compresses rows by the factor `tilt`.
SimulatedView tilted(const Shape& shape, double radians, double tilt, double x, double y) {
  const double c = std::cos(radians);
  const double s = std::sin(radians);
  return {shape, {c * tilt, -s, x, s * tilt, c, y}};
}

std::vector<reference::Plane> views_of(const Device& device, const reference::Plane& image,
                                       const std::vector<SimulatedView>& views) {
  const SimulatedViewsSpec spec{{image.width, image.height, 1}, views};
  Stream stream = device.make_stream();
  const auto input = test::to_device(device, stream, image);
  const std::size_t bytes = SimulatedViewsPlan::bytes_of(spec);
  auto output = test::poisoned(device, stream, bytes);
  SimulatedViewsPlan(device, spec).execute(stream, input, output);
  std::vector<Shape> shapes;
  for (const SimulatedView& view : views) shapes.push_back(view.shape);
  return test::unpacked(test::from_buffer<float>(stream, output, bytes / sizeof(float)), shapes);
}

void compare(const Device& device, const reference::Plane& image,
             const std::vector<SimulatedView>& views) {
  const auto found = views_of(device, image, views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    CAPTURE(i);
    const Shape& shape = views[i].shape;
    const auto expected =
        reference::simulated_view(image, shape.width, shape.height, map_of(views[i].to_image));
    // Values are 0 to 1 and differ by less than 1 between neighbouring pixels along each axis.
    // Positions below 256 pixels, after three roundings, are off by up to 5e-5.
    CHECK(test::max_difference(found[i], expected) <= 1e-4);
  }
}

}  // namespace

TEST_CASE("simulated_views: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    const auto image = test::random_plane(131, 97, 0, 1, 1);
    compare(device, image,
            {tilted({131, 97, 1}, 0, 1, 0, 0), tilted({53, 90, 1}, 0.4, 2.3, 7.5, -3.25),
             tilted({7, 120, 1}, 1.9, 5.66, 90, 20), tilted({1, 1, 1}, -2.5, 1.41, 60.2, 40.7),
             tilted({200, 3, 1}, 3, 0.7, 130, 96), tilted({65, 33, 1}, -0.8, 3.4, 10, 60)});
    // A single view, and images with a single row, column or pixel.
    compare(device, image, {tilted({64, 8, 1}, 0.1, 1.7, 3, 4)});
    compare(device, test::random_plane(40, 1, 0, 1, 2), {tilted({30, 9, 1}, 0.3, 1.3, 2, -3)});
    compare(device, test::random_plane(1, 40, 0, 1, 3), {tilted({9, 30, 1}, 0.3, 1.3, -3, 2)});
    compare(device, test::random_plane(1, 1, 0, 1, 4), {tilted({9, 5, 1}, 0.3, 1.3, -3, 2)});
  });
}

TEST_CASE("simulated_views: the frontal view is the image itself") {
  test::on_every_device([](const Device& device) {
    const auto image = test::random_plane(67, 45, 0, 1, 5);
    const auto found = views_of(device, image, {tilted({67, 45, 1}, 0, 1, 0, 0)});
    CHECK(found[0].values == image.values);
  });
}

TEST_CASE("simulated_views: a pixel averages its footprint along x alone") {
  test::on_every_device([](const Device& device) {
    // Columns alternate between 0 and 4. A pixel of four columns averages two of each, and its
    // samples lie in the middle between two columns. Along y every third row is copied.
    reference::Plane image(64, 30);
    for (std::int64_t y = 0; y < 30; ++y) {
      for (std::int64_t x = 0; x < 64; ++x) {
        image.at(x, y) = static_cast<double>(4 * (x % 2) + 8 * (y % 3));
      }
    }
    const SimulatedView view{{14, 10, 1}, {4, 0, 4, 0, 3, 1}};
    const auto found = views_of(device, image, {view});
    for (const double value : found[0].values) CHECK(value == 2.0 + 8.0);
  });
}

TEST_CASE("simulated_views: a footprint has its length in samples, rounded up") {
  test::on_every_device([](const Device& device) {
    // One bright pixel, and footprints of 2.5 pixels: samples at -5/6, 0 and 5/6 pixels.
    reference::Plane image(21, 3);
    image.at(10, 1) = 6;
    const SimulatedView view{{1, 1, 1}, {2.5, 0, 10, 0, 1, 1}};
    const auto found = views_of(device, image, {view});
    // (1 + 2 / 6) * 6 / 3, within a few roundings.
    CHECK(std::abs(found[0].values[0] - 8.0 / 3) <= 1e-5);
  });
}

TEST_CASE("simulated_views: beyond the edges the image continues with the edge's values") {
  test::on_every_device([](const Device& device) {
    const auto image = test::random_plane(20, 10, 0, 1, 6);
    const std::vector<SimulatedView> views{{{3, 2, 1}, {1, 0, -50, 0, 1, -50}},
                                           {{3, 2, 1}, {1, 0, 1e6, 0, 1, 1e6}},
                                           {{3, 2, 1}, {1, 0, 1e300, 0, 1, -1e300}}};
    const auto found = views_of(device, image, views);
    for (const double value : found[0].values) CHECK(value == image.at(0, 0));
    for (const double value : found[1].values) CHECK(value == image.at(19, 9));
    for (const double value : found[2].values) CHECK(value == image.at(19, 0));
  });
}

TEST_CASE("simulated_views: two executions give the same bits") {
  test::on_every_device([](const Device& device) {
    const auto image = test::random_plane(90, 70, 0, 1, 7);
    const std::vector<SimulatedView> views{tilted({50, 60, 1}, 0.7, 1.9, 5, 6),
                                           tilted({33, 41, 1}, 2.7, 2.9, 50, 16)};
    const auto one = views_of(device, image, views);
    const auto two = views_of(device, image, views);
    for (std::size_t i = 0; i < views.size(); ++i) CHECK(one[i].values == two[i].values);
  });
}

TEST_CASE("simulated_views: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    const SimulatedViewsSpec good{{20, 10, 1}, {{{8, 6, 1}, {1, 0, 0, 0, 1, 0}}}};
    const auto refused = [&](const auto& spoil) {
      SimulatedViewsSpec spec = good;
      spoil(spec);
      CHECK_THROWS_AS(SimulatedViewsPlan(device, spec), Error);
    };
    refused([](SimulatedViewsSpec& s) { s.image = {0, 10, 1}; });
    refused([](SimulatedViewsSpec& s) { s.image = {20, 10, 2}; });
    refused([](SimulatedViewsSpec& s) { s.views.clear(); });
    refused([](SimulatedViewsSpec& s) { s.views[0].shape = {8, 0, 1}; });
    refused([](SimulatedViewsSpec& s) { s.views[0].shape = {8, 6, 2}; });
    refused([](SimulatedViewsSpec& s) { s.views[0].to_image.a = 64.5; });
    refused([](SimulatedViewsSpec& s) { s.views[0].to_image.d = -65; });
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refused([&](SimulatedViewsSpec& s) { s.views[0].to_image.b = nan; });
    refused([](SimulatedViewsSpec& s) {
      s.views[0].to_image.f = std::numeric_limits<double>::infinity();
    });
    // The pixels of 64 views of 2^13 x 2^13 exceed an int32.
    refused([](SimulatedViewsSpec& s) { s.views.assign(64, {{8192, 8192, 1}, {}}); });

    Stream stream = device.make_stream();
    const SimulatedViewsPlan plan(device, good);
    const auto image = device.make_image(warpalign::PixelType::f32, good.image);
    const auto other = device.make_image(warpalign::PixelType::f32, {10, 20, 1});
    const auto bytes = device.make_image(warpalign::PixelType::u8, good.image);
    auto views = device.make_buffer(SimulatedViewsPlan::bytes_of(good));
    auto small = device.make_buffer(SimulatedViewsPlan::bytes_of(good) - 4);
    CHECK_THROWS_AS(plan.execute(stream, other, views), Error);
    CHECK_THROWS_AS(plan.execute(stream, bytes, views), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, small), Error);
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign = second.make_stream();
    CHECK_THROWS_AS(plan.execute(foreign, image, views), Error);
  });
}
