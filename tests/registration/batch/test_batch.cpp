// Batches on devices: each pair's result is that of a single registration, to the last bit unless
// many pairs are registered together.
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/open_device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <latch>
#include <memory>
#include <numbers>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::align_batch;
using warpalign::BatchResult;
using warpalign::Device;
using warpalign::Error;
using warpalign::ErrorKind;
using warpalign::HostImage;
using warpalign::HostPair;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Registrar;
using warpalign::RegistrationResult;
using warpalign::Shape;

// An image with known values between its pixels: waves of random direction, length and phase.
class Scene {
 public:
  explicit Scene(std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (Wave& wave : waves_) {
      const double frequency = 0.01 + 0.14 * unit(random);
      const double direction = 2 * std::numbers::pi * unit(random);
      wave = {2 * std::numbers::pi * frequency * std::cos(direction),
              2 * std::numbers::pi * frequency * std::sin(direction),
              2 * std::numbers::pi * unit(random)};
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> drawn(const Shape& shape, const Affine& to_scene) const {
    std::vector<std::uint8_t> pixels;
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const Point at = to_scene(Point{static_cast<double>(x), static_cast<double>(y)});
        double sum = 128.5;
        for (const Wave& wave : waves_)
          sum += 5 * std::cos(wave.u * at.x + wave.v * at.y + wave.phase);
        pixels.push_back(static_cast<std::uint8_t>(std::clamp(sum, 0.0, 255.0)));
      }
    }
    return pixels;
  }

 private:
  struct Wave {
    double u, v, phase;
  };
  std::array<Wave, 100> waves_{};
};

struct Pair {
  Shape reference_shape, moving_shape;
  Affine truth;
  std::vector<std::uint8_t> reference, moving;

  [[nodiscard]] HostPair view() const {
    return {{reference.data(), PixelType::u8, reference_shape.width, reference_shape.height},
            {moving.data(), PixelType::u8, moving_shape.width, moving_shape.height}};
  }
};

// Pairs of several sizes, so that workers change their memory and plans between pairs.
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> made = [] {
    std::vector<Pair> result;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Scene scene(100 + i);
      const Shape reference = i % 3 == 0 ? Shape{160, 128, 1} : Shape{144, 144, 1};
      const Shape moving = i % 2 == 0 ? Shape{144, 144, 1} : Shape{150, 131, 1};
      const double n = i;
      const Affine truth = warpalign::Similarity{20 * n - 70, 1 + 0.03 * n, {n - 3, 5 - n}}.matrix(
          reference, moving);
      result.push_back({reference, moving, truth, scene.drawn(reference, {}),
                        scene.drawn(moving, truth.inverse())});
    }
    return result;
  }();
  return made;
}

std::vector<HostPair> views() {
  std::vector<HostPair> result;
  for (const Pair& pair : pairs()) result.push_back(pair.view());
  return result;
}

std::vector<RegistrationResult> one_by_one(const Device& device) {
  std::vector<RegistrationResult> results;
  for (const HostPair& pair : views()) {
    results.push_back(warpalign::register_images(device, pair.reference, pair.moving));
  }
  return results;
}

// The arithmetic and the device are the same, so every bit must agree, whatever else runs.
void check_same(const RegistrationResult& found, const RegistrationResult& expected) {
  CHECK(test::max_corner_distance(found.matrix, expected.matrix, {160, 144, 1}) == 0);
  CHECK(found.significance == expected.significance);
  CHECK(found.confidence == expected.confidence);
  CHECK(found.reliable == expected.reliable);
  CHECK(found.refined == expected.refined);
}

}  // namespace

