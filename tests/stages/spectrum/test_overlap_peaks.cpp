// The peaks of correlation scored by the overlap, against the oracle's scores, on every device.
#include "reference/spectrum/overlap_correlation.hpp"
#include "reference/spectrum/peak.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::OverlapLimits;
using warpalign::OverlapPeaksPlan;
using warpalign::PeakRecord;
using warpalign::PixelType;

// Correlations and overlaps of the surfaces of some images: two for each, or two overlaps for all.
struct Surfaces {
  test::Size size{};
  std::vector<reference::Plane> correlations, overlaps;
  [[nodiscard]] std::size_t images() const { return correlations.size() / 2; }
  [[nodiscard]] bool one_overlap() const { return overlaps.size() < correlations.size(); }
  [[nodiscard]] double plane() const { return static_cast<double>(size.width * size.height); }
};

// Random correlations, and overlaps from a little below 0 to a quarter of the image.
Surfaces random_surfaces(const test::Size& size, std::uint32_t images = 1,
                         bool one_overlap = false) {
  Surfaces surfaces{size, {}, {}};
  const double plane = surfaces.plane();
  for (std::uint32_t i = 0; i < 2 * images; ++i) {
    surfaces.correlations.push_back(
        test::random_plane(size.width, size.height, -plane * plane, plane * plane, 70 + i));
    if (one_overlap && i >= 2) continue;
    surfaces.overlaps.push_back(
        test::random_plane(size.width, size.height, -plane, plane * plane / 4, 570 + i));
  }
  return surfaces;
}

// Surfaces that all overlap by one pixel, so that scores are what correlations are.
Surfaces even_surfaces(const test::Size& size, double correlation) {
  Surfaces surfaces{size, {}, {}};
  reference::Plane plane(size.width, size.height);
  std::fill(plane.values.begin(), plane.values.end(), surfaces.plane() * correlation);
  surfaces.correlations.assign(2, plane);
  std::fill(plane.values.begin(), plane.values.end(), surfaces.plane());
  surfaces.overlaps.assign(2, plane);
  return surfaces;
}

// The surfaces of one image of several.
Surfaces image_of(const Surfaces& all, std::size_t image) {
  const auto two_of = [&](const std::vector<reference::Plane>& planes, std::size_t i) {
    return std::vector<reference::Plane>{planes[2 * i], planes[2 * i + 1]};
  };
  return {all.size, two_of(all.correlations, image),
          two_of(all.overlaps, all.one_overlap() ? 0 : image)};
}

warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const std::vector<reference::Plane>& slices) {
  auto image = device.make_image(PixelType::f32, {slices[0].width, slices[0].height,
                                                  static_cast<std::int64_t>(slices.size())});
  std::vector<float> pixels;
  for (const reference::Plane& slice : slices) {
    for (const double value : slice.values) pixels.push_back(static_cast<float>(value));
  }
  stream.upload(pixels.data(), pixels.size() * sizeof(float), image.buffer());
  return image;
}

std::vector<PeakRecord> peaks_of(const warpalign::Device& device, const Surfaces& surfaces,
                                 std::span<const OverlapLimits> limits) {
  auto stream = device.make_stream();
  const auto correlations = to_device(device, stream, surfaces.correlations);
  const auto overlaps = to_device(device, stream, surfaces.overlaps);
  std::vector<PeakRecord> records(surfaces.correlations.size());
  auto buffer = device.make_buffer(records.size() * sizeof(PeakRecord));
  const std::vector<std::byte> garbage(buffer.size_bytes(), std::byte{0xff});
  stream.upload(garbage.data(), garbage.size(), buffer);
  const OverlapPeaksPlan plan(device, {{surfaces.size.width, surfaces.size.height, 1},
                                       static_cast<std::int64_t>(surfaces.images()),
                                       surfaces.one_overlap()});
  if (limits.size() == 1) plan.execute(stream, correlations, overlaps, limits[0], buffer);
  if (limits.size() != 1) plan.execute_each(stream, correlations, overlaps, limits, buffer);
  stream.download(buffer, records.data(), buffer.size_bytes());
  return records;
}

