// Displacements from B-spline coefficients, and the transposed sums, against the oracle, on every
// device.
#include "reference/refinement/deformation_grid.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace {

using reference::Volume;
using warpalign::DeformationGridPlan;
using warpalign::DeformationGridSpec;
using warpalign::Device;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;

std::array<reference::ControlAxis, 3> axes_of(const DeformationGridSpec& spec) {
  std::array<reference::ControlAxis, 3> axes{};
  for (std::size_t a = 0; a < 3; ++a) {
    axes[a] = {spec.axes[a].first, spec.axes[a].step, spec.axes[a].spacing};
  }
  return axes;
}

/// Spacings and offsets that differ along each axis, with the last voxel on a control point,
/// between two, and with one control point for each voxel.
std::vector<DeformationGridSpec> specs() {
  std::vector<DeformationGridSpec> result;
  result.push_back({{41, 23, 1}, {11, 9, 1}, {{{1, 0.2, 5}, {1.1, 0.25, 4}, {}}}, {37, 30, 1}});
  result.push_back({{70, 5, 1}, {13, 7, 1}, {{{1.05, 0.14, 10}, {1, 1, 1}, {}}}, {9, 80, 1}});
  result.push_back(
      {{21, 17, 9}, {8, 8, 6}, {{{1.1, 0.2, 5}, {1.25, 0.25, 8}, {1, 0.35, 2.5}}}, {24, 11, 8}});
  return result;
}

std::array<std::int64_t, 3> extents(const Shape& shape) {
  return {shape.width, shape.height, shape.depth};
}

/// Component `index` of several arrays that follow each other.
Volume component(const Volume& all, const Shape& shape, int index) {
  Volume result(shape.width, shape.height, shape.depth);
  std::copy_n(all.values.begin() + static_cast<std::ptrdiff_t>(index * shape.pixels()),
              result.values.size(), result.values.begin());
  return result;
}

template <class Execute>
Volume computed(const Device& device, const Volume& input, const Shape& output, Execute&& execute) {
  auto stream = device.make_stream();
  const auto from = test::to_device(device, stream, input);
  auto to = device.make_image(PixelType::f32, output);
  test::poison(stream, to);
  execute(stream, from, to);
  return test::volume_from_device(stream, to);
}

}  // namespace

TEST_CASE("deformation_grid: the field agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const int n = spec.dimensions();
      const Volume c = test::random_volume(spec.grids(n), -3, 3, 61);
      const Volume field =
          computed(device, c, spec.volumes(n), [&](auto& stream, auto& from, auto& to) {
            DeformationGridPlan(device, spec).execute_field(stream, from, to);
          });
      for (int a = 0; a < n; ++a) {
        // Up to 3; the index among control points is rounded by 1e-6 and the slope is up to 3.
        CHECK(test::max_difference(
                  component(field, spec.voxels, a),
                  reference::spline_displacement(component(c, spec.grid, a), extents(spec.voxels),
                                                 axes_of(spec))) <= 6e-6);
      }
    }
  });
}

TEST_CASE("deformation_grid: the sums agree with the oracle, and are the field's transpose") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const DeformationGridPlan plan(device, spec);
      for (const int planes : {1, spec.dimensions()}) {
        const Volume v = test::random_volume(spec.volumes(planes), -1, 1, 62);
        const Volume sums =
            computed(device, v, spec.grids(planes), [&](auto& stream, auto& from, auto& to) {
              plan.execute_sums(stream, planes, from, to);
            });
        for (int p = 0; p < planes; ++p) {
          // Up to 800 values up to 1 with weights of sum 60, each rounded by 1e-6 or less.
          CHECK(test::max_difference(component(sums, spec.grid, p),
                                     reference::spline_sums(component(v, spec.voxels, p),
                                                            extents(spec.grid), axes_of(spec))) <=
                5e-5);
        }
      }
    }
  });
}

TEST_CASE("deformation_grid: the determinants agree with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const int n = spec.dimensions();
      const Volume c = test::random_volume(spec.grids(n), -1, 1, 63);
      std::vector<Volume> components;
      for (int a = 0; a < n; ++a) components.push_back(component(c, spec.grid, a));
      const Volume determinants =
          computed(device, c, spec.voxels, [&](auto& stream, auto& from, auto& to) {
            DeformationGridPlan(device, spec).execute_determinants(stream, from, to);
          });
      // Derivatives up to 2 with errors of 3e-6, multiplied twice.
      CHECK(test::max_difference(determinants,
                                 reference::spline_determinants(components, extents(spec.voxels),
                                                                axes_of(spec))) <= 3e-5);
    }
  });
}