TEST_CASE("batch: every pair has the result of a single registration, for any number of streams") {
  test::on_every_device([](const Device& device) {
    const auto expected = one_by_one(device);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(expected[i].reliable);  // otherwise this test would compare failures
      CHECK(test::max_corner_distance(expected[i].matrix, pairs()[i].truth,
                                      pairs()[i].reference_shape) <= 0.1);
    }
    const std::vector<HostPair> given = views();
    for (const int streams : {1, 2, 4}) {
      CAPTURE(streams);
      const auto found = align_batch({&device, 1}, given, {}, {streams});
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        REQUIRE(found[i].result);
        CHECK_FALSE(found[i].error);
        check_same(*found[i].result, expected[i]);
      }
    }
    // The same pairs in reverse order, through Registrar::align_batch().
    const std::vector<HostPair> backwards(given.rbegin(), given.rend());
    const auto found = Registrar::align_batch({&device, 1}, backwards);
    for (std::size_t i = 0; i < found.size(); ++i) {
      check_same(found[i].result.value(), expected[found.size() - 1 - i]);
    }
  });
}

namespace {

constexpr Shape alike{112, 100, 1};

/// Pairs of one shape, some of which need more than a first search: each is one of `distinct`.
std::vector<HostPair> many(const std::vector<Pair>& distinct, std::size_t count) {
  std::vector<HostPair> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(distinct[i % distinct.size()].view());
  return result;
}

Pair moved_by(const Affine& truth, std::uint32_t seed) {
  const Scene scene(seed);
  return {alike, alike, truth, scene.drawn(alike, {}), scene.drawn(alike, truth.inverse())};
}

}  // namespace

TEST_CASE("batch: many pairs are registered together, for any number of streams the same") {
  std::vector<Pair> distinct;
  for (std::uint32_t i = 0; i < 11; ++i) {
    const double n = i;
    distinct.push_back(moved_by(
        warpalign::Similarity{3 * n - 15, 0.95 + 0.01 * n, {n + 1, 9 - n}}.matrix(alike, alike),
        100 + i));
  }
  const std::vector<HostPair> given = many(distinct, 136);
  test::on_every_device([&](const Device& device) {
    const auto found = align_batch({&device, 1}, given, {}, {1});
    REQUIRE(found.size() == given.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      const RegistrationResult& result = found[i].result.value();
      CHECK(result.reliable);
      // A batch tries both; a Registrar that finds a pair at once, log-polar spectra only.
      CHECK(result.tried.size() == 2);
      // Rounding to 8 bits, on 112 x 100 pixels.
      CHECK(test::max_corner_distance(result.matrix, distinct[i % 11].truth, alike) <= 0.05);
      if (i >= 11) check_same(result, *found[i % 11].result);
    }
    const RegistrationResult alone =
        warpalign::register_images(device, given[2].reference, given[2].moving);
    // A batch scores by its own sums, on a coarse level without a margin of two pixels, and judges
    // smoothed edges differently.
    CHECK(std::abs(alone.significance / found[2].result->significance - 1) < 0.15);
    CHECK(std::abs(alone.overlap - found[2].result->overlap) < 0.03);
    CHECK(std::abs(alone.confidence - found[2].result->confidence) < 1e-3);
    for (const int streams : {2, 3}) {
      const auto again = align_batch({&device, 1}, given, {}, {streams});
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        check_same(again[i].result.value(), *found[i].result);
      }
    }
  });
}