reference::Plane scores_of(const Surfaces& surfaces, std::size_t slice,
                           const OverlapLimits& limits) {
  const bool mirrored = slice % 2 == 1;
  const reference::ShiftLimits shifts{
      static_cast<double>(limits.min_overlap), static_cast<double>(limits.reach),
      static_cast<double>(mirrored ? limits.mirrored_centre_x : limits.centre_x),
      static_cast<double>(mirrored ? limits.mirrored_centre_y : limits.centre_y)};
  return reference::overlap_score(surfaces.correlations[slice],
                                  surfaces.overlaps[slice % surfaces.overlaps.size()], shifts);
}

// Two divisions and a root: a few units of 6e-8 of the largest score.
double tolerance_of(const reference::Plane& scores) { return 5e-7 * test::largest(scores); }

// Whether nothing else scores as much as the maximum does.
bool is_unique(const reference::Plane& scores) {
  const double least = reference::peak(scores).value - 2 * tolerance_of(scores);
  return std::count_if(scores.values.begin(), scores.values.end(),
                       [&](double score) { return score >= least; }) == 1;
}

// How far the record's neighbours are from the scores about its place.
double error_of_neighbours(const PeakRecord& record, const reference::Plane& scores) {
  test::WorstError worst;
  for (std::int64_t k = 0; k < 9; ++k) {
    const std::int64_t x = (record.x + k % 3 - 1 + scores.width) % scores.width;
    const std::int64_t y = (record.y + k / 3 - 1 + scores.height) % scores.height;
    const auto found = static_cast<double>(record.neighbours[static_cast<std::size_t>(k)]);
    worst.add(std::abs(found - scores.at(x, y)));
  }
  return worst.value();
}

void compare(const PeakRecord& record, const reference::Plane& scores) {
  const double tolerance = tolerance_of(scores);
  const auto expected = reference::peak(scores);
  REQUIRE(record.x >= 0);
  REQUIRE(record.x < scores.width);
  REQUIRE(record.y >= 0);
  REQUIRE(record.y < scores.height);
  if (is_unique(scores)) {
    CHECK(record.x == expected.x);
    CHECK(record.y == expected.y);
  }
  CHECK(std::abs(scores.at(record.x, record.y) - expected.value) <= 2 * tolerance);
  CHECK(std::abs(static_cast<double>(record.value) - expected.value) <= tolerance);
  CHECK(record.neighbours[4] == record.value);
  CHECK(error_of_neighbours(record, scores) <= tolerance);
}

// With the same limits for all images.
void compare_peaks(const warpalign::Device& device, const Surfaces& surfaces,
                   const OverlapLimits& limits) {
  CAPTURE(test::to_string(surfaces.size));
  CAPTURE(limits.reach);
  const auto records = peaks_of(device, surfaces, {&limits, 1});
  for (std::size_t slice = 0; slice < records.size(); ++slice) {
    CAPTURE(slice);
    compare(records[slice], scores_of(surfaces, slice, limits));
  }
}

bool are_same(std::span<const PeakRecord> some, std::span<const PeakRecord> others) {
  return some.size() == others.size() &&
         std::memcmp(some.data(), others.data(), some.size_bytes()) == 0;
}

constexpr OverlapLimits any_shift{0.3F};

}  // namespace

TEST_CASE("overlap_peaks: every size, without and with limits") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size :
         {test::Size{1, 1}, test::Size{1, 9}, test::Size{8, 6}, test::Size{31, 17},
          test::Size{130, 65}, test::Size{160, 160}, test::Size{509, 510}, test::Size{512, 512}}) {
      const auto surfaces = random_surfaces(size);
      CHECK(is_unique(scores_of(surfaces, 0, any_shift)));
      compare_peaks(device, surfaces, any_shift);
      compare_peaks(device, surfaces, {0.3F, 3.6F});
      compare_peaks(device, surfaces, {static_cast<float>(surfaces.plane() / 5)});
    }
  });
}

TEST_CASE("overlap_peaks: shifts within reach of a centre, which goes round the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    // Rows of whole groups of four pixels, and groups that go on in the next row.
    for (const test::Size& size : {test::Size{40, 30}, test::Size{42, 30}, test::Size{39, 31}}) {
      const auto surfaces = random_surfaces(size);
      compare_peaks(device, surfaces, {1, 5.3F, 1.25F, -2.5F, 39, 29});
      compare_peaks(device, surfaces, {1, 5.3F, -38, 3.5F, 20, 15});
      compare_peaks(device, surfaces, {1, 11.7F, 78.5F, -61.25F, 19.5F, 14.5F});
      compare_peaks(device, surfaces, {1, 1000, 3, 4, 5, 6});
    }
  });
}

