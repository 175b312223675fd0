// The peaks of correlations scored by their overlap, against the oracle's scores, on every device.
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
using warpalign::OverlapOutline;
using warpalign::OverlapPeaksPlan;
using warpalign::PeakRecord;
using warpalign::PixelType;

// Correlations and overlaps of some images: two surfaces for each image, or two overlaps for all.
struct Surfaces {
  test::Size size{};
  std::vector<reference::Plane> correlations, overlaps;
  [[nodiscard]] std::size_t images() const { return correlations.size() / 2; }
  [[nodiscard]] bool one_overlap() const { return overlaps.size() < correlations.size(); }
  [[nodiscard]] double plane() const { return static_cast<double>(size.width * size.height); }
};

// Random correlations, with overlaps from slightly below 0 to a quarter of the image.
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

// Surfaces with an overlap of one pixel everywhere, so that scores equal correlations.
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

reference::ShiftLimits limits_on(bool mirrored, const OverlapLimits& limits) {
  return {static_cast<double>(limits.min_overlap),
          static_cast<double>(limits.reach),
          static_cast<double>(mirrored ? limits.mirrored_centre_x : limits.centre_x),
          static_cast<double>(mirrored ? limits.mirrored_centre_y : limits.centre_y),
          static_cast<double>(limits.first_x),
          static_cast<double>(limits.first_y),
          static_cast<double>(limits.second_x),
          static_cast<double>(limits.second_y)};
}

reference::Plane scores_of(const Surfaces& surfaces, std::size_t slice,
                           const OverlapLimits& limits) {
  return reference::overlap_score(surfaces.correlations[slice],
                                  surfaces.overlaps[slice % surfaces.overlaps.size()],
                                  limits_on(slice % 2 == 1, limits));
}

// Two divisions and a square root: a few units of 6e-8 of the largest score.
double tolerance_of(const reference::Plane& scores) { return 5e-7 * test::largest(scores); }

// Whether the maximum is unique to within the tolerance.
bool is_unique(const reference::Plane& scores, double tolerance) {
  const double least = reference::peak(scores).value - 2 * tolerance;
  return std::count_if(scores.values.begin(), scores.values.end(),
                       [&](double score) { return score >= least; }) == 1;
}

bool is_unique(const reference::Plane& scores) { return is_unique(scores, tolerance_of(scores)); }

// The largest difference between the record's neighbours and the scores around its position.
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

void compare(const PeakRecord& record, const reference::Plane& scores, double tolerance) {
  const auto expected = reference::peak(scores);
  REQUIRE(record.x >= 0);
  REQUIRE(record.x < scores.width);
  REQUIRE(record.y >= 0);
  REQUIRE(record.y < scores.height);
  if (is_unique(scores, tolerance)) {
    CHECK(record.x == expected.x);
    CHECK(record.y == expected.y);
  }
  CHECK(std::abs(scores.at(record.x, record.y) - expected.value) <= 2 * tolerance);
  CHECK(std::abs(static_cast<double>(record.value) - expected.value) <= tolerance);
  CHECK(record.neighbours[4] == record.value);
  CHECK(error_of_neighbours(record, scores) <= tolerance);
}

void compare(const PeakRecord& record, const reference::Plane& scores) {
  compare(record, scores, tolerance_of(scores));
}

// Compares with the same limits for all images.
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

// The outline of an image b of some extents, rotated and scaled.
OverlapOutline outline_of(const test::Size& a, const test::Size& b, double degrees, double scale) {
  const double radians = degrees * std::acos(-1.0) / 180;
  const double c = scale * std::cos(radians) / 2;
  const double s = scale * std::sin(radians) / 2;
  const auto width = static_cast<double>(b.width);
  const auto height = static_cast<double>(b.height);
  return {static_cast<float>(a.width) / 2, static_cast<float>(a.height) / 2,
          static_cast<float>(c * width),   static_cast<float>(s * width),
          static_cast<float>(-s * height), static_cast<float>(c * height)};
}

// Surfaces whose overlaps are those of outlines, one outline for each image. There is one limit
// for each image, or one for all.
struct Outlined {
  Surfaces surfaces;
  std::vector<OverlapOutline> outlines;
  std::vector<OverlapLimits> limits;
  [[nodiscard]] const OverlapLimits& limits_of(std::size_t image) const {
    return limits[limits.size() == 1 ? 0 : image];
  }
};