TEST_CASE("batch: pairs that need more than a first search have the results of a Registrar") {
  const Affine near = warpalign::Similarity{2, 1, {3, -2}}.matrix(alike, alike);
  std::vector<Pair> distinct{moved_by(near, 1)};
  distinct.push_back(moved_by(warpalign::Similarity{180, 1, {2, 1}}.matrix(alike, alike), 2));
  distinct.push_back(moved_by(warpalign::Similarity{5, 1.6, {0, 1}}.matrix(alike, alike), 3));
  distinct.push_back(moved_by(near, 4));  // unrelated
  distinct.back().moving = moved_by(near, 5).moving;
  distinct.push_back(moved_by(near, 6));  // repeats itself
  for (std::vector<std::uint8_t>* image : {&distinct.back().reference, &distinct.back().moving}) {
    const std::size_t phase = image == &distinct.back().moving ? 3 : 0;
    for (std::size_t i = 0; i < image->size(); ++i) {
      const std::size_t x = i % 112 + phase, y = i / 112;
      (*image)[i] = static_cast<std::uint8_t>(20 * (x % 9) + 8 * (y % 11));
    }
  }
  distinct.push_back(moved_by(near, 7));  // behind dust on the sensor
  for (std::size_t i = 0; i < distinct.back().reference.size(); ++i) {
    const std::size_t x = i % 112, y = i / 112;
    if (x % 28 > 8 || y % 25 > 8) continue;
    for (std::vector<std::uint8_t>* image : {&distinct.back().reference, &distinct.back().moving}) {
      (*image)[i] = static_cast<std::uint8_t>((*image)[i] / 3);
    }
  }
  const std::vector<HostPair> given = many(distinct, 136);
  test::on_every_device([&](const Device& device) {
    const auto found = align_batch({&device, 1}, given);
    for (std::size_t i = 1; i < distinct.size(); ++i) {
      CAPTURE(i);
      const RegistrationResult expected =
          warpalign::register_images(device, given[i].reference, given[i].moving);
      check_same(found[i].result.value(), expected);
      check_same(found[i + 6 * distinct.size()].result.value(), expected);
      CHECK(found[i].result->ambiguous == expected.ambiguous);
    }
    CHECK(found[0].result->reliable);
    CHECK_FALSE(found[3].result->reliable);
    CHECK(found[4].result->ambiguous);
  });
}

TEST_CASE("batch: several devices register one list of pairs") {
  // All devices, and the first one opened a second time. The second one has no kernels or plans
  // yet, so that its workers create them at the same time.
  std::vector<Device> devices = test::devices();
  devices.push_back(warpalign::open_device(devices.front().info().id));
  const std::vector<HostPair> given = views();
  constexpr int streams = 2;
  const std::size_t workers = std::min(given.size(), devices.size() * streams);
  REQUIRE(workers >= devices.size());
  // No worker gets its pair before all workers have requested one.
  std::latch all_have_asked(static_cast<std::ptrdiff_t>(workers));
  const auto source = [&](std::size_t i) {
    if (i < workers) all_have_asked.arrive_and_wait();
    return given[i];
  };
  std::vector<BatchResult> found(given.size());
  std::set<std::size_t> used;
  align_batch(devices, given.size(), source,
              [&](std::size_t i, BatchResult result) {
                CHECK_FALSE(found[i].result);
                used.insert(result.device);
                found[i] = std::move(result);
                return true;
              },
              {}, {streams});
  CHECK(used.size() == devices.size());
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const auto expected = one_by_one(devices[device]);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].device == device) check_same(found[i].result.value(), expected[i]);
    }
  }
}

TEST_CASE("batch: an error of one pair does not affect the other pairs") {
  test::on_every_device([](const Device& device) {
    const auto expected = one_by_one(device);
    const std::vector<std::uint8_t> constant(144 * 144, 77);
    const HostImage flat{constant.data(), PixelType::u8, 144, 144};
    std::vector<HostPair> given = views();
    given[1].reference = flat;
    given[3].moving = flat;
    given[4] = {};  // a pair without images
    given[6].moving_mask = flat;
    given[6].moving_mask->width = 100;
    const std::set<std::size_t> bad{1, 3, 4, 6};
    const auto found = align_batch({&device, 1}, given);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(found[i].error.has_value() == bad.contains(i));
      CHECK(found[i].result.has_value() != bad.contains(i));
      if (found[i].result) check_same(*found[i].result, expected[i]);
    }
    CHECK(found[1].error.value().kind() == ErrorKind::invalid_image);
    CHECK(found[3].error.value().kind() == ErrorKind::invalid_image);
    CHECK(found[4].error.value().kind() == ErrorKind::invalid_argument);
    CHECK(found[6].error.value().kind() == ErrorKind::invalid_argument);
  });
}