TEST_CASE("overlap_peaks: a higher score just beyond reach is passed over") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = even_surfaces({48, 20}, 1);
    surfaces.correlations[0].at(33, 9) = 7 * surfaces.plane();  // 5 from the centre
    surfaces.correlations[0].at(27, 9) = 3 * surfaces.plane();
    surfaces.correlations[1].at(34, 9) = 7 * surfaces.plane();  // 5 as well
    surfaces.correlations[1].at(28, 9) = 3 * surfaces.plane();
    const auto columns = [&](float reach) {
      const OverlapLimits limits{0.5F, reach, 28, 9, 29, 9};
      const auto records = peaks_of(device, surfaces, {&limits, 1});
      compare(records[0], scores_of(surfaces, 0, limits));
      return std::vector<int>{records[0].x, records[1].x};
    };
    CHECK(columns(4.9F) == std::vector<int>{27, 28});
    CHECK(columns(5.1F) == std::vector<int>{33, 34});
  });
}

TEST_CASE("overlap_peaks: a shift that overlaps too little is no peak, however it correlates") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = even_surfaces({64, 33}, 1);
    for (const std::size_t slice : {std::size_t{0}, std::size_t{1}}) {
      surfaces.correlations[slice].at(50, 20) = 100 * surfaces.plane();
      surfaces.overlaps[slice].at(50, 20) = 0.9 * surfaces.plane();
      surfaces.correlations[slice].at(13, 30) = 2 * surfaces.plane();
    }
    const auto column = [&](float min_overlap) {
      const OverlapLimits limits{min_overlap};
      compare_peaks(device, surfaces, limits);
      return peaks_of(device, surfaces, {&limits, 1})[1].x;
    };
    CHECK(column(0.8F) == 50);
    CHECK(column(0.95F) == 13);
  });
}

TEST_CASE("overlap_peaks: where nothing overlaps the score is 0, not infinite") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = random_surfaces({16, 9});
    for (reference::Plane& overlap : surfaces.overlaps) {
      for (double& value : overlap.values) value = 0;
    }
    surfaces.overlaps[1].values[5] = -1e-3;  // an empty overlap after the rounding of transforms
    const OverlapLimits limits{std::numeric_limits<float>::min()};
    for (const PeakRecord& record : peaks_of(device, surfaces, {&limits, 1})) {
      CHECK(record.value == 0);
      CHECK(record.x == 0);
      CHECK(record.y == 0);
      CHECK(record.neighbours == std::array<float, 9>{});
    }
  });
}

TEST_CASE("overlap_peaks: where all that may score is below 0, what may not is the peak") {
  test::on_every_device([](const warpalign::Device& device) {
    // What is beside the shifts that may not score is less than the best that may.
    auto surfaces = even_surfaces({45, 28}, -2);
    for (reference::Plane& surface : surfaces.correlations) surface.at(3, 0) = -surfaces.plane();
    compare_peaks(device, surfaces, {0.5F});
    surfaces.overlaps[0].at(17, 11) = 0;
    surfaces.overlaps[1].at(44, 27) = 0;
    const OverlapLimits limits{0.5F};
    const auto records = peaks_of(device, surfaces, {&limits, 1});
    for (std::size_t slice = 0; slice < 2; ++slice) {
      CHECK(records[slice].value == 0);
      compare(records[slice], scores_of(surfaces, slice, limits));
    }
    const OverlapLimits near{0.5F, 4, 10, 10, 0, 0};
    const auto beyond = peaks_of(device, surfaces, {&near, 1});
    CHECK(beyond[0].x == 0);
    CHECK(beyond[0].y == 0);
    CHECK(beyond[1].x == 5);
    CHECK(beyond[1].y == 0);
  });
}

TEST_CASE("overlap_peaks: of scores a millionth apart the highest") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{64, 64}, test::Size{63, 65}}) {
      auto surfaces = even_surfaces(size, 1);
      const auto order = test::random_plane(size.width, size.height, 0, 1, 91);
      std::vector<double> sorted = order.values;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto rank = std::lower_bound(sorted.begin(), sorted.end(), order.values[i]);
        surfaces.correlations[0].values[i] *=
            1 + 0x1p-19 * static_cast<double>(rank - sorted.begin());
        surfaces.correlations[1].values[i] *=
            1 + 0x1p-19 * static_cast<double>(sorted.end() - rank);
      }
      CHECK(is_unique(scores_of(surfaces, 0, any_shift)));
      CHECK(is_unique(scores_of(surfaces, 1, any_shift)));
      compare_peaks(device, surfaces, any_shift);
    }
  });
}

