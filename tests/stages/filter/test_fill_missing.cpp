// fill_missing against the oracle, on every device.
#include "reference/filter/fill_missing.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/fill_missing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace {

using warpalign::Buffer;
using warpalign::Device;
using warpalign::FillMissingPlan;
using warpalign::FillMissingSpec;
using warpalign::Shape;
using warpalign::Stream;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Waves of about 8 samples between -1 and 1, and noise: what continues into a hole, and what not.
std::vector<float> drawn(const FillMissingSpec& spec, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<float> values;
  for (std::int64_t i = 0; i < spec.samples(); ++i) {
    const auto x = static_cast<double>(i % spec.shape.width);
    const auto y = static_cast<double>(i / spec.shape.width % spec.shape.height);
    const auto z = static_cast<double>(i / spec.shape.plane() % spec.shape.depth);
    values.push_back(
        static_cast<float>(std::sin(0.8 * x + 0.3 * y - 0.5 * z) + 0.1 * uniform(random)));
  }
  return values;
}

struct Box {
  std::int64_t x, y, z, width, height, depth;
};

std::vector<std::uint8_t> without(const FillMissingSpec& spec, const std::vector<Box>& holes) {
  std::vector<std::uint8_t> known(static_cast<std::size_t>(spec.samples()), 1);
  const Shape& shape = spec.shape;
  for (const Box& hole : holes) {
    for (std::int64_t z = hole.z; z < hole.z + hole.depth; ++z) {
      for (std::int64_t y = hole.y; y < hole.y + hole.height; ++y) {
        for (std::int64_t x = hole.x; x < hole.x + hole.width; ++x) {
          known[static_cast<std::size_t>((z * shape.height + y) * shape.width + x)] = 0;
        }
      }
    }
  }
  return known;
}

template <typename Number>
Buffer uploaded(const Device& device, Stream& stream, const std::vector<Number>& numbers) {
  Buffer buffer = device.make_buffer(numbers.size() * sizeof(Number));
  stream.upload(numbers.data(), buffer.size_bytes(), buffer);
  return buffer;
}

template <typename Number>
std::vector<Number> downloaded(Stream& stream, const Buffer& buffer) {
  std::vector<Number> numbers(buffer.size_bytes() / sizeof(Number));
  stream.download(buffer, numbers.data(), buffer.size_bytes());
  return numbers;
}

std::vector<float> filled(const Device& device, const FillMissingSpec& spec,
                          std::vector<float> values, const std::vector<std::uint8_t>& known) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) values[i] = nan_value;
  }
  Stream stream = device.make_stream();
  Buffer on_device = uploaded(device, stream, values);
  const Buffer mask = uploaded(device, stream, known);
  FillMissingPlan(device, spec).fill(stream, on_device, mask);
  return downloaded<float>(stream, on_device);
}

}  // namespace

TEST_CASE("fill_missing: finds NaN, infinities and nodata values") {
  test::on_every_device([](const Device& device) {
    // More samples than one work-group has, and not a multiple of it.
    const FillMissingSpec spec{{1037, 5, 1}, 2};
    std::vector<float> values = drawn(spec, 1);
    std::vector<std::uint8_t> expected(values.size(), 1);
    const std::vector<float> missing{nan_value, std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(), -9999};
    for (std::size_t i = 0; i < values.size(); i += 7) {
      values[i] = missing[i % missing.size()];
      expected[i] = 0;
    }
    Stream stream = device.make_stream();
    const Buffer on_device = uploaded(device, stream, values);
    Buffer known = device.make_buffer(values.size());
    FillMissingPlan plan(device, spec);
    CHECK(plan.find(stream, on_device, -9999.0F, known) ==
          std::ranges::count(expected, std::uint8_t{0}));
    CHECK(downloaded<std::uint8_t>(stream, known) == expected);
    std::ranges::transform(values, expected.begin(),
                           [](float value) { return std::isfinite(value) ? 1 : 0; });
    CHECK(plan.find(stream, on_device, std::nullopt, known) ==
          std::ranges::count(expected, std::uint8_t{0}));
    CHECK(downloaded<std::uint8_t>(stream, known) == expected);
  });
}

TEST_CASE("fill_missing: minimises the squared Laplacian") {
  struct Case {
    FillMissingSpec spec;
    std::vector<Box> holes;
  };
  const std::vector<Case> cases{
      {{{61, 1, 1}, 1}, {{9, 0, 0, 3, 1, 1}, {40, 0, 0, 1, 1, 1}}},
      {{{41, 33, 1}, 1}, {{5, 6, 0, 1, 1, 1}, {20, 11, 0, 3, 3, 1}, {12, 27, 0, 5, 2, 1}}},
      {{{41, 33, 1}, 1}, {{0, 4, 0, 2, 3, 1}, {15, 31, 0, 2, 2, 1}, {10, 10, 0, 6, 6, 1}}},
      {{{14, 12, 11}, 1}, {{4, 5, 3, 2, 3, 2}, {10, 1, 8, 1, 1, 1}}},
  };
  test::on_every_device([&](const Device& device) {
    for (const Case& drawn_case : cases) {
      const Shape& shape = drawn_case.spec.shape;
      CAPTURE(shape.width);
      CAPTURE(shape.depth);
      const std::vector<float> values = drawn(drawn_case.spec, 2);
      const std::vector<std::uint8_t> known = without(drawn_case.spec, drawn_case.holes);
      reference::VolumeOf<double> exact(shape.width, shape.height, shape.depth);
      exact.values.assign(values.begin(), values.end());
      exact = reference::fill_missing(exact, known);
      const std::vector<float> result = filled(device, drawn_case.spec, values, known);
      double largest = 0;
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (known[i] != 0) REQUIRE(result[i] == values[i]);
        largest = std::max(largest, std::abs(static_cast<double>(result[i]) - exact.values[i]));
      }
      // The iteration ends when 1e-3 of the first change remains, which is up to 2 here.
      CHECK(largest <= 2e-3);
    }
  });
}

