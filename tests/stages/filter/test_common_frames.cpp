// The overlap of two images, and how their texture is distributed over it, against the oracle on
// every device.
#include "support/common_frames.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/error.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace {

using warpalign::CommonFramesPlan;
using warpalign::CommonImages;
using warpalign::CommonSums;
using warpalign::Device;
using warpalign::Error;
using warpalign::Image;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::Stream;
using Input = test::CommonInput;
using Sizes = test::CommonSizes;
using Found = test::FoundCommon;

/// `largest` is the largest absolute value of the images.
void compare(const Device& device, const Input& input, const Sizes& sizes, double largest,
             double angle = 0) {
  CAPTURE(test::to_string(sizes.images));
  CAPTURE(test::to_string(sizes.part));
  CAPTURE(test::to_string(sizes.frame));
  const Found found = test::found_common(device, input, sizes, angle);
  CHECK(test::common_error(found, test::expected_common(input, sizes, angle), sizes, largest) <= 1);
}

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> sizes{
      {{1, 1}, {1, 1}, {1, 1}},           {{33, 1}, {33, 1}, {40, 3}},
      {{5, 90}, {5, 90}, {16, 90}},       {{40, 37}, {40, 37}, {64, 48}},
      {{70, 50}, {45, 33}, {64, 64}},     {{70, 50}, {31, 17}, {31, 17}},
      {{100, 120}, {64, 96}, {96, 100}},  {{264, 264}, {263, 250}, {512, 512}},
      {{264, 264}, {96, 264}, {512, 512}}};
  return sizes;
}

bool same(const CommonSums& a, const CommonSums& b) {
  return a.pixels == b.pixels && a.reference == b.reference && a.moving == b.moving &&
         a.both == b.both;
}

}  // namespace

TEST_CASE("common_frames: parts of every size, with masks and without") {
  test::on_every_device([](const Device& device) {
    for (const Sizes& sizes : all_sizes()) {
      for (const bool masked : {false, true}) {
        CAPTURE(masked);
        compare(device, test::random_common_input(sizes.images, 1, masked, 70), sizes, 2);
      }
    }
  });
}

TEST_CASE("common_frames: two channels, with those of the reference rotated") {
  test::on_every_device([](const Device& device) {
    for (const Sizes& sizes : all_sizes()) {
      for (const double angle : {0.0, 2.5, -0.7}) {
        CAPTURE(angle);
        compare(device, test::random_common_input(sizes.images, 2, angle != 0, 80), sizes, 3,
                angle);
      }
    }
  });
}

TEST_CASE("common_frames: texture in a part of the images only") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{200, 150}, {190, 150}, {256, 256}};
    Input input = test::random_common_input(sizes.images, 1, false, 90);
    for (std::int64_t y = 0; y < sizes.images.height; ++y) {
      for (std::int64_t x = 0; x < sizes.images.width; ++x) {
        if (x > 60 || y > 40) input.reference[0].at(x, y) *= 0x1p-10;
        if (x < 50 || y < 30) input.moving[0].at(x, y) *= 0x1p-10;
      }
    }
    compare(device, input, sizes, 2);
  });
}

TEST_CASE("common_frames: nothing when the images do not overlap") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{70, 50}, {45, 33}, {64, 64}};
    Input input = test::random_common_input(sizes.images, 2, true, 100);
    // Each image counts only where the other one does not.
    for (std::size_t i = 0; i < input.moving_weight.values.size(); ++i) {
      input.moving_weight.values[i] = i % 3 == 0 ? 1 : 0.5;
      input.reference_weight[0].values[i] = i % 3 == 0 ? 0.25 : 1;
    }
    const Found found = test::found_common(device, input, sizes, 1);
    CHECK(same(found.sums, {}));
    for (const auto& frames : {found.reference, found.moving}) {
      for (const reference::Plane& frame : frames) CHECK(test::largest(frame) == 0);
    }
  });
}

TEST_CASE("common_frames: constant images") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{264, 200}, {264, 190}, {512, 512}};
    constexpr double constant = 3.3F;
    Input input = test::random_common_input(sizes.images, 1, true, 110);
    input.reference[0].values.assign(input.reference[0].values.size(), constant);
    const Found found = test::found_common(device, input, sizes);
    // The mean of floats is off by a few roundings, by the same amount everywhere.
    CHECK(test::largest(found.reference[0]) <= 1e-6 * constant);
    CHECK(found.sums.reference <= 289 * found.sums.pixels * 1e-12 * constant * constant);
  });
}

