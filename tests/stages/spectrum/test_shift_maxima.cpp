// The maxima of a correlation surface's scores, against the oracle, on every device.
#include "reference/spectrum/overlap_correlation.hpp"
#include "reference/spectrum/shift_maxima.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::PixelType;
using warpalign::ShiftMaxima;
using warpalign::ShiftMaximaPlan;
using warpalign::ShiftRegion;

struct Surface {
  reference::Plane correlations, overlaps;
};

// The correlations of a surface whose overlaps are half of it, with these scores.
Surface of_scores(const reference::Plane& scores) {
  const auto plane = static_cast<double>(scores.width * scores.height);
  Surface surface{scores, scores};
  for (double& correlation : surface.correlations.values)
    correlation *= plane * std::sqrt(plane / 2);
  for (double& overlap : surface.overlaps.values) overlap = plane * plane / 2;
  return surface;
}

// A surface in one of two slices. The other one has larger scores.
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Plane& plane, int slice) {
  std::vector<float> values(2 * plane.values.size(), 1e30F);
  auto place = values.begin() + slice * static_cast<std::ptrdiff_t>(plane.values.size());
  for (const double value : plane.values) *place++ = static_cast<float>(value);
  auto image = device.make_image(PixelType::f32, {plane.width, plane.height, 2});
  stream.upload(values.data(), values.size() * sizeof(float), image.buffer());
  return image;
}

ShiftMaxima maxima_of(const warpalign::Device& device, const Surface& surface,
                      const ShiftRegion& region) {
  auto stream = device.make_stream();
  const auto correlations = to_device(device, stream, surface.correlations, region.slice);
  const auto overlaps = to_device(device, stream, surface.overlaps, region.slice);
  const ShiftMaximaPlan plan(device,
                             {{surface.correlations.width, surface.correlations.height, 1}});
  return plan.execute(stream, correlations, overlaps, region);
}

// `relative_tolerance`: of a score, relative to the largest one.
void compare(const ShiftMaxima& found, const Surface& surface, const ShiftRegion& region,
             double relative_tolerance) {
  const reference::Plane scores = reference::overlap_score(
      surface.correlations, surface.overlaps, {static_cast<double>(region.min_overlap)});
  const reference::ShiftMaxima expected = reference::shift_maxima(
      scores, {region.origin_x, region.origin_y, region.reach_x, region.reach_y, region.main_reach,
               static_cast<double>(region.ring)});
  const double tolerance = relative_tolerance * test::largest(scores);
  const auto check = [&](float value, double of_oracle) {
    const double least = static_cast<double>(region.ignored) * expected.main;
    const bool may_be_ignored = of_oracle < least + tolerance;
    CHECK((std::abs(static_cast<double>(value) - of_oracle) <= tolerance ||
           (may_be_ignored && static_cast<double>(value) <= least + tolerance)));
  };
  CHECK(std::abs(static_cast<double>(found.main) - expected.main) <= tolerance);
  check(found.other, expected.other);
  check(found.ring, expected.ring);
}

// Two divisions and a square root: a few units of 6e-8 of the largest score.
void compare(const warpalign::Device& device, const Surface& surface, const ShiftRegion& region) {
  compare(maxima_of(device, surface, region), surface, region, 5e-7);
}

}  // namespace

TEST_CASE("shift_maxima: agrees with the oracle on random surfaces") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{8, 8}, {31, 17}, {64, 48}, {128, 256}}) {
      CAPTURE(test::to_string(size));
      const auto plane = static_cast<double>(size.width * size.height);
      const Surface surface{
          test::random_plane(size.width, size.height, -plane * plane, plane * plane, 70),
          test::random_plane(size.width, size.height, -plane, plane * plane / 4, 71)};
      const auto half_width = static_cast<int>(size.width / 2);
      const auto half_height = static_cast<int>(size.height / 2);
      for (const float ignored : {0.0F, 0.9F}) {
        compare(device, surface, {1, 2, 5, half_width, half_height, 3, 1, ignored, 3});
        compare(device, surface,
                {0, half_width, 1, half_width / 2, half_height / 2, 2, 40, ignored, 9});
        compare(device, surface, {0, 0, 0, 0, 0, 0, 1, ignored, 0});
      }
    }
  });
}

