// The correlation of two volumes within windows, and its derivatives, against the oracle and
// against differences of its value, on every device.
#include "reference/refinement/local_correlation.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/refinement/local_correlation.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using reference::Volume;
using warpalign::CurvatureEntries;
using warpalign::Device;
using warpalign::Error;
using warpalign::LocalCorrelationPlan;
using warpalign::LocalCorrelationSpec;
using warpalign::LocalCorrelationSum;
using warpalign::PixelType;
using warpalign::Shape;

constexpr float reference_floor = 0.01F;
constexpr float moving_floor = 0.02F;

/// Windows larger than an axis, several tiles along each axis, and several work-groups along the
/// last one.
std::vector<LocalCorrelationSpec> specs() {
  return {{{41, 13, 1}}, {{3, 30, 1}},  {{150, 6, 1}}, {{17, 9, 7}},
          {{35, 18, 9}}, {{70, 4, 12}}, {{6, 3, 2}},   {{1, 2, 40}}};
}

std::array<int, 3> radius_of(const LocalCorrelationSpec& spec) {
  constexpr int radius = LocalCorrelationSpec::radius;
  return {radius, radius, spec.dimensions() == 3 ? radius : 0};
}

struct Found {
  Volume statistics, forces;
  std::vector<Volume> curvatures;  // of CurvatureEntries::of_x, and the others
  LocalCorrelationSum sum;
};

Found computed(const Device& device, const LocalCorrelationSpec& spec, const Volume& f,
               const Volume& samples) {
  auto stream = device.make_stream();
  const LocalCorrelationPlan plan(device, spec);
  const auto reference = test::to_device(device, stream, f);
  const auto moving = test::to_device(device, stream, samples);
  auto statistics = device.make_image(PixelType::f32, spec.volumes(2));
  auto curvatures = device.make_image(PixelType::f32, spec.volumes(spec.dimensions()));
  auto forces = device.make_image(PixelType::f32, spec.volumes(spec.dimensions()));
  for (auto* image : {&statistics, &curvatures, &forces}) test::poison(stream, *image);
  plan.execute_statistics(stream, reference, reference_floor, statistics);
  Found found;
  for (const auto entries : {CurvatureEntries::of_x, CurvatureEntries::others}) {
    plan.execute_curvatures(stream, reference, statistics, entries, curvatures);
    found.curvatures.push_back(test::volume_from_device(stream, curvatures));
  }
  plan.execute_forces(stream, reference, statistics, moving, moving_floor, forces);
  found.statistics = test::volume_from_device(stream, statistics);
  found.forces = test::volume_from_device(stream, forces);
  found.sum = plan.sum(stream);
  return found;
}

struct Pair {
  Volume f, w, counts, samples;
};

/// A related pair, with windows that do not count.
Pair pair_of(const LocalCorrelationSpec& spec) {
  Pair pair{test::random_volume(spec.voxels, 0, 1, 71),
            test::random_volume(spec.voxels, 0, 1, 72),
            test::random_volume(spec.voxels, 0, 1, 73),
            {}};
  for (std::size_t i = 0; i < pair.f.values.size(); ++i) {
    pair.w.values[i] = 0.5 * pair.w.values[i] + pair.f.values[i];
    pair.counts.values[i] = pair.counts.values[i] < 0.2 ? 0 : 1;
  }
  pair.w = test::as_floats(pair.w);
  const Shape both = spec.volumes(2);
  pair.samples = Volume(both.width, both.height, both.depth);
  std::copy(pair.w.values.begin(), pair.w.values.end(), pair.samples.values.begin());
  std::copy(pair.counts.values.begin(), pair.counts.values.end(),
            pair.samples.values.begin() + static_cast<std::ptrdiff_t>(pair.w.values.size()));
  return pair;
}

}  // namespace

TEST_CASE("local_correlation: statistics and the sum agree with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const Pair pair = pair_of(spec);
      const Found found = computed(device, spec, pair.f, pair.samples);
      double largest = 0;
      LocalCorrelationSum expected;
      const auto radius = radius_of(spec);
      reference::for_each_voxel(
          pair.f.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            const auto m = reference::window_moments(pair.f, pair.w, radius, x, y, z);
            const double root = 1 / std::sqrt(m.ff + double{reference_floor});
            largest = std::max({largest, std::abs(found.statistics.at(x, y, z) - m.f),
                                std::abs(found.statistics.at(x, y, z + spec.voxels.depth) - root)});
            if (pair.counts.at(x, y, z) == 0) return;
            expected.windows += 1;
            expected.correlation += reference::window_correlation(
                pair.f, pair.w, radius, double{reference_floor}, double{moving_floor}, x, y, z);
          });
      // Variances of at least 0.01 come from sums that are rounded by 3e-7: 1.5e-5 of 10.
      CHECK(largest <= 1e-4);
      CHECK(found.sum.windows == expected.windows);
      CHECK(std::abs(found.sum.mean() - expected.mean()) <= 1e-5);
      CHECK(expected.mean() > 0.3);
    }
  });
}