TEST_CASE("common_frames: pixels that do not count may be NaN") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{70, 50}, {45, 33}, {64, 64}};
    Input input = test::random_common_input(sizes.images, 1, true, 120);
    Input with_nan = input;
    for (std::size_t i = 0; i < input.moving_weight.values.size(); ++i) {
      if (input.moving_weight.values[i] > 0.5 && input.reference_weight[0].values[i] > 0.5)
        continue;
      with_nan.reference[0].values[i] = std::numeric_limits<double>::quiet_NaN();
      with_nan.moving[0].values[i] = std::numeric_limits<double>::infinity();
    }
    const Found found = test::found_common(device, with_nan, sizes);
    const Found without = test::found_common(device, input, sizes);
    CHECK(same(found.sums, without.sums));
    CHECK(found.reference[0].values == without.reference[0].values);
    CHECK(found.moving[0].values == without.moving[0].values);
  });
}

TEST_CASE("common_frames: several results in one copy are bit-identical to single ones") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes large{{120, 100}, {110, 100}, {128, 128}};
    constexpr Sizes small{{70, 50}, {45, 33}, {128, 128}};
    const Input one = test::random_common_input(large.images, 1, true, 130);
    const Input two = test::random_common_input(small.images, 2, false, 140);
    Stream stream = device.make_stream();
    const test::CommonOnDevice first(device, stream, one);
    const test::CommonOnDevice second(device, stream, two);
    const CommonFramesPlan plan(device, {{128, 128, 1}, 3});
    std::array<Image, 2> frames{device.make_image(PixelType::f32, {128, 128, 1}),
                                device.make_image(PixelType::f32, {128, 128, 1})};
    std::array<Image, 2> pairs{device.make_image(PixelType::f32, {128, 128, 2}),
                               device.make_image(PixelType::f32, {128, 128, 2})};
    plan.enqueue(stream, second.images(), {45, 33, 1}, 0.5, pairs[0], pairs[1], 2);
    plan.enqueue(stream, first.images(), {110, 100, 1}, 0, frames[0], frames[1], 0);
    plan.enqueue(stream, first.images(), {110, 100, 1}, 0, frames[0], frames[1], 1);
    plan.enqueue_copy(stream);
    const CommonSums of_first = test::found_common(device, one, large).sums;
    CHECK(same(plan.wait(0), of_first));
    CHECK(same(plan.wait(1), of_first));
    CHECK(same(plan.wait(2), test::found_common(device, two, small, 0.5).sums));
  });
}

namespace {

/// Embeds the plane in a larger one with other values.
reference::Plane surrounded(const reference::Plane& plane, const test::Size& size,
                            const test::Size& corner, std::uint32_t seed) {
  reference::Plane larger = test::random_plane(size.width, size.height, 0, 3, seed);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      larger.at(corner.width + x, corner.height + y) = plane.at(x, y);
    }
  }
  return larger;
}

}  // namespace

TEST_CASE("common_frames: a part of a larger reference is bit-identical to the part alone") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{45, 33}, {45, 33}, {64, 48}};
    struct Where {
      test::Size larger, corner;
    };
    for (const Where& where :
         {Where{{70, 50}, {7, 11}}, Where{{45, 40}, {0, 7}}, Where{{60, 33}, {15, 0}}}) {
      for (const bool masked : {false, true}) {
        CAPTURE(test::to_string(where.corner));
        CAPTURE(masked);
        const Input alone = test::random_common_input(sizes.images, 2, masked, 150);
        const Found expected = test::found_common(device, alone, sizes, 0.4);
        Input input = alone;
        for (reference::Plane& plane : input.reference) {
          plane = surrounded(plane, where.larger, where.corner, 160);
        }
        for (reference::Plane& plane : input.reference_weight) {
          plane = surrounded(plane, where.larger, where.corner, 170);
        }
        Stream stream = device.make_stream();
        const test::CommonOnDevice on_device(device, stream, input);
        const CommonFramesPlan plan(device, {{64, 48, 1}});
        Image reference = device.make_image(PixelType::f32, {64, 48, 2});
        Image moving = device.make_image(PixelType::f32, {64, 48, 2});
        plan.enqueue(stream, on_device.images(),
                     {{45, 33, 1}, where.corner.width, where.corner.height}, 0.4, reference,
                     moving);
        plan.enqueue_copy(stream);
        CHECK(same(plan.wait(), expected.sums));
        for (std::int64_t channel = 0; channel < 2; ++channel) {
          const auto i = static_cast<std::size_t>(channel);
          CHECK(test::from_device(stream, reference, channel).values ==
                expected.reference[i].values);
          CHECK(test::from_device(stream, moving, channel).values == expected.moving[i].values);
        }
      }
    }
  });
}