reference::Plane overlap_of(const test::Size& size, const OverlapOutline& outline,
                            const reference::ShiftLimits& limits) {
  const auto number = [](float x) { return static_cast<double>(x); };
  return reference::outline_overlap(
      size.width, size.height,
      {number(outline.half_width), number(outline.half_height), number(outline.along_x),
       number(outline.along_y), number(outline.across_x), number(outline.across_y)},
      limits);
}

// The error of an overlap in pixels: some ten roundings, each of 6e-8 of a product of two lengths
// that are no longer than the surface. Edges along an axis are rotated by 2^-20 pixels at their
// ends. The largest error in 200 000 random outlines on sides of 32 to 1024 pixels was 2.8e-7 of
// the surface.
double overlap_error(const Surfaces& surfaces) {
  return 1e-6 *
         (surfaces.plane() + static_cast<double>(surfaces.size.width + surfaces.size.height));
}

// Random positive correlations. They are 0 at shifts whose overlap is so close to the minimum that
// rounding decides whether they may score.
reference::Plane correlation_of(const Surfaces& surfaces, const reference::Plane& overlap,
                                double least, std::uint32_t seed) {
  const double plane = surfaces.plane();
  auto correlation =
      test::random_plane(surfaces.size.width, surfaces.size.height, 0, plane * plane, seed);
  for (std::size_t i = 0; i < overlap.values.size(); ++i) {
    const double beyond = overlap.values[i] / plane - least;
    if (std::abs(beyond) < overlap_error(surfaces)) correlation.values[i] = 0;
  }
  return correlation;
}

Outlined outlined_surfaces(const test::Size& size, const std::vector<OverlapOutline>& outlines,
                           const std::vector<OverlapLimits>& limits) {
  Outlined all{{size, {}, {}}, outlines, limits};
  for (std::size_t slice = 0; slice < 2 * outlines.size(); ++slice) {
    const auto of_slice = limits_on(slice % 2 == 1, all.limits_of(slice / 2));
    all.surfaces.overlaps.push_back(overlap_of(size, outlines[slice / 2], of_slice));
    all.surfaces.correlations.push_back(correlation_of(all.surfaces, all.surfaces.overlaps.back(),
                                                       of_slice.min_overlap,
                                                       70 + static_cast<std::uint32_t>(slice)));
  }
  return all;
}

Outlined image_of(const Outlined& all, std::size_t image) {
  return {image_of(all.surfaces, image), {all.outlines[image]}, {all.limits_of(image)}};
}

std::vector<PeakRecord> peaks_of(const warpalign::Device& device, const Outlined& all) {
  auto stream = device.make_stream();
  const auto correlations = to_device(device, stream, all.surfaces.correlations);
  std::vector<PeakRecord> records(all.surfaces.correlations.size());
  auto buffer = device.make_buffer(records.size() * sizeof(PeakRecord));
  const std::vector<std::byte> garbage(buffer.size_bytes(), std::byte{0xff});
  stream.upload(garbage.data(), garbage.size(), buffer);
  const OverlapPeaksPlan plan(device, {{all.surfaces.size.width, all.surfaces.size.height, 1},
                                       static_cast<std::int64_t>(all.outlines.size()),
                                       false,
                                       true});
  plan.execute_outlines(stream, correlations, all.outlines, all.limits, buffer);
  stream.download(buffer, records.data(), buffer.size_bytes());
  return records;
}

// Half of the overlap's relative error, which is largest for the smallest overlap, plus the
// tolerance for given overlaps.
double outlined_tolerance(const Outlined& all, std::size_t image, const reference::Plane& scores) {
  const auto least = static_cast<double>(all.limits_of(image).min_overlap);
  return tolerance_of(scores) + overlap_error(all.surfaces) / (2 * least) * test::largest(scores);
}

void compare_peaks(const warpalign::Device& device, const Outlined& all) {
  CAPTURE(test::to_string(all.surfaces.size));
  const auto records = peaks_of(device, all);
  for (std::size_t slice = 0; slice < records.size(); ++slice) {
    CAPTURE(slice);
    const auto scores = scores_of(all.surfaces, slice, all.limits_of(slice / 2));
    compare(records[slice], scores, outlined_tolerance(all, slice / 2, scores));
  }
}