TEST_CASE("overlap_peaks: of equal maxima the first, wherever they are") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{320, 240}, test::Size{301, 83}}) {
      for (std::uint32_t seed = 0; seed < 6; ++seed) {
        auto surfaces = even_surfaces(size, 1);
        const auto places = test::random_plane(8, 1, 0, surfaces.plane(), 300 + seed);
        std::size_t first = places.values.size() * surfaces.correlations[0].values.size();
        for (const double place : places.values) {
          const auto i = static_cast<std::size_t>(place);
          surfaces.correlations[0].values[i] = 3 * surfaces.plane();
          first = std::min(first, i);
        }
        const auto records = peaks_of(device, surfaces, {&any_shift, 1});
        CHECK(static_cast<std::size_t>(records[0].y * size.width + records[0].x) == first);
        // All alike.
        CHECK(records[1].x == 0);
        CHECK(records[1].y == 0);
      }
    }
  });
}

TEST_CASE("overlap_peaks: NaN is never the maximum, and -infinity is where there is nothing else") {
  test::on_every_device([](const warpalign::Device& device) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    auto surfaces = even_surfaces({100, 91}, 1);
    for (reference::Plane& surface : surfaces.correlations) {
      surface.at(0, 0) = nan;
      surface.at(40, 30) = 9 * surfaces.plane();
      surface.at(41, 30) = nan;
      surface.at(70, 50) = 20 * surfaces.plane();
    }
    for (reference::Plane& overlap : surfaces.overlaps) overlap.at(70, 50) = nan;  // scores 0
    for (const PeakRecord& record : peaks_of(device, surfaces, {&any_shift, 1})) {
      CHECK(record.value == 9);
      CHECK(record.x == 40);
      CHECK(record.y == 30);
      CHECK(std::isnan(record.neighbours[5]));
      CHECK(record.neighbours[3] == 1);
    }
    for (double& value : surfaces.correlations[0].values) value = nan;
    surfaces.correlations[1] = surfaces.correlations[0];
    surfaces.correlations[1].at(60, 77) = -infinity;
    surfaces.correlations[1].at(99, 90) = -infinity;
    surfaces.overlaps = even_surfaces(surfaces.size, 1).overlaps;
    const auto records = peaks_of(device, surfaces, {&any_shift, 1});
    for (const PeakRecord& record : records) {
      CHECK(static_cast<double>(record.value) == -infinity);
    }
    CHECK(records[0].x == 0);
    CHECK(records[0].y == 0);
    CHECK(records[1].x == 60);
    CHECK(records[1].y == 77);
  });
}

TEST_CASE("overlap_peaks: corners have neighbours across the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const std::int64_t corner : {0, 1, 2, 3}) {
      auto surfaces = random_surfaces({40, 27});
      for (reference::Plane& overlap : surfaces.overlaps) {
        for (double& value : overlap.values) value = std::abs(value) + surfaces.plane();
      }
      surfaces.correlations[1].at(corner % 2 * 39, corner / 2 * 26) =
          1e3 * std::pow(surfaces.plane(), 2);
      const auto records = peaks_of(device, surfaces, {&any_shift, 1});
      CHECK(records[1].x == corner % 2 * 39);
      CHECK(records[1].y == corner / 2 * 26);
      compare_peaks(device, surfaces, any_shift);
    }
  });
}

TEST_CASE("overlap_peaks: a batch has the results of its images alone") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{31, 17}, test::Size{168, 168}}) {
      for (const bool one_overlap : {false, true}) {
        CAPTURE(one_overlap);
        const auto all = random_surfaces(size, 5, one_overlap);
        const OverlapLimits limits{0.3F, 9, 3, 4, 5, 6};
        compare_peaks(device, all, limits);
        std::vector<PeakRecord> alone;
        for (std::size_t image = 0; image < all.images(); ++image) {
          const auto records = peaks_of(device, image_of(all, image), {&limits, 1});
          alone.insert(alone.end(), records.begin(), records.end());
        }
        CHECK(are_same(peaks_of(device, all, {&limits, 1}), alone));
      }
    }
  });
}

