// What two images have in common, and how its texture is spread, against the oracle on every
// device.
#include "reference/filter/common_frames.hpp"
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

/// What a stage reads. Without `reference_weight` all pixels of the reference count.
struct Input {
  std::vector<reference::Plane> reference, moving;  // one for each channel
  reference::Plane moving_weight;
  std::vector<reference::Plane> reference_weight;  // one or none
};

struct Sizes {
  test::Size images, part, frame;
};

struct Found {
  std::vector<reference::Plane> reference, moving;
  CommonSums sums;
};

/// The same on a device.
class OnDevice {
 public:
  OnDevice(const Device& device, Stream& stream, const Input& input)
      : weight_(test::to_device(device, stream, input.moving_weight)) {
    const auto take = [&](const reference::Plane& plane) {
      return test::to_device(device, stream, plane);
    };
    for (const auto& plane : input.reference) reference_.push_back(take(plane));
    for (const auto& plane : input.moving) moving_.push_back(take(plane));
    for (const auto& plane : input.reference_weight) reference_weight_.push_back(take(plane));
    for (const Image& image : reference_) references_.push_back(&image);
    for (const Image& image : moving_) movings_.push_back(&image);
  }

  [[nodiscard]] CommonImages images() const {
    return {references_, movings_, reference_weight_.empty() ? nullptr : &reference_weight_[0],
            weight_};
  }

 private:
  Image weight_;
  std::vector<Image> reference_, moving_, reference_weight_;
  std::vector<const Image*> references_, movings_;
};

Found computed(const Device& device, const Input& input, const Sizes& sizes, double turned = 0) {
  Stream stream = device.make_stream();
  const OnDevice on_device(device, stream, input);
  const auto channels = static_cast<std::int64_t>(input.reference.size());
  const Shape frames{sizes.frame.width, sizes.frame.height, channels};
  Image reference = device.make_image(PixelType::f32, frames);
  Image moving = device.make_image(PixelType::f32, frames);
  test::poison(stream, reference);
  test::poison(stream, moving);
  const CommonFramesPlan plan(device, {{frames.width, frames.height, 1}});
  plan.enqueue(stream, on_device.images(), {sizes.part.width, sizes.part.height, 1}, turned,
               reference, moving);
  plan.enqueue_copy(stream);
  Found found;
  found.sums = plan.wait();
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    found.reference.push_back(test::from_device(stream, reference, channel));
    found.moving.push_back(test::from_device(stream, moving, channel));
  }
  return found;
}

reference::Channels channels_of(const std::vector<reference::Plane>& planes) {
  reference::Channels channels(planes[0].width, planes[0].height);
  for (std::size_t i = 0; i < channels.values.size(); ++i) {
    channels.values[i] = {planes[0].values[i], planes.size() > 1 ? planes[1].values[i] : 0.0};
  }
  return channels;
}

reference::CommonFrames expected(const Input& input, const Sizes& sizes, double turned) {
  reference::Plane ones(sizes.images.width, sizes.images.height);
  ones.values.assign(ones.values.size(), 1);
  return reference::common_frames(channels_of(input.reference), channels_of(input.moving),
                                  input.reference_weight.empty() ? ones : input.reference_weight[0],
                                  input.moving_weight, sizes.part.width, sizes.part.height, turned);
}

/// A channel with zeros around it.
reference::Plane padded(const reference::Channels& channels, std::size_t channel,
                        const test::Size& frame) {
  reference::Plane plane(frame.width, frame.height);
  for (std::int64_t y = 0; y < channels.height; ++y) {
    for (std::int64_t x = 0; x < channels.width; ++x) {
      const std::complex<double> value = channels.at(x, y);
      plane.at(x, y) = channel == 0 ? value.real() : value.imag();
    }
  }
  return plane;
}

/// `largest`: of the images' values.
void compare(const Device& device, const Input& input, const Sizes& sizes, double largest,
             double turned = 0) {
  CAPTURE(test::to_string(sizes.images));
  CAPTURE(test::to_string(sizes.part));
  CAPTURE(test::to_string(sizes.frame));
  const Found found = computed(device, input, sizes, turned);
  const reference::CommonFrames wanted = expected(input, sizes, turned);
  for (std::size_t channel = 0; channel < found.reference.size(); ++channel) {
    CAPTURE(channel);
    // The mean is that of float sums over a tile, a few roundings off; turning adds two more.
    CHECK(test::max_difference(found.reference[channel],
                               padded(wanted.reference, channel, sizes.frame)) <= 1e-6 * largest);
    CHECK(test::max_difference(found.moving[channel],
                               padded(wanted.moving, channel, sizes.frame)) <= 1e-6 * largest);
  }
  CHECK(found.sums.pixels == wanted.pixels);
  // Positive terms, each the sum of 289 squares with as many roundings. On CPUs sums of columns
  // lose and gain rows, and keep the roundings of both for a band of rows.
  CHECK(found.sums.reference == doctest::Approx(wanted.reference_energy).epsilon(2e-6));
  CHECK(found.sums.moving == doctest::Approx(wanted.moving_energy).epsilon(2e-6));
  CHECK(found.sums.both == doctest::Approx(wanted.both_energies).epsilon(4e-6));
}