TEST_CASE("deformation_grid: extremes and marks are those of the determinants") {
  constexpr float low = 0.5F, high = 1.5F, lowest = -0.2F;
  test::on_every_device([&](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const Volume d = test::random_volume(spec.voxels, -0.25, 2, 68);
      const DeformationGridPlan plan(device, spec);
      const Volume extremes =
          computed(device, d, spec.extremes(), [&](auto& stream, auto& from, auto& to) {
            plan.execute_extremes(stream, from, low, high, to);
          });
      const Volume marks = computed(device, d, spec.grid, [&](auto& stream, auto& from, auto& to) {
        const std::vector<float> none(static_cast<std::size_t>(spec.grid.pixels()));
        stream.upload(none.data(), none.size() * sizeof(float), to.buffer());
        plan.execute_marks(stream, from, lowest, to);
        stream.finish();
      });
      int wrong = 0;
      // Every voxel below the limit, and every control point that it needs, by the definition of
      // the spline: those less than two away from it.
      std::vector<double> expected(marks.values.size());
      const auto axes = axes_of(spec);
      const auto grid = extents(spec.grid);
      for (std::int64_t z = 0; z < spec.voxels.depth; ++z) {
        for (std::int64_t y = 0; y < spec.voxels.height; ++y) {
          double least = d.at(0, y, z), most = least, outside = 0;
          for (std::int64_t x = 0; x < spec.voxels.width; ++x) {
            const double value = d.at(x, y, z);
            least = std::min(least, value);
            most = std::max(most, value);
            outside += value < static_cast<double>(low) || value > static_cast<double>(high);
            if (value >= static_cast<double>(lowest)) continue;
            reference::for_each_voxel(grid, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
              const std::array<std::int64_t, 3> at{x, y, z}, control{i, j, k};
              for (std::size_t a = 0; a < static_cast<std::size_t>(spec.dimensions()); ++a) {
                const double t = axes[a].first + axes[a].step * static_cast<double>(at[a]);
                if (std::abs(t - static_cast<double>(control[a])) >= 2 - 1e-4) return;
              }
              expected[static_cast<std::size_t>((k * grid[1] + j) * grid[0] + i)] = 1;
            });
          }
          if (extremes.at(0, y, z) != least || extremes.at(1, y, z) != most ||
              extremes.at(2, y, z) != outside) {
            ++wrong;
          }
        }
      }
      CHECK(wrong == 0);
      // A control point exactly two away has no weight; it may be marked.
      int missing = 0, marked = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == 1 && marks.values[i] != 1) ++missing;
        if (marks.values[i] == 1) ++marked;
      }
      CHECK(missing == 0);
      CHECK(marked > 0);
    }
  });
}

TEST_CASE("deformation_grid: samples of the displaced moving volume agree with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const int n = spec.dimensions();
      const Volume c = test::random_volume(spec.grids(n), -2, 2, 64);
      const Volume moving = test::random_volume(spec.moving, 0, 1, 65);
      Volume pose(15, 1, 1);
      pose.values = {0.5,  0.125, 0.25, 1.5, -0.125, 0.5, 0.0625, 4.25,
                     0.25, 0,     0.75, 0.5, 1,      2,   1.5};
      if (n == 2) pose.values[8] = pose.values[11] = 0;
      const Volume found =
          computed(device, c, spec.volumes(2), [&](auto& stream, auto& from, auto& to) {
            const auto m = test::to_device(device, stream, moving);
            const auto p = test::to_device(device, stream, pose);
            DeformationGridPlan(device, spec).execute_warp(stream, from, m, p, to);
            stream.finish();
          });
      std::vector<Volume> u;
      for (int a = 0; a < n; ++a) {
        u.push_back(reference::spline_displacement(component(c, spec.grid, a), extents(spec.voxels),
                                                   axes_of(spec)));
      }
      double largest = 0;
      int wrong = 0;
      int inside = 0;
      reference::for_each_voxel(
          extents(spec.voxels), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            const std::array<std::int64_t, 3> k{x, y, z};
            std::array<double, 3> q{};
            for (std::size_t a = 0; a < 3; ++a) {
              q[a] = pose.values[12 + a] * static_cast<double>(k[a]);
              if (a < u.size()) q[a] += u[a].at(x, y, z);
            }
            std::array<double, 3> p{};
            bool within = true;
            bool near_edge = false;
            for (std::size_t a = 0; a < 3; ++a) {
              const double* row = pose.values.data() + 4 * a;
              p[a] = row[0] * q[0] + row[1] * q[1] + row[2] * q[2] + row[3];
              const double last = static_cast<double>(extents(spec.moving)[a] - 1);
              within = within && p[a] >= 0 && p[a] <= last;
              near_edge = near_edge ||
                          (a < u.size() && std::min(std::abs(p[a]), std::abs(p[a] - last)) < 1e-4);
            }
            largest =
                std::max(largest, std::abs(found.at(x, y, z) - reference::linear_value(moving, p)));
            const bool says = found.at(x, y, z + spec.voxels.depth) == 1;
            if (says != within && !near_edge) ++wrong;
            if (within) ++inside;
          });
      CHECK(wrong == 0);
      CHECK(inside > 0);
      // The points are exact to 3e-5 at up to 100 voxels, and values differ by 1 from voxel to
      // voxel.
      CHECK(largest <= 1e-4);
    }
  });
}