// Outlines of images half as large as a surface, rotated by right angles, nearly right angles, and
// others.
std::vector<OverlapOutline> rotated_outlines(const test::Size& size) {
  std::vector<OverlapOutline> outlines;
  const test::Size half{(size.width + 1) / 2, (size.height + 1) / 2};
  for (const double degrees : {0.0, 90.0, 180.0, 1e-5, 89.99, 45.0, 45.001, -30.0, 17.3, 123.4}) {
    for (const double scale : {1.0, 0.71, 1.6}) {
      outlines.push_back(outline_of(half, half, degrees, scale));
      outlines.push_back(outline_of(half, {half.width / 2 + 1, half.height}, degrees, scale));
    }
  }
  return outlines;
}

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

TEST_CASE("overlap_peaks: shifts within reach of a centre, wrapping around the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    // Rows of whole groups of four pixels, and rows whose last group continues in the next row.
    for (const test::Size& size : {test::Size{40, 30}, test::Size{42, 30}, test::Size{39, 31}}) {
      const auto surfaces = random_surfaces(size);
      compare_peaks(device, surfaces, {1, 5.3F, 1.25F, -2.5F, 39, 29});
      compare_peaks(device, surfaces, {1, 5.3F, -38, 3.5F, 20, 15});
      compare_peaks(device, surfaces, {1, 11.7F, 78.5F, -61.25F, 19.5F, 14.5F});
      compare_peaks(device, surfaces, {1, 1000, 3, 4, 5, 6});
    }
  });
}

TEST_CASE("overlap_peaks: a higher score just beyond reach is ignored") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = even_surfaces({48, 20}, 1);
    // at a distance of 5 from the centre
    surfaces.correlations[0].at(33, 9) = 7 * surfaces.plane();
    surfaces.correlations[0].at(27, 9) = 3 * surfaces.plane();
    surfaces.correlations[1].at(34, 9) = 7 * surfaces.plane();  // at a distance of 5, too
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

TEST_CASE("overlap_peaks: a higher score beyond either band is ignored, on any side") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const auto& [dx, dy] : {std::pair{6, 0}, {-6, 0}, {0, 3}, {0, -3}, {24, 1}}) {
      CAPTURE(dx);
      CAPTURE(dy);
      auto surfaces = even_surfaces({48, 20}, 1);
      const auto at = [](int centre, int by, int n) { return (centre + by + n) % n; };
      for (const int slice : {0, 1}) {
        reference::Plane& surface = surfaces.correlations[static_cast<std::size_t>(slice)];
        surface.at(at(40 + slice, dx, 48), at(2, dy, 20)) = 7 * surfaces.plane();
        surface.at(at(40 + slice, 5, 48), at(2, -2, 20)) = 3 * surfaces.plane();
      }
      const auto columns = [&](OverlapLimits limits) {
        const auto records = peaks_of(device, surfaces, {&limits, 1});
        compare(records[0], scores_of(surfaces, 0, limits));
        compare(records[1], scores_of(surfaces, 1, limits));
        return std::vector<int>{records[0].x, records[1].x};
      };
      // Within 5.5 columns and 2.5 rows, beyond one of which the highest score lies.
      const OverlapLimits limits{0.5F, 0, 40, 2, 41, 2, 1 / 5.5F, 0, 0, 1 / 2.5F};
      CHECK(columns(limits) == std::vector<int>{at(40, 5, 48), at(41, 5, 48)});
      OverlapLimits with_reach = limits;
      with_reach.reach = 30;
      CHECK(columns(with_reach) == std::vector<int>{at(40, 5, 48), at(41, 5, 48)});
      OverlapLimits other = limits;
      (dx == 0 ? other.second_y : other.first_x) = 0;
      CHECK(columns(other) == std::vector<int>{at(40, dx, 48), at(41, dx, 48)});
    }
  });
}

