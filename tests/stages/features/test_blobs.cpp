// Extrema of differences of Gaussians against the oracle, on every device.
#include "reference/features/blobs.hpp"
#include "reference/features/octave.hpp"
#include "support/devices.hpp"
#include "support/packed_planes.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/features/blobs.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using warpalign::Blob;
using warpalign::BlobsPlan;
using warpalign::BlobsSpec;
using warpalign::Buffer;
using warpalign::Device;
using warpalign::Error;
using warpalign::Shape;
using warpalign::Stream;

constexpr std::int32_t octave_number = 3;

/// The planes of each image, image by image.
using Octave = std::vector<std::vector<reference::Plane>>;

/// Noise without detail at the first images' scale, so that there are extrema between scales.
/// Rounded to floats.
Octave random_octave(const std::vector<Shape>& shapes, std::size_t images, std::uint32_t seed) {
  std::vector<double> sigmas{1.7};
  for (std::size_t i = 1; i < images; ++i) {
    sigmas.push_back(std::exp2(static_cast<double>(i - 1) / 3) * std::sqrt(std::exp2(2.0 / 3) - 1));
  }
  Octave octave(images);
  for (const Shape& shape : shapes) {
    const auto noise = test::random_plane(shape.width, shape.height, 0, 1, seed++);
    auto smoothed = reference::octave(noise, 1, sigmas);
    for (std::size_t i = 0; i < images; ++i) {
      test::round_to_floats(smoothed[i]);
      octave[i].push_back(smoothed[i]);
    }
  }
  return octave;
}

/// The blurred Gaussian blob of this sigma that image `image` of Lowe's scale space shows.
reference::Plane smoothed_gaussian(const Shape& shape, double x0, double y0, double sigma,
                                   std::size_t image) {
  const double own = 1.6 * std::exp2(static_cast<double>(image) / 3);
  const double square = sigma * sigma + own * own;
  reference::Plane plane(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double u = static_cast<double>(x) - x0;
      const double v = static_cast<double>(y) - y0;
      plane.at(x, y) = sigma * sigma / square * std::exp(-(u * u + v * v) / (2 * square));
    }
  }
  return plane;
}

Octave octave_of_gaussian(const Shape& shape, double x, double y, double sigma) {
  Octave octave;
  for (std::size_t i = 0; i < 6; ++i) octave.push_back({smoothed_gaussian(shape, x, y, sigma, i)});
  return octave;
}