TEST_CASE("common_frames: frames written at an offset leave the other frames unchanged") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{70, 50}, {45, 33}, {64, 48}};
    for (const int channels : {1, 2}) {
      CAPTURE(channels);
      const Input input = test::random_common_input(sizes.images, channels, false, 180);
      const Found expected = test::found_common(device, input, sizes, 0.4);
      Stream stream = device.make_stream();
      const test::CommonOnDevice on_device(device, stream, input);
      const CommonFramesPlan plan(device, {{64, 48, 1}});
      const Shape three{64, 48, 3 * std::int64_t{channels}};
      Image reference = device.make_image(PixelType::f32, three);
      Image moving = device.make_image(PixelType::f32, three);
      const std::vector<float> before(static_cast<std::size_t>(three.pixels()), 7.0F);
      for (Image* image : {&reference, &moving}) {
        stream.upload(before.data(), before.size() * sizeof(float), image->buffer());
      }
      plan.enqueue(stream, on_device.images(), {{45, 33, 1}}, 0.4, reference, moving, 0, 1);
      const std::vector<double> untouched(static_cast<std::size_t>(three.plane()), 7.0);
      for (std::int64_t slice = 0; slice < three.depth; ++slice) {
        const std::int64_t channel = slice - channels;
        const bool written = channel >= 0 && channel < channels;
        const auto i = static_cast<std::size_t>(written ? channel : 0);
        CHECK(test::from_device(stream, reference, slice).values ==
              (written ? expected.reference[i].values : untouched));
        CHECK(test::from_device(stream, moving, slice).values ==
              (written ? expected.moving[i].values : untouched));
      }
    }
  });
}

TEST_CASE("common_frames: wrong shapes and images are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(CommonFramesPlan(device, {{0, 4, 1}}), Error);
    CHECK_THROWS_AS(CommonFramesPlan(device, {{8, 4, 2}}), Error);
    CHECK_THROWS_AS(CommonFramesPlan(device, {{8, 4, 1}, 0}), Error);
    CHECK_THROWS_AS(CommonFramesPlan(device, {{8, 4, 1}, 100000}), Error);
    auto stream = device.make_stream();
    const CommonFramesPlan plan(device, {{8, 4, 1}});
    const auto image = [&](const Shape& shape, PixelType type = PixelType::f32) {
      return device.make_image(type, shape);
    };
    const Image good = image({6, 6, 1});
    const Image other = image({6, 5, 1});
    const Image integers = image({6, 6, 1}, PixelType::u8);
    const Image flat = image({8, 4, 1});
    Image a = image({8, 4, 1});
    Image b = image({8, 4, 1});
    Image two = image({8, 4, 2});
    struct Wrong {
      std::vector<const Image*> reference, moving;
      const Image* reference_weight;
      const Image* moving_weight;
    };
    for (const Wrong& wrong :
         std::vector<Wrong>{{{}, {}, nullptr, &good},
                            {{&good, &good, &good}, {&good}, nullptr, &good},
                            {{&good}, {&good, &good}, nullptr, &good},
                            {{&good, &other}, {&good, &good}, nullptr, &good},
                            {{&good}, {&integers}, nullptr, &good},
                            {{&good}, {&good}, &other, &good},
                            {{&good}, {&good}, nullptr, &other},
                            {{&good, &good}, {&good, &good}, nullptr, &good}}) {
      CHECK_THROWS_AS(
          plan.enqueue(
              stream, {wrong.reference, wrong.moving, wrong.reference_weight, *wrong.moving_weight},
              {5, 4, 1}, 0, a, b),
          Error);
    }
    const std::array<const Image*, 1> one{&good};
    const CommonImages images{one, one, nullptr, good};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(plan.enqueue(stream, images, {7, 4, 1}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 5, 1}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {0, 4, 1}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {{5, 4, 1}, 2, 0}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {{5, 4, 1}, 0, 3}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {{5, 4, 1}, -1, 0}, 0, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, b, 0, 1), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, b, 0, -1), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, nan, a, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, two, b), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, two), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, a), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, b, 1), Error);
    CHECK_THROWS_AS(plan.enqueue(stream, images, {5, 4, 1}, 0, a, b, -1), Error);
    CHECK_THROWS_AS(static_cast<void>(plan.wait(1)), Error);
    const std::array<const Image*, 1> written{&a};
    CHECK_THROWS_AS(plan.enqueue(stream, {written, written, nullptr, flat}, {5, 4, 1}, 0, a, b),
                    Error);
  });
}