TEST_CASE("deformation_grid: samples count where both masks are 1") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs()) {
      CAPTURE(to_string(spec.voxels));
      const Volume c(spec.grids(spec.dimensions()).width, spec.grids(spec.dimensions()).height,
                     spec.grids(spec.dimensions()).depth);
      const Volume moving = test::random_volume(spec.moving, 0, 1, 65);
      const auto mask_of = [](const Shape& shape, std::uint32_t seed) {
        Volume mask = test::random_volume(shape, 0, 1, seed);
        for (double& value : mask.values) value = value < 0.7 ? 1 : 0;
        return mask;
      };
      const Volume counted = mask_of(spec.voxels, 66);
      const Volume known = mask_of(spec.moving, 67);
      // Shifted by less than half a voxel, so that the nearest voxel has the same index.
      Volume pose(15, 1, 1);
      pose.values = {1, 0, 0, 0.25, 0, 1, 0, 0.375, 0, 0, 1, 0.125, 1, 1, 1};
      if (spec.dimensions() == 2) pose.values[11] = 0;
      const Volume found =
          computed(device, c, spec.volumes(2), [&](auto& stream, auto& from, auto& to) {
            const auto m = test::to_device(device, stream, moving);
            const auto p = test::to_device(device, stream, pose);
            const auto r = test::to_device(device, stream, counted);
            const auto k = test::to_device(device, stream, known);
            const warpalign::DeformationMasks masks{r, k};
            DeformationGridPlan(device, spec).execute_warp(stream, from, m, p, to, &masks);
            stream.finish();
          });
      int wrong = 0;
      reference::for_each_voxel(
          extents(spec.voxels), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            const auto within = [](std::int64_t k, std::int64_t side, double shift) {
              return static_cast<double>(k) + shift <= static_cast<double>(side - 1);
            };
            const bool inside = within(x, spec.moving.width, 0.25) &&
                                within(y, spec.moving.height, 0.375) &&
                                (spec.moving.depth == 1 || within(z, spec.moving.depth, 0.125));
            const double expected = inside ? counted.at(x, y, z) * known.at(x, y, z) : 0;
            if (found.at(x, y, z + spec.voxels.depth) != expected) ++wrong;
          });
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("deformation_grid: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    const auto spec = specs().front();
    auto few = spec;
    few.grid.width = 9;
    CHECK_THROWS_AS(DeformationGridPlan(device, few), Error);
    auto mixed = spec;
    mixed.moving.depth = 2;
    CHECK_THROWS_AS(DeformationGridPlan(device, mixed), Error);
    auto fine = spec;
    fine.axes[0].step = 1.5;
    CHECK_THROWS_AS(DeformationGridPlan(device, fine), Error);
    const DeformationGridPlan plan(device, spec);
    auto stream = device.make_stream();
    auto grids = device.make_image(PixelType::f32, spec.grids(2));
    auto volumes = device.make_image(PixelType::f32, spec.volumes(2));
    CHECK_THROWS_AS(plan.execute_field(stream, grids, grids), Error);
    CHECK_THROWS_AS(plan.execute_sums(stream, 4, volumes, grids), Error);
    CHECK_THROWS_AS(plan.execute_determinants(stream, grids, volumes), Error);
    CHECK_THROWS_AS(plan.execute_extremes(stream, volumes, 0, 1, grids), Error);
    CHECK_THROWS_AS(plan.execute_marks(stream, volumes, 0, grids), Error);
  });
}