std::vector<float> packed(const Octave& octave) {
  std::vector<float> all;
  for (const auto& image : octave) {
    const std::vector<float> values = test::packed(image);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

BlobsSpec spec_of(const Octave& octave, std::int64_t capacity, float least_contrast) {
  return {test::shapes_of(octave[0]), static_cast<std::int64_t>(octave.size()), capacity,
          least_contrast};
}

struct Found {
  std::int32_t count = 0;
  std::vector<Blob> blobs;  ///< the whole capacity, whatever the count is
  std::vector<float> deviations;
};

/// Runs the stage `times` times; every run adds blobs.
Found found_in(const Device& device, const Octave& octave, const BlobsSpec& spec,
               int executions = 1) {
  Stream stream = device.make_stream();
  const Buffer input = test::to_buffer(device, stream, packed(octave));
  Buffer deviations = test::poisoned(device, stream, spec.planes.size() * sizeof(float));
  const auto capacity = static_cast<std::size_t>(spec.capacity);
  Buffer blobs = test::poisoned(device, stream, capacity * sizeof(Blob));
  Buffer count = test::to_buffer(device, stream, std::vector<std::int32_t>{0});
  const BlobsPlan plan(device, spec);
  plan.measure(stream, input, deviations);
  for (int i = 0; i < executions; ++i) {
    plan.execute(stream, input, deviations, octave_number + i, count, blobs);
  }
  return {test::from_buffer<std::int32_t>(stream, count, 1)[0],
          test::from_buffer<Blob>(stream, blobs, capacity),
          test::from_buffer<float>(stream, deviations, spec.planes.size())};
}

/// The blobs that were written, at most as many as there is capacity for.
std::vector<Blob> written_blobs(const Found& found) {
  const auto count = std::min(found.blobs.size(), static_cast<std::size_t>(found.count));
  return {found.blobs.begin(), found.blobs.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool comes_before(const Blob& a, const Blob& b) {
  if (a.octave != b.octave) return a.octave < b.octave;
  if (a.plane != b.plane) return a.plane < b.plane;
  if (a.image != b.image) return a.image < b.image;
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

bool same(const Blob& a, const Blob& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<Blob> sorted(std::vector<Blob> blobs) {
  std::sort(blobs.begin(), blobs.end(), comes_before);
  return blobs;
}

bool same(const std::vector<Blob>& a, const std::vector<Blob>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Blob& one, const Blob& two) { return same(one, two); });
}

/// Whether both are the same blob. Their positions may differ by `apart` pixels.
bool is_at(const Blob& found, std::size_t plane, const reference::Blob& expected, double apart) {
  return static_cast<std::size_t>(found.plane) == plane && found.image == expected.image &&
         std::abs(static_cast<double>(found.x) - expected.x) <= apart &&
         std::abs(static_cast<double>(found.y) - expected.y) <= apart &&
         std::abs(static_cast<double>(found.scale) - expected.scale) <= apart &&
         std::abs(static_cast<double>(found.strength) / expected.strength - 1) <= 1e-6;
}

// Device and oracle subtract the same floats, so a difference has a single rounding, and only the
// deviation is a sum. An extremum that exceeds its neighbours by 1e-4 of the compared value is one
// in single precision, too, and whatever single precision finds exceeds them by at least -1e-4.
constexpr double undecided = 1e-4;
// A blob that exceeds its neighbours by 1e-4 has a second difference of at least 2e-4 of its
// value. A vertex is the quotient of differences with relative errors of 1.2e-7 and twice that
// second difference.
constexpr double apart = 1e-3;

std::size_t compare(const Device& device, const Octave& octave, float least_contrast) {
  const Found found = found_in(device, octave, spec_of(octave, 4000, least_contrast));
  REQUIRE(found.count <= 4000);
  const std::vector<Blob> blobs = written_blobs(found);
  std::size_t certain = 0;
  std::size_t possible = 0;
  std::size_t explained = 0;
  for (std::size_t p = 0; p < octave[0].size(); ++p) {
    CAPTURE(p);
    std::vector<reference::Plane> images;
    for (const auto& image : octave) images.push_back(image[p]);
    const double deviation = reference::deviation_of_blobs(images[0]);
    // Sums of hundreds of values between 0 and 1 in single precision.
    CHECK(std::abs(static_cast<double>(found.deviations[p]) - deviation) <= 1e-5 * deviation);
    for (const reference::Blob& blob :
         reference::blobs(images, static_cast<double>(least_contrast), deviation, -undecided)) {
      CAPTURE(blob.image);
      CAPTURE(blob.x);
      CAPTURE(blob.y);
      const bool is_certain = blob.margin > undecided;
      const auto times = static_cast<std::size_t>(
          std::count_if(blobs.begin(), blobs.end(), [&](const Blob& other) {
            // The second difference of an undecided blob may be 0, so any position between pixels
            // is right.
            return is_at(other, p, blob, is_certain ? apart : 1);
          }));
      if (is_certain) CHECK(times == 1);
      CHECK(times <= 1);
      certain += is_certain ? 1 : 0;
      ++possible;
      explained += times;
    }
  }
  for (const Blob& blob : blobs) CHECK(blob.octave == octave_number);
  CHECK(explained == blobs.size());
  CHECK(certain <= blobs.size());
  CHECK(blobs.size() <= possible);
  // With many undecided blobs the test would prove little.
  CHECK(possible <= certain + 2);
  return certain;
}

}  // namespace

TEST_CASE("blobs: agree with the oracle") {
  test::on_every_device([](const Device& device) {
    const std::vector<Shape> shapes{{97, 71, 1}, {15, 64, 1}, {11, 11, 1},  {10, 30, 1},
                                    {64, 64, 1}, {1, 1, 1},   {231, 140, 1}};
    CHECK(compare(device, random_octave(shapes, 6, 1), 0.02F) > 50);
    CHECK(compare(device, random_octave({{120, 90, 1}}, 4, 20), 0) > 20);
    CHECK(compare(device, random_octave({{120, 90, 1}}, 5, 30), 0.1F) > 5);
  });
}

TEST_CASE("blobs: the minimum contrast excludes weaker blobs") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}}, 6, 40);
    const Found all = found_in(device, octave, spec_of(octave, 1000, 0));
    const Found some = found_in(device, octave, spec_of(octave, 1000, 0.1F));
    const float least = 0.1F * all.deviations[0];
    std::vector<Blob> expected;
    for (const Blob& blob : written_blobs(all)) {
      if (blob.strength >= least) expected.push_back(blob);
    }
    CHECK(expected.size() < written_blobs(all).size());
    CHECK(!expected.empty());
    CHECK(same(sorted(expected), sorted(written_blobs(some))));
  });
}