TEST_CASE("overlap_peaks: bands may be oblique, and each image has its own") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto all = random_surfaces({40, 24}, 2);
    // No shift lies at a band's edge, where rounding decides.
    std::vector<OverlapLimits> limits;
    limits.push_back({0.3F, 0, 10.25F, 7.75F, 3, 4, 0.1137F, 0.1319F, -0.2153F, 0.1771F});
    limits.push_back({0.3F, 9, 1.25F, 20.5F, 30, 4, 0, 0, 0.3147F, -0.2311F});
    const auto records = peaks_of(device, all, limits);
    for (std::size_t slice = 0; slice < 4; ++slice) {
      compare(records[slice], scores_of(all, slice, limits[slice / 2]));
    }
  });
}

TEST_CASE("overlap_peaks: a shift with too little overlap is no peak, whatever its correlation") {
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

TEST_CASE("overlap_peaks: without overlap the score is 0, not infinite") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = random_surfaces({16, 9});
    for (reference::Plane& overlap : surfaces.overlaps) {
      for (double& value : overlap.values) value = 0;
    }
    // an empty overlap, as the rounding of transforms may give it
    surfaces.overlaps[1].values[5] = -1e-3;
    const OverlapLimits limits{std::numeric_limits<float>::min()};
    for (const PeakRecord& record : peaks_of(device, surfaces, {&limits, 1})) {
      CHECK(record.value == 0);
      CHECK(record.x == 0);
      CHECK(record.y == 0);
      CHECK(record.neighbours == std::array<float, 9>{});
    }
  });
}

TEST_CASE("overlap_peaks: without any score above 0, a shift that may not score is the peak") {
  test::on_every_device([](const warpalign::Device& device) {
    // Next to the shifts that may not score, scores are below the best one.
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

TEST_CASE("overlap_peaks: the highest of scores a millionth apart") {
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

TEST_CASE("overlap_peaks: the first of equal maxima, wherever they are") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{320, 240}, test::Size{301, 83}}) {
      for (std::uint32_t seed = 0; seed < 6; ++seed) {
        auto surfaces = even_surfaces(size, 1);
        const auto positions = test::random_plane(8, 1, 0, surfaces.plane(), 300 + seed);
        std::size_t first = positions.values.size() * surfaces.correlations[0].values.size();
        for (const double position : positions.values) {
          const auto i = static_cast<std::size_t>(position);
          surfaces.correlations[0].values[i] = 3 * surfaces.plane();
          first = std::min(first, i);
        }
        const auto records = peaks_of(device, surfaces, {&any_shift, 1});
        CHECK(static_cast<std::size_t>(records[0].y * size.width + records[0].x) == first);
        // All scores are equal.
        CHECK(records[1].x == 0);
        CHECK(records[1].y == 0);
      }
    }
  });
}

TEST_CASE("overlap_peaks: NaN is never the maximum, and -infinity only if there is nothing else") {
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
    // these scores are 0
    for (reference::Plane& overlap : surfaces.overlaps) overlap.at(70, 50) = nan;
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

TEST_CASE("overlap_peaks: a batch has the results of single images") {
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
    // More images than fit into one launch.
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

TEST_CASE("overlap_peaks: overlaps of rotated and scaled outlines") {
  test::on_every_device([](const warpalign::Device& device) {
    // Rows of whole groups of four pixels, and other rows.
    for (const test::Size& size : {test::Size{64, 64}, test::Size{40, 30}, test::Size{39, 31},
                                   test::Size{1, 7}, test::Size{132, 36}}) {
      const auto outlines = rotated_outlines(size);
      const auto least = static_cast<float>(size.width * size.height) / 51.7F;
      const auto width = static_cast<float>(size.width);
      const auto height = static_cast<float>(size.height);
      for (const OverlapLimits& limits :
           {OverlapLimits{least, 0, 10.25F, 7.75F, -6.75F, 21.25F},
            // Both surfaces have the same overlap, because the centres coincide.
            {least, 0, 10.25F, 7.75F, 10.25F - width, 7.75F + 2 * height},
            {least, 0, 10.25F, 7.75F, 10.25F, 8.25F}}) {
        compare_peaks(device, outlined_surfaces(size, outlines, {limits}));
      }
    }
  });
}

TEST_CASE("overlap_peaks: outlines on the largest surfaces") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size half{256, 256};
    const std::vector<OverlapOutline> outlines{outline_of(half, half, 33, 1),
                                               outline_of(half, {300, 200}, 0.02, 0.9)};
    compare_peaks(device, outlined_surfaces({512, 512}, outlines,
                                            {{2621.3F, 0, 383.75F, 383.75F, 127.25F, 127.25F}}));
  });
}