TEST_CASE("fill_missing: arrays of a batch do not mix") {
  test::on_every_device([](const Device& device) {
    const FillMissingSpec one{{19, 13, 1}, 1};
    const FillMissingSpec both{{19, 13, 1}, 2};
    // The last row of the first array and the first row of the second.
    const std::vector<std::uint8_t> known = without(both, {{0, 12, 0, 19, 2, 1}});
    const std::vector<float> values = drawn(both, 3);
    const auto half = static_cast<std::ptrdiff_t>(one.samples());
    std::vector<float> expected = filled(device, one, {values.begin(), values.begin() + half},
                                         {known.begin(), known.begin() + half});
    const std::vector<float> second = filled(device, one, {values.begin() + half, values.end()},
                                             {known.begin() + half, known.end()});
    expected.insert(expected.end(), second.begin(), second.end());
    CHECK(filled(device, both, values, known) == expected);
  });
}

TEST_CASE("fill_missing: samples far within a hole continue the nearest known ones") {
  test::on_every_device([](const Device& device) {
    const FillMissingSpec spec{{150, 61, 1}, 1};
    const std::vector<std::uint8_t> known = without(spec, {{20, 0, 0, 110, 61, 1}});
    std::vector<float> values(known.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 150 < 75 ? 2.0F : 7.0F;
    const std::vector<float> result = filled(device, spec, values, known);
    // Values that do not change with the place have the Laplacian 0 already.
    CHECK(std::ranges::equal(result, values));
  });
}

TEST_CASE("fill_missing: any number but 0 stands for a known sample") {
  test::on_every_device([](const Device& device) {
    const FillMissingSpec spec{{19, 13, 1}, 1};
    std::vector<std::uint8_t> known = without(spec, {{4, 5, 0, 3, 2, 1}});
    const std::vector<float> values = drawn(spec, 4);
    const std::vector<float> expected = filled(device, spec, values, known);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] != 0) known[i] = static_cast<std::uint8_t>(1 + i % 255);
    }
    CHECK(filled(device, spec, values, known) == expected);
  });
}

TEST_CASE("fill_missing: without known samples, all become 0") {
  test::on_every_device([](const Device& device) {
    const FillMissingSpec spec{{40, 30, 1}, 1};
    const std::vector<std::uint8_t> known(1200, 0);
    CHECK(filled(device, spec, std::vector<float>(1200, 1), known) == std::vector<float>(1200, 0));
  });
}

TEST_CASE("fill_missing: results with a known share below one half are missing") {
  test::on_every_device([](const Device& device) {
    Stream stream = device.make_stream();
    const std::vector<float> shares{1.0000005F, 0.6F, 0.5F, 0.499999F, 0.49F, 0, 2};
    Buffer share = uploaded(device, stream, shares);
    Buffer results = uploaded(device, stream, std::vector<float>{5, 6, 0.4F, -3, 8, 9, 0.2F});
    const warpalign::MarkMissingPlan plan(device, 7);
    plan.execute(stream,
                 {.missing = 0,
                  .has_outside = true,
                  .outside = 77.0F,
                  .avoids_missing = true,
                  .highest = 255,
                  .next = 1},
                 share, results);
    // 0.499999 is one half but for rounding. 0.4 and -3 would be rounded to 0 within 0 to 255.
    CHECK(downloaded<float>(stream, results) == std::vector<float>{5, 6, 1, 1, 0, 0, 77});
    CHECK(downloaded<float>(stream, share) ==
          std::vector<float>{1, 0.6F, 0.5F, 0.499999F, 0.49F, 0, 0});
    plan.execute(stream, {.missing = nan_value}, share, results);
    const std::vector<float> marked = downloaded<float>(stream, results);
    CHECK(std::isnan(marked[4]));
    CHECK(std::isnan(marked[6]));
    CHECK(marked[3] == 1);
  });
}

TEST_CASE("fill_missing: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(FillMissingPlan(device, {{0, 8, 1}, 1}), warpalign::Error);
    CHECK_THROWS_AS(FillMissingPlan(device, {{1 << 16, 1 << 15, 1}, 1}), warpalign::Error);
    FillMissingPlan plan(device, {{8, 8, 1}, 1});
    Stream stream = device.make_stream();
    Buffer values = device.make_buffer(256), small = device.make_buffer(63);
    CHECK_THROWS_AS(plan.find(stream, values, std::nullopt, small), warpalign::Error);
    CHECK_THROWS_AS(plan.fill(stream, small, values), warpalign::Error);
  });
}