TEST_CASE("blobs: a Gaussian is found at its position, with its scale") {
  test::on_every_device([](const Device& device) {
    for (const double scale : {1.1, 1.8, 2.3, 3.0}) {
      for (const double sign : {1.0, -1.0}) {
        CAPTURE(scale);
        CAPTURE(sign);
        // About a Gaussian of sigma t, the difference of images s and k s is largest at s^2 = t^2
        // / k, with k = 2^(1/3).
        const double sigma = 1.6 * std::exp2((scale + 0.5) / 3);
        Octave octave = octave_of_gaussian({61, 53, 1}, 31.3, 24.8, sigma);
        for (auto& image : octave) {
          for (double& value : image[0].values) value *= sign;
        }
        const Found found = found_in(device, octave, spec_of(octave, 10, 0.02F));
        REQUIRE(found.count == 1);
        const Blob& blob = found.blobs[0];
        CHECK(blob.octave == octave_number);
        CHECK(blob.plane == 0);
        CHECK(blob.image == static_cast<int>(std::lround(scale)));
        // A Gaussian is not a parabola: for a sigma above 2.9 pixels the vertex is off by about
        // 0.3 / 2.9^2 / 4 pixels, and by as much along the scale, where the second difference is
        // small.
        CHECK(std::abs(static_cast<double>(blob.x) - 31.3) <= 0.02);
        CHECK(std::abs(static_cast<double>(blob.y) - 24.8) <= 0.02);
        CHECK(std::abs(static_cast<double>(blob.scale) - scale) <= 0.05);
      }
    }
  });
}

TEST_CASE("blobs: none within five pixels of an edge") {
  test::on_every_device([](const Device& device) {
    const Shape shape{40, 36, 1};
    const double sigma = 1.6 * std::exp2(2.5 / 3);
    const auto count = [&](double x, double y) {
      const Octave octave = octave_of_gaussian(shape, x, y, sigma);
      return found_in(device, octave, spec_of(octave, 10, 0.02F)).count;
    };
    CHECK(count(5, 18) == 1);
    CHECK(count(4, 18) == 0);
    CHECK(count(34, 18) == 1);
    CHECK(count(35, 18) == 0);
    CHECK(count(20, 5) == 1);
    CHECK(count(20, 4) == 0);
    CHECK(count(20, 30) == 1);
    CHECK(count(20, 31) == 0);
  });
}

TEST_CASE("blobs: none in constant images and on straight edges") {
  test::on_every_device([](const Device& device) {
    Octave constant(5, {reference::Plane(40, 30)});
    for (auto& image : constant) image[0].values.assign(1200, 7);
    const Found none = found_in(device, constant, spec_of(constant, 10, 0));
    CHECK(none.count == 0);
    CHECK(none.deviations[0] == 0);
    // Ridges whose second derivative along y is a hundredth of that along x.
    Octave ridge;
    const double sigma = 1.6 * std::exp2(2.5 / 3);
    for (std::size_t i = 0; i < 6; ++i) {
      auto plane = smoothed_gaussian({61, 61, 1}, 30, 30, sigma, i);
      for (std::int64_t y = 0; y < 61; ++y) {
        const double v = static_cast<double>(y) - 30;
        for (std::int64_t x = 0; x < 61; ++x) {
          plane.at(x, y) = plane.at(x, 30) * (1 - v * v * 1e-4);
        }
      }
      ridge.push_back({plane});
    }
    // Row 30 was drawn directly and not computed from other rows.
    CHECK(found_in(device, ridge, spec_of(ridge, 10, 0.02F)).count == 0);
  });
}

TEST_CASE("blobs: counted beyond the capacity, and earlier ones are kept") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}, {64, 64, 1}}, 6, 50);
    const Found all = found_in(device, octave, spec_of(octave, 1000, 0.02F));
    REQUIRE(all.count > 20);
    const std::vector<Blob> expected = sorted(written_blobs(all));
    const Found few = found_in(device, octave, spec_of(octave, 13, 0.02F));
    CHECK(few.count == all.count);
    for (const Blob& blob : sorted(few.blobs)) {
      CHECK(std::count_if(expected.begin(), expected.end(),
                          [&](const Blob& other) { return same(blob, other); }) == 1);
    }
    for (std::size_t i = 1; i < few.blobs.size(); ++i) {
      CHECK(!same(sorted(few.blobs)[i - 1], sorted(few.blobs)[i]));
    }
    CHECK(found_in(device, octave, spec_of(octave, all.count, 0.02F)).count == all.count);
  });
}