TEST_CASE("shift_maxima: computes overlaps from outlines") {
  test::on_every_device([](const warpalign::Device& device) {
    const std::int64_t width = 64, height = 48;
    const auto plane = static_cast<double>(width * height);
    // Of a rectangle of 30 x 20 and of one of 28 x 22, rotated by about 20 degrees.
    const warpalign::OverlapOutline outline{15, 10, 13.2F, 4.8F, -3.8F, 10.3F};
    const warpalign::CentredOutline centred{outline, 50.5F, 3.25F};
    const auto wide = [](float value) { return static_cast<double>(value); };
    const reference::Outline of_oracle{wide(outline.half_width), wide(outline.half_height),
                                       wide(outline.along_x),    wide(outline.along_y),
                                       wide(outline.across_x),   wide(outline.across_y)};
    const Surface surface{
        test::random_plane(width, height, -plane * plane, plane * plane, 72),
        reference::outline_overlap(width, height, of_oracle,
                                   {1, 0, wide(centred.centre_x), wide(centred.centre_y)})};
    auto stream = device.make_stream();
    for (const int slice : {0, 1}) {
      const auto correlations = to_device(device, stream, surface.correlations, slice);
      // No overlap of the oracle lies within 0.1 pixels of this limit, the error of an overlap.
      const ShiftRegion region{slice, 40, 9, 32, 24, 3, 100.3F, 0.5F, 4};
      for (const double overlap : surface.overlaps.values) {
        REQUIRE(std::abs(overlap / plane - wide(region.min_overlap)) > 0.1);
      }
      const ShiftMaximaPlan plan(device, {{width, height, 1}});
      // The error of an overlap of 100 pixels and more, by its square root.
      compare(plan.execute_outline(stream, correlations, centred, region), surface, region, 5e-4);
    }
  });
}

TEST_CASE(
    "shift_maxima: distinguishes a second maximum from the flank and the ring of the main one") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane scores(64, 64);
    const auto add = [&](std::int64_t x, std::int64_t y, double height) {
      for (std::int64_t dy = -8; dy <= 8; ++dy) {
        for (std::int64_t dx = -8; dx <= 8; ++dx) {
          scores.at((x + dx + 64) % 64, (y + dy + 64) % 64) +=
              height * std::exp(-static_cast<double>(dx * dx + dy * dy) / 18);
        }
      }
    };
    ShiftRegion region{0, 60, 60, 20, 20, 3, 1, 0.4F, 5};
    add(61, 62, 10);  // a pixel and two from the origin
    const ShiftMaxima alone = maxima_of(device, of_scores(scores), region);
    // Scores of 10 in single precision.
    CHECK(std::abs(static_cast<double>(alone.main) - 10) <= 5e-6);
    CHECK(alone.other == 0);  // the flank is higher than the ignored fraction
    // The ring begins at a distance of 2.
    CHECK(std::abs(static_cast<double>(alone.ring) - 10 * std::exp(-4.0 / 18)) <= 5e-6);
    add((61 + 18) % 64, (62 + 2) % 64, 7);
    CHECK(std::abs(static_cast<double>(maxima_of(device, of_scores(scores), region).other) - 7) <=
          5e-6);
    region.reach_x = 10;  // excludes the second maximum
    CHECK(maxima_of(device, of_scores(scores), region).other == 0);
  });
}

TEST_CASE("shift_maxima: refuses shapes and regions that do not fit") {
  test::on_every_device([](const warpalign::Device& device) {
    const ShiftMaximaPlan plan(device, {{16, 8, 1}});
    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, {16, 8, 2});
    const auto other = device.make_image(PixelType::f32, {8, 8, 2});
    const ShiftRegion good{1, 0, 0, 8, 4, 3, 1, 0.5F, 2};
    CHECK_THROWS_AS((void)plan.execute(stream, image, other, good), Error);
    CHECK_THROWS_AS((void)plan.execute(stream, other, image, good), Error);
    const auto refuses = [&](auto change) {
      ShiftRegion bad = good;
      change(bad);
      CHECK_THROWS_AS((void)plan.execute(stream, image, image, bad), Error);
    };
    refuses([](ShiftRegion& region) { region.slice = 2; });
    refuses([](ShiftRegion& region) { region.reach_x = 9; });
    refuses([](ShiftRegion& region) { region.reach_y = 5; });
    refuses([](ShiftRegion& region) { region.reach_y = -1; });
    refuses([](ShiftRegion& region) { region.main_reach = 4; });
    refuses([](ShiftRegion& region) { region.min_overlap = 0; });
    refuses([](ShiftRegion& region) { region.ignored = NAN; });
    refuses([](ShiftRegion& region) { region.ring = -1; });
    CHECK_THROWS_AS(ShiftMaximaPlan(device, {{0, 8, 1}}), Error);
    CHECK_THROWS_AS(ShiftMaximaPlan(device, {{8, 8, 1}, 0}), Error);
    CHECK_THROWS_AS((void)plan.execute_outline(stream, image, {{-1, 1, 1, 0, 0, 1}, 0, 0}, good),
                    Error);
    CHECK_THROWS_AS((void)plan.execute_outline(stream, image, {{1, 1, 1, 0, 0, 1}, NAN, 0}, good),
                    Error);
  });
}
