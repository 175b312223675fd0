// A step of the optimisation of a deformation, against the oracle's energy, on every device.
#include "reference/refinement/deformation_step.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/refinement/deformation_step.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

using reference::Volume;
using warpalign::DeformationStepFactors;
using warpalign::DeformationStepPlan;
using warpalign::DeformationStepSpec;
using warpalign::Device;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;

const std::vector<DeformationStepSpec> specs{{{9, 7, 1}}, {{4, 70, 1}}, {{6, 5, 4}}};

Volume component(const Volume& all, const Shape& shape, int index) {
  Volume result(shape.width, shape.height, shape.depth);
  std::copy_n(all.values.begin() + static_cast<std::ptrdiff_t>(index * shape.pixels()),
              result.values.size(), result.values.begin());
  return result;
}

struct Found {
  Volume coefficients, next;
};

Found computed(const Device& device, const DeformationStepSpec& spec, const Volume& forces,
               const Volume& preconditioner, const DeformationStepFactors& factors,
               const Volume& point, const Volume& before) {
  auto stream = device.make_stream();
  const auto f = test::to_device(device, stream, forces);
  const auto p = test::to_device(device, stream, preconditioner);
  const auto y = test::to_device(device, stream, point);
  auto c = test::to_device(device, stream, before);
  auto next = device.make_image(PixelType::f32, c.shape());
  test::poison(stream, next);
  DeformationStepPlan(device, spec).execute(stream, f, p, factors, y, c, next);
  return {test::volume_from_device(stream, c), test::volume_from_device(stream, next)};
}

}  // namespace

TEST_CASE("deformation_step: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const auto& spec : specs) {
      CAPTURE(to_string(spec.grid));
      const int n = spec.dimensions();
      const Shape components = spec.grids(n);
      const Volume forces = test::random_volume(components, -1, 1, 81);
      const Volume p = test::random_volume(spec.grids(spec.entries()), -1, 1, 82);
      const Volume point = test::random_volume(components, -1, 1, 83);
      const Volume before = test::random_volume(components, -1, 1, 84);
      const DeformationStepFactors factors{
          {0.5F, 1, 2}, {0.125F, 0.25F, 0.0625F}, {0.5F, 0.75F, 1}, 0.75F};
      const Found found = computed(device, spec, forces, p, factors, point, before);
      const auto controls = static_cast<std::size_t>(spec.grid.pixels());
      std::vector<std::vector<double>> g;
      for (int a = 0; a < n; ++a) {
        const auto i = static_cast<std::size_t>(a);
        Volume c = component(point, spec.grid, a);
        g.emplace_back(controls);
        for (std::size_t k = 0; k < controls; ++k) {
          // The energy is quadratic: central differences are exact.
          const double value = c.values[k];
          c.values[k] = value + 1;
          const double above = reference::bending_energy(c);
          c.values[k] = value - 1;
          const double half_derivative = (above - reference::bending_energy(c)) / 4;
          c.values[k] = value;
          g.back()[k] = double{factors.force[i]} * forces.values[i * controls + k] -
                        double{factors.smoothness[i]} * half_derivative;
        }
      }
      double largest = 0;
      int limited = 0;
      for (std::size_t k = 0; k < controls; ++k) {
        for (std::size_t a = 0; a < g.size(); ++a) {
          double step = 0;
          for (std::size_t b = 0; b < g.size(); ++b) {
            const auto [i, j] = std::minmax(a, b);
            const std::size_t entry = i * g.size() + j - i * (i + 1) / 2;
            step += p.values[entry * controls + k] * g[b][k];
          }
          const auto limit = double{factors.limit[a]};
          if (std::abs(step) > limit) ++limited;
          const std::size_t at = a * controls + k;
          const double moved = point.values[at] + std::clamp(step, -limit, limit);
          const double next = moved + 0.75 * (moved - before.values[at]);
          largest = std::max({largest, std::abs(found.coefficients.values[at] - moved),
                              std::abs(found.next.values[at] - next)});
        }
      }
      CHECK(limited > 0);
      // Sums of up to 60 numbers up to 4.
      CHECK(largest <= 5e-6);
    }
  });
}

TEST_CASE("deformation_step: an affine deformation has no bending energy") {
  test::on_every_device([](const Device& device) {
    const DeformationStepSpec spec{{6, 5, 4}};
    Volume point(6, 5, 12);
    reference::for_each_voxel(point.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      point.at(x, y, z) = static_cast<double>(x + 2 * y - 3 * (z % 4)) / 4;
    });
    const Volume zero(6, 5, 12);
    Volume p(6, 5, 24);
    std::fill(p.values.begin(), p.values.end(), 1);
    const Found found = computed(device, spec, zero, p, {}, point, point);
    // All numbers are exact.
    CHECK(test::max_difference(found.coefficients, point) == 0);
    CHECK(test::max_difference(found.next, point) == 0);
  });
}

TEST_CASE("deformation_step: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(DeformationStepPlan(device, {{0, 8, 1}}), Error);
    const DeformationStepSpec spec{{4, 4, 1}};
    const DeformationStepPlan plan(device, spec);
    auto stream = device.make_stream();
    auto forces = device.make_image(PixelType::f32, spec.grids(2));
    auto point = device.make_image(PixelType::f32, spec.grids(2));
    auto coefficients = device.make_image(PixelType::f32, spec.grids(2));
    auto next = device.make_image(PixelType::f32, spec.grids(2));
    auto p = device.make_image(PixelType::f32, spec.grids(3));
    CHECK_THROWS_AS(plan.execute(stream, forces, forces, {}, point, coefficients, next), Error);
    CHECK_THROWS_AS(plan.execute(stream, forces, p, {}, point, coefficients, point), Error);
    DeformationStepFactors wrong;
    wrong.momentum = 1;
    CHECK_THROWS_AS(plan.execute(stream, forces, p, wrong, point, coefficients, next), Error);
  });
}