TEST_CASE("overlap_peaks: the overlap of outlines at single shifts") {
  test::on_every_device([](const warpalign::Device& device) {
    // Each image has its peak at the position that its number gives, which tests the overlaps
    // around it.
    const test::Size size{48, 36};
    std::vector<OverlapOutline> outlines;
    for (const double degrees : {0.0, 45.0, 90.0, 12.5}) {
      outlines.insert(outlines.end(), 40, outline_of({26, 22}, {24, 20}, degrees, 1.1));
    }
    auto all = outlined_surfaces(size, outlines, {{20.3F, 0, 4.25F, 3.75F, 44.25F, 30.75F}});
    for (std::size_t slice = 0; slice < all.surfaces.correlations.size(); ++slice) {
      const auto& overlaps = all.surfaces.overlaps[slice].values;
      auto position = slice * 541 % overlaps.size();
      while (overlaps[position] < 25 * all.surfaces.plane())
        position = (position + 1) % overlaps.size();
      all.surfaces.correlations[slice].values[position] = 40 * std::pow(all.surfaces.plane(), 2);
      CHECK(is_unique(scores_of(all.surfaces, slice, all.limits[0])));
    }
    compare_peaks(device, all);
  });
}

TEST_CASE("overlap_peaks: outlines within reach of a centre, wrapping around the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{40, 30}, test::Size{39, 31}}) {
      const auto outlines = rotated_outlines(size);
      for (const OverlapLimits& limits : {OverlapLimits{31.3F, 5.3F, 1.25F, -2.5F, 38.75F, 29},
                                          {31.3F, 11.7F, 77.25F, -61.25F},
                                          {31.3F, 1000, 3.75F, 4.25F, 5.25F, 6.25F}}) {
        compare_peaks(device, outlined_surfaces(size, outlines, {limits}));
      }
    }
  });
}

TEST_CASE("overlap_peaks: images with their own outlines and limits equal single images") {
  test::on_every_device([](const warpalign::Device& device) {
    // More images than fit into one launch.
    for (const test::Size& size : {test::Size{20, 12}, test::Size{64, 48}}) {
      std::vector<OverlapOutline> outlines;
      std::vector<OverlapLimits> limits;
      const test::Size half{size.width / 2, size.height / 2};
      for (int i = 0; i < 130; ++i) {
        const auto k = static_cast<float>(i);
        outlines.push_back(outline_of(half, half, 2.77 * i, 0.6 + i / 200.0));
        limits.push_back({5.3F + k / 9, i % 3 == 0 ? 3 + k / 7 : 0, k / 3 + 0.1F, k / 9 + 0.1F,
                          18.1F - k / 4, 11.1F - k / 8});
      }
      const auto all = outlined_surfaces(size, outlines, limits);
      compare_peaks(device, all);
      std::vector<PeakRecord> alone;
      for (std::size_t image = 0; image < outlines.size(); ++image) {
        const auto records = peaks_of(device, image_of(all, image));
        alone.insert(alone.end(), records.begin(), records.end());
      }
      CHECK(are_same(peaks_of(device, all), alone));
    }
  });
}

TEST_CASE("overlap_peaks: outlines without an area score 0") {
  test::on_every_device([](const warpalign::Device& device) {
    const std::vector<OverlapOutline> empty{{0, 0, 0, 0, 0, 0},
                                            {0, 8, 5, 1, -1, 5},
                                            {8, 0, 5, 1, -1, 5},
                                            {8, 8, 6, 4, 3, 2},
                                            {8, 8, 6, 0, 0, 0}};
    const auto all = outlined_surfaces({24, 16}, empty, {{0.5F, 0, 3, 4, 5, 6}});
    for (const PeakRecord& record : peaks_of(device, all)) {
      CHECK(record.value == 0);
      CHECK(record.x == 0);
      CHECK(record.y == 0);
    }
  });
}