TEST_CASE("overlap_peaks: each image of a batch has its own limits") {
  test::on_every_device([](const warpalign::Device& device) {
    // More images than share a launch.
    constexpr std::uint32_t batch = 70;
    for (const bool one_overlap : {false, true}) {
      CAPTURE(one_overlap);
      const auto all = random_surfaces({19, 12}, batch, one_overlap);
      std::vector<OverlapLimits> limits;
      for (std::uint32_t i = 0; i < batch; ++i) {
        const auto k = static_cast<float>(i);
        limits.push_back({0.5F * (1 + k), 1 + k / 7, k / 3, k / 9, 18 - k / 4, 11 - k / 8});
      }
      const auto records = peaks_of(device, all, limits);
      std::vector<PeakRecord> alone;
      for (std::size_t i = 0; i < batch; ++i) {
        CAPTURE(i);
        compare(records[2 * i], scores_of(all, 2 * i, limits[i]));
        compare(records[2 * i + 1], scores_of(all, 2 * i + 1, limits[i]));
        const auto of_image = peaks_of(device, image_of(all, i), {&limits[i], 1});
        alone.insert(alone.end(), of_image.begin(), of_image.end());
      }
      CHECK(are_same(records, alone));
    }
  });
}

TEST_CASE("overlap_peaks: one plan with other limits, on one stream and on another") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto all = random_surfaces({64, 40}, 2);
    const std::vector<OverlapLimits> each{{0.3F, 5, 8, 9, 30, 20}, {40, 7, 1, 2, 3, 4}};
    const std::vector<OverlapLimits> limits{{0.3F}, {60, 4, 5, 6, 7, 8}, {0.3F}};
    auto first = device.make_stream();
    auto second = device.make_stream();
    const auto correlations = to_device(device, first, all.correlations);
    const auto overlaps = to_device(device, first, all.overlaps);
    first.finish();
    const OverlapPeaksPlan plan(device, {{64, 40, 1}, 2});
    std::vector<warpalign::Buffer> found;
    std::vector<std::vector<PeakRecord>> expected;
    for (std::size_t i = 0; i < 12; ++i) {
      auto& stream = i % 4 < 2 ? first : second;
      found.push_back(device.make_buffer(4 * sizeof(PeakRecord)));
      if (i % 3 == 2) {
        plan.execute_each(stream, correlations, overlaps, each, found.back());
        expected.push_back(peaks_of(device, all, each));
      } else {
        plan.execute(stream, correlations, overlaps, limits[i % 3], found.back());
        expected.push_back(peaks_of(device, all, {&limits[i % 3], 1}));
      }
    }
    first.finish();
    second.finish();
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      std::vector<PeakRecord> records(4);
      first.download(found[i], records.data(), found[i].size_bytes());
      CHECK(are_same(records, expected[i]));
    }
  });
}

TEST_CASE("overlap_peaks: wrong shapes, images, records and limits are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(OverlapPeaksPlan(device, {{8, 4, 2}}), Error);
    CHECK_THROWS_AS(OverlapPeaksPlan(device, {{8, 4, 1}, 0}), Error);
    CHECK_THROWS_AS(OverlapPeaksPlan(device, {{8, 4, 1}, 100000}), Error);
    auto stream = device.make_stream();
    const auto surfaces = device.make_image(PixelType::f32, {8, 4, 2});
    const auto too_many = device.make_image(PixelType::f32, {8, 4, 4});
    const auto wide = device.make_image(PixelType::f32, {9, 4, 2});
    auto records = device.make_buffer(2 * sizeof(PeakRecord));
    auto too_small = device.make_buffer(2 * sizeof(PeakRecord) - 1);
    const OverlapPeaksPlan plan(device, {{8, 4, 1}});
    CHECK_THROWS_AS(plan.execute(stream, wide, surfaces, {}, records), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, wide, {}, records), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, too_many, {}, records), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {}, too_small), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {0}, records), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {1, -1}, records), Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {1, 0, std::nanf("")}, records),
                    Error);
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {1, INFINITY}, records), Error);
    const std::vector<OverlapLimits> for_two(2);
    CHECK_THROWS_AS(plan.execute_each(stream, surfaces, surfaces, for_two, records), Error);
  });
}