TEST_CASE("batch: results stay right after a worker frees the buffers of another size") {
  test::on_every_device([](const Device& device) {
    const Scene scene(7);
    std::vector<Pair> made;
    for (std::int64_t i = 0; i < 18; ++i) {
      const Shape reference{144, 144, 1};
      const Shape moving{120 + 7 * i, 200 - 5 * i, 1};
      const Affine truth = warpalign::Similarity{10, 1.1, {3, -2}}.matrix(reference, moving);
      made.push_back({reference, moving, truth, scene.drawn(reference, {}),
                      scene.drawn(moving, truth.inverse())});
    }
    std::vector<HostPair> given;
    for (const Pair& pair : made) given.push_back(pair.view());
    const auto found = align_batch({&device, 1}, given, {}, {1});
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      check_same(found[i].result.value(),
                 warpalign::register_images(device, given[i].reference, given[i].moving));
    }
  });
}

TEST_CASE("batch: a mask applies to its own pair only") {
  test::on_every_device([](const Device& device) {
    const Pair& first = pairs().front();
    // A stripe covers half of the reference, and the mask excludes it.
    std::vector<std::uint8_t> covered = first.reference;
    std::vector<std::uint8_t> mask(covered.size(), 255);
    for (std::size_t i = covered.size() / 2; i < covered.size(); ++i) {
      covered[i] = static_cast<std::uint8_t>(i % 160 < 80 ? 0 : 255);
      mask[i] = 0;
    }
    HostPair pair = first.view();
    pair.reference.data = covered.data();
    pair.reference_mask = HostImage{mask.data(), PixelType::u8, 160, 128};
    Registrar registrar(device);
    registrar.set_reference(pair.reference, *pair.reference_mask);
    const auto expected = registrar.align(pair.moving);
    const std::vector<HostPair> given{pair, first.view(), pair};
    // a single worker must change masks between pairs
    const auto found = align_batch({&device, 1}, given, {}, {1});
    check_same(found[0].result.value(), expected);
    check_same(found[2].result.value(), expected);
    CHECK(found[1].result->significance != expected.significance);
  });
}

TEST_CASE("batch: a source may own its pixels, and its exceptions reach the caller") {
  test::on_every_device([](const Device& device) {
    const auto expected = one_by_one(device);
    const auto owned = [](std::size_t i) {
      const auto copy = std::make_shared<const Pair>(pairs()[i]);
      HostPair pair = copy->view();
      pair.owner = copy;
      return pair;
    };
    std::size_t taken = 0;
    const auto sink = [&](std::size_t i, BatchResult found) {
      check_same(found.result.value(), expected[i]);
      ++taken;
      return true;
    };
    align_batch({&device, 1}, pairs().size(), owned, sink);
    CHECK(taken == pairs().size());

    const auto broken = [&](std::size_t i) {
      if (i == 3) throw std::runtime_error("the disk is gone");
      return owned(i);
    };
    CHECK_THROWS_WITH(align_batch({&device, 1}, pairs().size(), broken, sink), "the disk is gone");
    // The devices are still usable.
    CHECK(align_batch({&device, 1}, std::vector{pairs()[0].view()})[0].result.has_value());
  });
}

TEST_CASE("batch: an empty batch does nothing, wrong arguments are refused") {
  test::on_every_device([](const Device& device) {
    const std::vector<HostPair> none;
    CHECK(align_batch({&device, 1}, none).empty());
    const std::vector<HostPair> one{pairs()[0].view()};
    CHECK_THROWS_AS((void)align_batch({}, one), Error);
    CHECK_THROWS_AS((void)align_batch({&device, 1}, one, {}, {0}), Error);
    CHECK_THROWS_AS((void)align_batch({&device, 1}, one, {}, {65}), Error);
    CHECK_THROWS_AS(align_batch({&device, 1}, 1, nullptr, nullptr), Error);
    warpalign::RegistrationOptions options;
    options.candidates = 0;
    CHECK_THROWS_WITH_AS((void)align_batch({&device, 1}, one, options),
                         doctest::Contains("candidates"), Error);
  });
}