TEST_CASE("overlap_peaks: one plan with other outlines, on one stream and on another") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size size{64, 40};
    auto first = device.make_stream();
    auto second = device.make_stream();
    std::vector<Outlined> each;
    for (const double degrees : {10.0, 50.0, 10.0}) {
      const auto outline = outline_of({30, 20}, {28, 22}, degrees, 1);
      each.push_back(outlined_surfaces(size, {outline, outline}, {{40.3F, 0, 9.25F, 3.25F}}));
    }
    each[2].limits = {{60.3F, 0, 9.25F, 3.25F}, {40.3F, 7, 9.25F, 3.25F}};
    const auto correlations = to_device(device, first, each[0].surfaces.correlations);
    first.finish();
    const OverlapPeaksPlan plan(device, {{64, 40, 1}, 2, false, true});
    std::vector<warpalign::Buffer> found;
    for (std::size_t i = 0; i < 12; ++i) {
      auto& stream = i % 4 < 2 ? first : second;
      found.push_back(device.make_buffer(4 * sizeof(PeakRecord)));
      plan.execute_outlines(stream, correlations, each[i % 3].outlines, each[i % 3].limits,
                            found.back());
    }
    first.finish();
    second.finish();
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      std::vector<PeakRecord> records(4);
      first.download(found[i], records.data(), found[i].size_bytes());
      CHECK(are_same(records, peaks_of(device, each[i % 3])));
    }
  });
}

TEST_CASE("overlap_peaks: wrong outlines, and outlines with limits, are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(OverlapPeaksPlan(device, {{8, 4, 1}, 2, true, true}), Error);
    auto stream = device.make_stream();
    const auto surfaces =
        to_device(device, stream, std::vector<reference::Plane>(4, reference::Plane(8, 4)));
    const auto wide = device.make_image(PixelType::f32, {9, 4, 4});
    auto records = device.make_buffer(4 * sizeof(PeakRecord));
    auto too_small = device.make_buffer(4 * sizeof(PeakRecord) - 1);
    const OverlapPeaksPlan plan(device, {{8, 4, 1}, 2, false, true});
    const OverlapOutline good{4, 2, 4, 0, 0, 2};
    using Outlines = std::vector<OverlapOutline>;
    using Limits = std::vector<OverlapLimits>;
    const auto execute = [&](const Outlines& outlines, const Limits& limits) {
      plan.execute_outlines(stream, surfaces, outlines, limits, records);
    };
    CHECK_NOTHROW(execute({good, good}, {{}}));
    CHECK_NOTHROW(execute({good, good}, {{}, {}}));
    CHECK_THROWS_AS(execute({}, {{}}), Error);
    CHECK_THROWS_AS(execute({good}, {{}}), Error);
    CHECK_THROWS_AS(execute({good, good, good}, {{}}), Error);
    CHECK_THROWS_AS(execute({good, good}, {}), Error);
    CHECK_THROWS_AS(execute({good, good}, {{}, {}, {}}), Error);
    CHECK_THROWS_AS(execute({good, good}, {{}, {0}}), Error);
    CHECK_THROWS_AS(execute({good, good}, {{1, -1}}), Error);
    CHECK_THROWS_AS(execute({good, {-1, 2, 4, 0, 0, 2}}, {{}}), Error);
    CHECK_THROWS_AS(execute({{4, -2, 4, 0, 0, 2}, good}, {{}}), Error);
    CHECK_THROWS_AS(execute({good, {INFINITY, 2, 4, 0, 0, 2}}, {{}}), Error);
    CHECK_THROWS_AS(execute({good, {4, 2, std::nanf(""), 0, 0, 2}}, {{}}), Error);
    CHECK_THROWS_AS(execute({good, {4, 2, 4, 0, 0, -1e9F}}, {{}}), Error);
    const Outlines two{good, good};
    const Limits one(1);
    CHECK_THROWS_AS(plan.execute_outlines(stream, wide, two, one, records), Error);
    CHECK_THROWS_AS(plan.execute_outlines(stream, surfaces, two, one, too_small), Error);
    // A plan takes either overlaps or outlines.
    CHECK_THROWS_AS(plan.execute(stream, surfaces, surfaces, {}, records), Error);
    const OverlapPeaksPlan for_overlaps(device, {{8, 4, 1}, 2});
    CHECK_THROWS_AS(for_overlaps.execute_outlines(stream, surfaces, two, one, records), Error);
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