Input random_input(const test::Size& size, int channels, bool masked, std::uint32_t seed) {
  Input input;
  for (int channel = 0; channel < channels; ++channel) {
    // The means are far from 0.
    input.reference.push_back(test::random_plane(size.width, size.height, -1, 2, ++seed));
    input.moving.push_back(test::random_plane(size.width, size.height, -2, 1.5, ++seed));
  }
  input.moving_weight = test::random_plane(size.width, size.height, 0.4, 1, ++seed);
  if (masked) {
    input.reference_weight.push_back(test::random_plane(size.width, size.height, 0.3, 1, ++seed));
  }
  return input;
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
        compare(device, random_input(sizes.images, 1, masked, 70), sizes, 2);
      }
    }
  });
}

TEST_CASE("common_frames: two channels, of which the reference's are turned") {
  test::on_every_device([](const Device& device) {
    for (const Sizes& sizes : all_sizes()) {
      for (const double turned : {0.0, 2.5, -0.7}) {
        CAPTURE(turned);
        compare(device, random_input(sizes.images, 2, turned != 0, 80), sizes, 3, turned);
      }
    }
  });
}

TEST_CASE("common_frames: texture that ends") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{200, 150}, {190, 150}, {256, 256}};
    Input input = random_input(sizes.images, 1, false, 90);
    for (std::int64_t y = 0; y < sizes.images.height; ++y) {
      for (std::int64_t x = 0; x < sizes.images.width; ++x) {
        if (x > 60 || y > 40) input.reference[0].at(x, y) *= 0x1p-10;
        if (x < 50 || y < 30) input.moving[0].at(x, y) *= 0x1p-10;
      }
    }
    compare(device, input, sizes, 2);
  });
}

TEST_CASE("common_frames: nothing in common") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{70, 50}, {45, 33}, {64, 64}};
    Input input = random_input(sizes.images, 2, true, 100);
    // Each image counts where the other one does not.
    for (std::size_t i = 0; i < input.moving_weight.values.size(); ++i) {
      input.moving_weight.values[i] = i % 3 == 0 ? 1 : 0.5;
      input.reference_weight[0].values[i] = i % 3 == 0 ? 0.25 : 1;
    }
    const Found found = computed(device, input, sizes, 1);
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
    Input input = random_input(sizes.images, 1, true, 110);
    input.reference[0].values.assign(input.reference[0].values.size(), constant);
    const Found found = computed(device, input, sizes);
    // The mean of floats is a few roundings off, everywhere the same.
    CHECK(test::largest(found.reference[0]) <= 1e-6 * constant);
    CHECK(found.sums.reference <= 289 * found.sums.pixels * 1e-12 * constant * constant);
  });
}

TEST_CASE("common_frames: what does not count may be NaN") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes sizes{{70, 50}, {45, 33}, {64, 64}};
    Input input = random_input(sizes.images, 1, true, 120);
    Input with_nan = input;
    for (std::size_t i = 0; i < input.moving_weight.values.size(); ++i) {
      if (input.moving_weight.values[i] > 0.5 && input.reference_weight[0].values[i] > 0.5)
        continue;
      with_nan.reference[0].values[i] = std::numeric_limits<double>::quiet_NaN();
      with_nan.moving[0].values[i] = std::numeric_limits<double>::infinity();
    }
    const Found found = computed(device, with_nan, sizes);
    const Found without = computed(device, input, sizes);
    CHECK(same(found.sums, without.sums));
    CHECK(found.reference[0].values == without.reference[0].values);
    CHECK(found.moving[0].values == without.moving[0].values);
  });
}

TEST_CASE("common_frames: several results in one copy, the same bits as alone") {
  test::on_every_device([](const Device& device) {
    constexpr Sizes large{{120, 100}, {110, 100}, {128, 128}};
    constexpr Sizes small{{70, 50}, {45, 33}, {128, 128}};
    const Input one = random_input(large.images, 1, true, 130);
    const Input two = random_input(small.images, 2, false, 140);
    Stream stream = device.make_stream();
    const OnDevice first(device, stream, one);
    const OnDevice second(device, stream, two);
    const CommonFramesPlan plan(device, {{128, 128, 1}, 3});
    std::array<Image, 2> frames{device.make_image(PixelType::f32, {128, 128, 1}),
                                device.make_image(PixelType::f32, {128, 128, 1})};
    std::array<Image, 2> pairs{device.make_image(PixelType::f32, {128, 128, 2}),
                               device.make_image(PixelType::f32, {128, 128, 2})};
    plan.enqueue(stream, second.images(), {45, 33, 1}, 0.5, pairs[0], pairs[1], 2);
    plan.enqueue(stream, first.images(), {110, 100, 1}, 0, frames[0], frames[1], 0);
    plan.enqueue(stream, first.images(), {110, 100, 1}, 0, frames[0], frames[1], 1);
    plan.enqueue_copy(stream);
    const CommonSums of_first = computed(device, one, large).sums;
    CHECK(same(plan.wait(0), of_first));
    CHECK(same(plan.wait(1), of_first));
    CHECK(same(plan.wait(2), computed(device, two, small, 0.5).sums));
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
                            {{&other}, {&good}, nullptr, &good},
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
