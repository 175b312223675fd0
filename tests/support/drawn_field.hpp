// Displacement fields for tests, with their oracle.
#pragma once

#include "reference/spline/map_points.hpp"

#include <warpalign/transform.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace test {

/// What the samples of a field are: interpolated, linearly or by a cubic B-spline, or coefficients.
enum class Samples { linear, cubic, coefficients };

/// A field of smooth random displacements, at most `largest`, and the same for the oracle.
struct DrawnField {
  DrawnField(int dimensions_, const warpalign::PointGrid& grid_, Samples samples, double largest,
             unsigned seed, bool as_double)
      : dimensions(dimensions_), grid(grid_) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const warpalign::Shape& shape = grid.shape;
    std::vector<std::vector<double>> values;
    std::vector<std::vector<float>> floats;
    for (int c = 0; c < dimensions; ++c) {
      const std::array<double, 4> f{uniform(random), uniform(random), uniform(random),
                                    3 * uniform(random)};
      std::vector<double> all;
      for (std::int64_t i = 0; i < shape.pixels(); ++i) {
        const auto x = static_cast<double>(i % shape.width);
        const auto y = static_cast<double>(i / shape.width % shape.height);
        const auto z = static_cast<double>(i / shape.plane());
        // Rounded to floats, so that both types have the same samples.
        all.push_back(static_cast<double>(
            static_cast<float>(largest * std::sin(0.5 * (f[0] * x + f[1] * y + f[2] * z) + f[3]))));
      }
      floats.emplace_back(all.begin(), all.end());
      values.push_back(std::move(all));
    }
    std::vector<const double*> doubles;
    std::vector<const float*> singles;
    for (std::size_t c = 0; c < values.size(); ++c) {
      doubles.push_back(values[c].data());
      singles.push_back(floats[c].data());
    }
    const auto make = [&](const auto& from) {
      using Component = std::remove_cvref_t<decltype(from[0])>;
      const std::span<const Component> pointers(from);
      return samples == Samples::coefficients
                 ? warpalign::Transform::bspline(grid, pointers)
                 : warpalign::Transform::displacement(grid, pointers,
                                                      samples == Samples::cubic
                                                          ? warpalign::FieldInterpolation::cubic
                                                          : warpalign::FieldInterpolation::linear);
    };
    transform = as_double ? make(doubles) : make(singles);
    for (std::vector<double>& all : values) {
      components.push_back({{shape.width, shape.height, shape.depth},
                            std::move(all),
                            samples == Samples::linear ? 1 : 3,
                            samples == Samples::coefficients ? 1 : 0});
    }
  }

  /// p + u(p), for a grid whose axes are those of the coordinates.
  [[nodiscard]] std::array<double, 3> operator()(const std::array<double, 3>& p) const {
    const std::array<double, 3> index{
        (p[0] - grid.origin.x) / grid.spacing.x, (p[1] - grid.origin.y) / grid.spacing.y,
        dimensions == 3 ? (p[2] - grid.origin.z) / grid.spacing.z : 0};
    std::array<double, 3> result = p;
    for (std::size_t c = 0; c < components.size(); ++c) result[c] += components[c].at(index);
    return result;
  }

  int dimensions;
  warpalign::PointGrid grid;
  warpalign::Transform transform;
  std::vector<reference::FieldComponent> components;
};

}  // namespace test