TEST_CASE("blobs: appended to earlier ones, with the octave's number") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}}, 6, 60);
    const Found once = found_in(device, octave, spec_of(octave, 1000, 0.02F));
    const Found twice = found_in(device, octave, spec_of(octave, 1000, 0.02F), 2);
    CHECK(twice.count == 2 * once.count);
    std::vector<Blob> first;
    std::vector<Blob> second;
    for (const Blob& blob : written_blobs(twice)) {
      (blob.octave == octave_number ? first : second).push_back(blob);
    }
    CHECK(same(sorted(first), sorted(written_blobs(once))));
    for (Blob& blob : second) {
      CHECK(blob.octave == octave_number + 1);
      blob.octave = octave_number;
    }
    CHECK(same(sorted(second), sorted(first)));
  });
}

TEST_CASE("blobs: two executions give the same bits, in any order") {
  test::on_every_device([](const Device& device) {
    const Octave octave = random_octave({{97, 71, 1}, {31, 80, 1}}, 6, 70);
    const Found one = found_in(device, octave, spec_of(octave, 1000, 0.02F));
    const Found two = found_in(device, octave, spec_of(octave, 1000, 0.02F));
    CHECK(one.deviations == two.deviations);
    CHECK(same(sorted(written_blobs(one)), sorted(written_blobs(two))));
  });
}

TEST_CASE("blobs: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    const BlobsSpec good{{{20, 10, 1}, {8, 8, 1}}, 4, 10, 0.02F};
    const auto refused = [&](const auto& spoil) {
      BlobsSpec spec = good;
      spoil(spec);
      CHECK_THROWS_AS(BlobsPlan(device, spec), Error);
    };
    refused([](BlobsSpec& s) { s.planes.clear(); });
    refused([](BlobsSpec& s) { s.planes[0] = {20, 0, 1}; });
    refused([](BlobsSpec& s) { s.planes[0] = {20, 10, 2}; });
    refused([](BlobsSpec& s) { s.images = 3; });
    refused([](BlobsSpec& s) { s.images = std::numeric_limits<std::int64_t>::max(); });
    refused([](BlobsSpec& s) { s.capacity = 0; });
    refused([](BlobsSpec& s) { s.capacity = std::int64_t{1} << 31U; });
    refused([](BlobsSpec& s) { s.least_contrast = -0.01F; });
    refused([](BlobsSpec& s) { s.least_contrast = std::numeric_limits<float>::quiet_NaN(); });

    Stream stream = device.make_stream();
    const BlobsPlan plan(device, good);
    const std::size_t image = 264 * sizeof(float);
    const Buffer octave = device.make_buffer(4 * image);
    Buffer deviations = device.make_buffer(2 * sizeof(float));
    Buffer count = device.make_buffer(4);
    Buffer blobs = device.make_buffer(10 * sizeof(Blob));
    const Buffer short_octave = device.make_buffer(4 * image - 4);
    const Buffer short_image = device.make_buffer(image - 4);
    Buffer one_deviation = device.make_buffer(4);
    Buffer half_count = device.make_buffer(2);
    Buffer nine_blobs = device.make_buffer(9 * sizeof(Blob));
    CHECK_THROWS_AS(plan.measure(stream, short_image, deviations), Error);
    CHECK_THROWS_AS(plan.measure(stream, octave, one_deviation), Error);
    CHECK_THROWS_AS(plan.execute(stream, short_octave, deviations, 0, count, blobs), Error);
    CHECK_THROWS_AS(plan.execute(stream, octave, one_deviation, 0, count, blobs), Error);
    CHECK_THROWS_AS(plan.execute(stream, octave, deviations, 0, half_count, blobs), Error);
    CHECK_THROWS_AS(plan.execute(stream, octave, deviations, 0, count, nine_blobs), Error);
    const Device second = warpalign::open_device(device.info().id);
    Stream foreign = second.make_stream();
    CHECK_THROWS_AS(plan.measure(foreign, octave, deviations), Error);
    CHECK_THROWS_AS(plan.execute(foreign, octave, deviations, 0, count, blobs), Error);
  });
}
