// The sums of an orientation field against the oracle, on every device.
#include "support/devices.hpp"
#include "support/direction_sums.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/direction_sums.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <cstdint>
#include <vector>

namespace {

using test::Directions;
using test::Size;
using warpalign::Device;
using warpalign::DirectionSums;
using warpalign::DirectionSumsPlan;
using warpalign::Error;
using warpalign::Image;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::Stream;

struct OnDevice {
  OnDevice(const Device& device, Stream& stream, const Directions& field)
      : cosines(test::to_device(device, stream, field.cosines)),
        sines(test::to_device(device, stream, field.sines)) {}
  Image cosines, sines;
};

DirectionSums sums_of(const Device& device, const Directions& field) {
  Stream stream = device.make_stream();
  const OnDevice images(device, stream, field);
  const DirectionSumsPlan plan(device, {});
  plan.enqueue(stream, images.cosines, images.sines);
  plan.enqueue_copy(stream);
  return plan.wait();
}

Directions constant(const Size& size, double cosine, double sine) {
  Directions field{reference::Plane(size.width, size.height),
                   reference::Plane(size.width, size.height)};
  field.cosines.values.assign(field.cosines.values.size(), cosine);
  field.sines.values.assign(field.sines.values.size(), sine);
  return field;
}

bool same(const DirectionSums& a, const DirectionSums& b) {
  return a.cosines == b.cosines && a.sines == b.sines && a.squares == b.squares &&
         a.pixels == b.pixels;
}

}  // namespace

TEST_CASE("direction_sums: agrees with the oracle") {
  std::vector<Size> sizes = test::sizes();
  for (const Size& size :
       {Size{1, 1}, Size{300, 1}, Size{1, 33}, Size{61, 43}, Size{128, 64}, Size{300, 257}}) {
    sizes.push_back(size);
  }
  test::on_every_device([&](const Device& device) {
    for (const Size& size : sizes) {
      CAPTURE(test::to_string(size));
      const Directions field = test::random_directions(size, 10);
      CHECK(test::direction_sums_error(sums_of(device, field), field) <= 1);
    }
  });
}

TEST_CASE("direction_sums: sums of exact floats are exact") {
  test::on_every_device([](const Device& device) {
    // 61 * 43 = 2623 pixels.
    const DirectionSums sums = sums_of(device, constant({61, 43}, 0.5, -0.25));
    CHECK(sums.cosines == 2623 * 0.5);
    CHECK(sums.sines == 2623 * -0.25);
    CHECK(sums.squares == 2623 * 0.3125);
    CHECK(sums.pixels == 2623);
  });
}

TEST_CASE("direction_sums: a field without orientations has sums of 0") {
  test::on_every_device([](const Device& device) {
    CHECK(same(sums_of(device, constant({61, 43}, 0, 0)), {}));
    CHECK(same(sums_of(device, constant({61, 43}, -0.0, 0)), {}));
  });
}

TEST_CASE("direction_sums: orientations of any positive length count") {
  test::on_every_device([](const Device& device) {
    // Their squares underflow to 0.
    CHECK(sums_of(device, constant({61, 43}, 1e-30, 0)).pixels == 2623);
    CHECK(sums_of(device, constant({61, 43}, 0, -1e-30)).pixels == 2623);
  });
}

TEST_CASE("direction_sums: several results in one copy are bit-identical to single ones") {
  test::on_every_device([](const Device& device) {
    const Directions one = test::random_directions({120, 100}, 20);
    const Directions two = test::random_directions({37, 50}, 30);
    Stream stream = device.make_stream();
    const OnDevice first(device, stream, one);
    const OnDevice second(device, stream, two);
    const DirectionSumsPlan plan(device, {3});
    plan.enqueue(stream, second.cosines, second.sines, 2);
    plan.enqueue(stream, first.cosines, first.sines, 0);
    plan.enqueue(stream, first.cosines, first.sines, 1);
    plan.enqueue_copy(stream);
    const DirectionSums of_first = sums_of(device, one);
    CHECK(same(plan.wait(0), of_first));
    CHECK(same(plan.wait(1), of_first));
    CHECK(same(plan.wait(2), sums_of(device, two)));
    // Replacing one result leaves the others unchanged.
    plan.enqueue(stream, second.cosines, second.sines, 1);
    plan.enqueue_copy(stream);
    CHECK(same(plan.wait(0), of_first));
    CHECK(same(plan.wait(1), plan.wait(2)));
  });
}

TEST_CASE("direction_sums: one image may serve as both inputs") {
  test::on_every_device([](const Device& device) {
    Directions field = test::random_directions({45, 31}, 40);
    field.sines = field.cosines;
    Stream stream = device.make_stream();
    const Image image = test::to_device(device, stream, field.cosines);
    const DirectionSumsPlan plan(device, {});
    plan.enqueue(stream, image, image);
    plan.enqueue_copy(stream);
    CHECK(test::direction_sums_error(plan.wait(), field) <= 1);
  });
}

TEST_CASE("direction_sums: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(DirectionSumsPlan(device, {0}), Error);
    CHECK_THROWS_AS(DirectionSumsPlan(device, {100000}), Error);
    Stream stream = device.make_stream();
    const DirectionSumsPlan plan(device, {2});
    const auto image = [&](const Shape& shape, PixelType type = PixelType::f32) {
      return device.make_image(type, shape);
    };
    const Image good = image({6, 5, 1});
    const Image other = image({5, 6, 1});
    const Image integers = image({6, 5, 1}, PixelType::u8);
    const Image slices = image({6, 5, 2});
    CHECK_THROWS_AS(plan.enqueue(stream, good, other), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, other, good), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, good, integers), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, integers, good), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, slices, slices), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, good, good, 2), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, good, good, -1), Error);
    CHECK_THROWS_AS(static_cast<void>(plan.wait(2)), Error);
    CHECK_THROWS_AS(static_cast<void>(plan.wait(-1)), Error);
    // A second context of the same device has its own memory.
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign_stream = second.make_stream();
    CHECK_THROWS_AS(plan.enqueue(foreign_stream, good, good), Error);
    CHECK_THROWS_AS(plan.enqueue_copy(foreign_stream), Error);
  });
}