TEST_CASE("local_correlation: forces agree with differences of the value") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const Pair pair = pair_of(spec);
      const Found found = computed(device, spec, pair.f, pair.samples);
      const auto radius = radius_of(spec);
      const auto value = [&](const Volume& w, std::int64_t x, std::int64_t y, std::int64_t z) {
        return reference::sum_of_correlations_near(pair.f, w, pair.counts, radius,
                                                   double{reference_floor}, double{moving_floor},
                                                   {x, y, z});
      };
      double largest = 0;
      double strongest = 0;
      Volume changed = pair.w;
      reference::for_each_voxel(
          pair.f.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            if ((x + 3 * y + 5 * z) % 4 != 0) return;
            // Central differences in double precision are exact to 1e-8 here.
            constexpr double step = 1e-4;
            changed.at(x, y, z) = pair.w.at(x, y, z) + step;
            const double above = value(changed, x, y, z);
            changed.at(x, y, z) = pair.w.at(x, y, z) - step;
            const double derivative = (above - value(changed, x, y, z)) / (2 * step);
            changed.at(x, y, z) = pair.w.at(x, y, z);
            for (int a = 0; a < spec.dimensions(); ++a) {
              const double expected =
                  derivative * reference::slope_along(pair.w, static_cast<std::size_t>(a), x, y, z);
              strongest = std::max(strongest, std::abs(expected));
              largest = std::max(
                  largest, std::abs(found.forces.at(x, y, z + a * spec.voxels.depth) - expected));
            }
          });
      CHECK(strongest > 0.1);
      // Sums of up to 100 factors up to 30 that cancel, each rounded by 1e-6 of itself.
      CHECK(largest <= 2e-4);
    }
  });
}

TEST_CASE("local_correlation: with any sign, forces are those of half the sum of squares") {
  test::on_every_device([](const Device& device) {
    for (LocalCorrelationSpec spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      spec.any_sign = true;
      Pair pair = pair_of(spec);
      // Half of the volume has the opposite contrast.
      const std::size_t half = pair.w.values.size() / 2;
      for (std::size_t i = 0; i < half; ++i) {
        pair.w.values[i] = 1 - pair.w.values[i];
        pair.samples.values[i] = pair.w.values[i];
      }
      pair.w = test::as_floats(pair.w);
      std::copy(pair.w.values.begin(), pair.w.values.end(), pair.samples.values.begin());
      const Found found = computed(device, spec, pair.f, pair.samples);
      const auto radius = radius_of(spec);
      const auto squares_near = [&](const Volume& w, std::int64_t x, std::int64_t y,
                                    std::int64_t z) {
        double sum = 0;
        reference::for_each_in_window(
            pair.f, radius, x, y, z, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
              if (pair.counts.at(i, j, k) == 0) return;
              const double r = reference::window_correlation(
                  pair.f, w, radius, double{reference_floor}, double{moving_floor}, i, j, k);
              sum += r * r;
            });
        return sum;
      };
      double largest = 0;
      double strongest = 0;
      LocalCorrelationSum expected_sum;
      Volume changed = pair.w;
      reference::for_each_voxel(
          pair.f.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            if (pair.counts.at(x, y, z) != 0) {
              const double r = reference::window_correlation(
                  pair.f, pair.w, radius, double{reference_floor}, double{moving_floor}, x, y, z);
              expected_sum.correlation += r * r;
              expected_sum.windows += 1;
            }
            if ((x + 3 * y + 5 * z) % 4 != 0) return;
            constexpr double step = 1e-4;
            changed.at(x, y, z) = pair.w.at(x, y, z) + step;
            const double above = squares_near(changed, x, y, z);
            changed.at(x, y, z) = pair.w.at(x, y, z) - step;
            const double derivative = (above - squares_near(changed, x, y, z)) / (4 * step);
            changed.at(x, y, z) = pair.w.at(x, y, z);
            for (int a = 0; a < spec.dimensions(); ++a) {
              const double expected =
                  derivative * reference::slope_along(pair.w, static_cast<std::size_t>(a), x, y, z);
              strongest = std::max(strongest, std::abs(expected));
              largest = std::max(
                  largest, std::abs(found.forces.at(x, y, z + a * spec.voxels.depth) - expected));
            }
          });
      CHECK(strongest > 0.1);
      // As for the correlation itself.
      CHECK(largest <= 2e-4);
      CHECK(std::abs(found.sum.mean() - expected_sum.mean()) <= 1e-5);
    }
  });
}

TEST_CASE("local_correlation: curvatures agree with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const Pair pair = pair_of(spec);
      const Found found = computed(device, spec, pair.f, pair.samples);
      const auto radius = radius_of(spec);
      double largest = 0;
      reference::for_each_voxel(pair.f.extents(), [&](std::int64_t x, std::int64_t y,
                                                      std::int64_t z) {
        double weight = 0;
        reference::for_each_in_window(
            pair.f, radius, x, y, z, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
              const auto m = reference::window_moments(pair.f, pair.f, radius, i, j, k);
              weight += 1 / (m.voxels * (m.ff + double{reference_floor}));
            });
        std::array<std::int64_t, 2> next{};  // of the entries of x, and of the others
        for (std::size_t a = 0; a < static_cast<std::size_t>(spec.dimensions()); ++a) {
          for (std::size_t b = a; b < static_cast<std::size_t>(spec.dimensions()); ++b) {
            const double expected = weight * reference::slope_along(pair.f, a, x, y, z) *
                                    reference::slope_along(pair.f, b, x, y, z);
            const std::size_t part = a == 0 ? 0 : 1;
            const std::int64_t entry = next[part]++;
            largest = std::max(
                largest, std::abs(found.curvatures[part].at(x, y, z + entry * spec.voxels.depth) -
                                  expected));
          }
        }
      });
      // Up to 30, with the relative error of the statistics.
      CHECK(largest <= 1e-3);
    }
  });
}

TEST_CASE("local_correlation: a gain and an offset of the moving volume change little") {
  test::on_every_device([](const Device& device) {
    const LocalCorrelationSpec spec{{40, 30, 1}};
    Pair pair = pair_of(spec);
    for (std::size_t i = 0; i < pair.f.values.size(); ++i) {
      pair.samples.values[i] = 8 * pair.f.values[i] + 1;
    }
    // The floor lowers the correlation of windows with a variance of 0.02 or more.
    CHECK(computed(device, spec, pair.f, pair.samples).sum.mean() > 0.85);
  });
}

TEST_CASE("local_correlation: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(LocalCorrelationPlan(device, {{0, 8, 1}}), Error);
    CHECK_THROWS_AS(LocalCorrelationPlan(device, {{8, 1, 8}}), Error);
    const LocalCorrelationSpec spec{{8, 8, 1}};
    const LocalCorrelationPlan plan(device, spec);
    auto stream = device.make_stream();
    auto volume = device.make_image(PixelType::f32, {8, 8, 1});
    auto two = device.make_image(PixelType::f32, {8, 8, 2});
    CHECK_THROWS_AS(plan.execute_statistics(stream, volume, 0.0F, two), Error);
    CHECK_THROWS_AS(plan.execute_statistics(stream, volume, 0.1F, volume), Error);
    CHECK_THROWS_AS(plan.execute_forces(stream, volume, two, two, 0.1F, two), Error);
  });
}

TEST_CASE("local_correlation: noise samples are pixels and their differences") {
  test::on_every_device([](const Device& device) {
    // More pixels than samples are wanted, and fewer.
    for (const Shape& shape : {Shape{307, 211, 1}, Shape{19, 7, 1}, Shape{13, 11, 5}}) {
      CAPTURE(to_string(shape));
      Volume image = test::random_volume(shape, 0, 1, 71);
      // Sums and differences of these are exact.
      for (double& value : image.values) value = std::round(256 * value) / 256;
      const warpalign::NoiseSampling sampling(shape);
      auto stream = device.make_stream();
      const LocalCorrelationPlan plan(device, specs().front());
      const auto on_device = test::to_device(device, stream, image);
      auto samples = device.make_image(PixelType::f32, sampling.samples());
      test::poison(stream, samples);
      plan.execute_noise_samples(stream, on_device, sampling, samples);
      const Volume found = test::volume_from_device(stream, samples);
      int wrong = 0;
      for (std::int64_t s = 0; s < sampling.count; ++s) {
        const std::int64_t i = s * sampling.every;
        const std::int64_t x = i % shape.width, y = i / shape.width % shape.height,
                           z = i / (shape.width * shape.height);
        const auto across = [&](std::int64_t plane) {
          return image.at(x, y, plane) - image.at(x + 1, y, plane) - image.at(x, y + 1, plane) +
                 image.at(x + 1, y + 1, plane);
        };
        const bool inside = x + 1 < shape.width && y + 1 < shape.height &&
                            (shape.depth == 1 || z + 1 < shape.depth);
        double expected = 0;
        if (inside) expected = shape.depth > 1 ? across(z) - across(z + 1) : across(z);
        if (found.at(s, 0, 0) != image.at(x, y, z) || found.at(s, 1, 0) != expected) ++wrong;
      }
      CHECK(wrong == 0);
      CHECK(sampling.count <= 60000);
    }
  });
}
