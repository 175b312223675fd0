// Transforms of points and images. Points and components are in array axes for transforms of
// pixels, and (x, y, z) for those of world coordinates; matrices and grids are always (x, y, z).
#include "arrays.hpp"
#include "bindings.hpp"
#include "transform_names.hpp"

#include <warpalign/point_fit.hpp>
#include <warpalign/transform.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

constexpr std::array<const char*, 10> kinds{"translation", "rigid",        "similarity", "affine",
                                            "homography",  "displacement", "bspline",    "inverse",
                                            "chain",       "thin_plate"};

TransformKind kind_named(const std::string& name) {
  const auto* const found = std::find(kinds.begin(), kinds.end(), name);
  if (found == kinds.end()) refuse("unknown kind of transform");
  return static_cast<TransformKind>(found - kinds.begin());
}

Coordinates coordinates_named(const std::string& name) {
  return name == "world" ? Coordinates::world : Coordinates::pixels;
}

FieldInterpolation interpolation_named(const std::string& name) {
  return name == "cubic" ? FieldInterpolation::cubic : FieldInterpolation::linear;
}

/// Origin, spacing and direction, and the extents along x, y and z.
PointGrid grid_of(const std::array<std::int64_t, 3>& shape, const std::array<double, 3>& origin,
                  const std::array<double, 3>& spacing, const std::array<double, 9>& direction) {
  return {.shape = {shape[0], shape[1], shape[2]},
          .origin = {origin[0], origin[1], origin[2]},
          .spacing = {spacing[0], spacing[1], spacing[2]},
          .direction = direction};
}

/// Pointers to the components of an array of shape (dimensions, ...), x first.
template <class Value>
std::vector<Value*> components_of(Value* first, std::size_t dimensions, std::size_t points,
                                  Coordinates coordinates) {
  std::vector<Value*> components;
  for (std::size_t a = 0; a < dimensions; ++a) {
    const std::size_t row = coordinates == Coordinates::pixels ? dimensions - 1 - a : a;
    components.push_back(first + row * points);
  }
  return components;
}

std::size_t points_of(const PointGrid& grid) {
  return static_cast<std::size_t>(grid.shape.pixels());
}

/// Makes a displacement, or with `coefficients` a B-spline, from float32 or float64.
Transform field_transform(const InputArray& samples, const PointGrid& grid,
                          FieldInterpolation interpolation, Coordinates coordinates,
                          bool coefficients) {
  const std::size_t dimensions = samples.ndim() - 1;
  if ((dimensions != 2 && dimensions != 3) || samples.shape(0) != dimensions ||
      samples.size() != dimensions * points_of(grid)) {
    refuse("the samples must have the shape (dimensions, ...) of the grid");
  }
  const auto make = [&]<class Value>(const Value* first) {
    const auto components = components_of(first, dimensions, points_of(grid), coordinates);
    const std::span<const Value* const> x_first(components.data(), components.size());
    const nb::gil_scoped_release released;
    return coefficients ? Transform::bspline(grid, x_first, coordinates)
                        : Transform::displacement(grid, x_first, interpolation, coordinates);
  };
  if (samples.dtype() == nb::dtype<float>()) return make(static_cast<const float*>(samples.data()));
  if (samples.dtype() != nb::dtype<double>()) refuse("samples must be float32 or float64");
  return make(static_cast<const double*>(samples.data()));
}

void map_points(const Transform& self, const InputArray& from, const OutputArray& to,
                const std::string& outside) {
  const auto dimensions = static_cast<std::size_t>(self.dimensions());
  if (from.dtype() != nb::dtype<double>() || to.dtype() != nb::dtype<double>() ||
      from.ndim() != 2 || from.shape(1) != dimensions || from.size() != to.size()) {
    refuse("points must be float64 of the shape (points, dimensions)");
  }
  const auto step = static_cast<std::ptrdiff_t>(dimensions);
  const bool reversed = self.coordinates() == Coordinates::pixels;
  const std::ptrdiff_t first = reversed ? step - 1 : 0;
  const PointStrides strides{step, reversed ? -1 : 1};
  const std::size_t count = from.shape(0);
  if (count == 0) return;
  const auto* read = static_cast<const double*>(from.data()) + first;
  auto* write = static_cast<double*>(to.data()) + first;
  const nb::gil_scoped_release released;
  self.points(read, strides, write, strides, count, outside_named(outside));
}

void map_grid(const Transform& self, const PointGrid& grid, const OutputArray& to,
              const std::string& outside, bool relative) {
  const auto dimensions = static_cast<std::size_t>(self.dimensions());
  const std::size_t points = points_of(grid);
  if (to.size() != dimensions * points) refuse("the output has another size than the grid");
  const OutsideField mode = outside_named(outside);
  const auto fill = [&]<class Value>(Value* first) {
    const auto components = components_of(first, dimensions, points, self.coordinates());
    const std::span<Value* const> x_first(components.data(), components.size());
    const nb::gil_scoped_release released;
    relative ? self.field(grid, x_first, mode) : self.positions(grid, x_first, mode);
  };
  if (to.dtype() == nb::dtype<float>()) return fill(static_cast<float*>(to.data()));
  if (to.dtype() != nb::dtype<double>()) refuse("the output must be float32 or float64");
  fill(static_cast<double*>(to.data()));
}

void determinants(const Transform& self, const PointGrid& grid, const OutputArray& to) {
  if (to.dtype() != nb::dtype<double>() || to.size() != points_of(grid)) {
    refuse("the output must be float64 of the grid's shape");
  }
  const std::span<double> all(static_cast<double*>(to.data()), to.size());
  const nb::gil_scoped_release released;
  self.jacobian(grid, all);
}

void copy_samples(const Transform& self, const OutputArray& to) {
  const auto dimensions = static_cast<std::size_t>(self.dimensions());
  const auto grid = self.grid();
  if (!grid || to.dtype() != nb::dtype<double>() || to.size() != dimensions * points_of(*grid)) {
    refuse("the output must be float64 of the shape of the samples");
  }
  const auto components = components_of(static_cast<double*>(to.data()), dimensions,
                                        points_of(*grid), self.coordinates());
  self.copy_samples(components);
}

std::optional<std::vector<double>> matrix_of(const Transform& self) {
  const auto matrix = self.matrix();
  if (!matrix) return std::nullopt;
  return std::vector<double>(matrix->m.begin(), matrix->m.end());
}

std::optional<std::string> sample_dtype(const Transform& self) {
  const auto type = self.sample_type();
  if (!type) return std::nullopt;
  return *type == PixelType::f32 ? "float32" : "float64";
}

std::optional<std::string> interpolation_of(const Transform& self) {
  const auto interpolation = self.interpolation();
  if (!interpolation) return std::nullopt;
  return *interpolation == FieldInterpolation::linear ? "linear" : "cubic";
}

/// The coordinates of points in C++'s order.
std::vector<double> coordinates_of(const InputArray& points, Coordinates coordinates) {
  if (points.dtype() != nb::dtype<double>() || points.ndim() != 2) {
    refuse("points must be float64 of the shape (points, dimensions)");
  }
  const std::size_t d = points.shape(1);
  const auto* first = static_cast<const double*>(points.data());
  std::vector<double> result(points.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t a = i % d;
    result[i] = first[i - a + (coordinates == Coordinates::pixels ? d - 1 - a : a)];
  }
  return result;
}

/// The transform, the distances that remain, and which pairs were used.
auto fit(const std::string& model, const InputArray& reference, const InputArray& moving,
         bool robust, const std::string& coordinates) {
  constexpr std::array<const char*, 6> models{"translation", "rigid",      "similarity",
                                              "affine",      "homography", "thin-plate"};
  const auto* const found = std::find(models.begin(), models.end(), model);
  if (found == models.end()) refuse("unknown model of a transform");
  const Coordinates kind = coordinates_named(coordinates);
  const std::vector<double> from = coordinates_of(reference, kind);
  const std::vector<double> to = coordinates_of(moving, kind);
  const auto dimensions = static_cast<int>(reference.shape(1));
  const nb::gil_scoped_release released;
  PointFit result = fit_points(dimensions, from, to,
                               {static_cast<PointModel>(found - models.begin()), robust, kind});
  return std::pair{std::move(result.transform), std::move(result.inliers)};
}

void bind_grid(nb::module_& module) {
  nb::class_<PointGrid>(module, "PointGrid", "A regular grid of points, in (x, y, z).")
      .def("__init__",
           [](PointGrid* self, const std::array<std::int64_t, 3>& shape,
              const std::array<double, 3>& origin, const std::array<double, 3>& spacing,
              const std::array<double, 9>& direction) {
             new (self) PointGrid(grid_of(shape, origin, spacing, direction));
           })
      .def_prop_ro("shape",
                   [](const PointGrid& grid) {
                     const Shape& s = grid.shape;
                     return std::array<std::int64_t, 3>{s.width, s.height, s.depth};
                   })
      .def_prop_ro("origin",
                   [](const PointGrid& grid) {
                     return std::array<double, 3>{grid.origin.x, grid.origin.y, grid.origin.z};
                   })
      .def_prop_ro("spacing",
                   [](const PointGrid& grid) {
                     return std::array<double, 3>{grid.spacing.x, grid.spacing.y, grid.spacing.z};
                   })
      .def_prop_ro("direction", [](const PointGrid& grid) { return grid.direction; })
      .def("equals", [](const PointGrid& a, const PointGrid& b) { return a == b; });
}

}  // namespace

void bind_transforms(nb::module_& module) {
  bind_grid(module);
  module.def("fit_points", &fit, nb::arg("model"), nb::arg("reference").noconvert(),
             nb::arg("moving").noconvert(), nb::arg("robust"), nb::arg("coordinates"));
  nb::class_<Transform>(module, "Transform", "A transform; see :class:`warpalign.Transform`.")
      .def_static("of_matrix",
                  [](const std::string& kind, int dimensions, const std::array<double, 16>& matrix,
                     const std::string& coordinates) {
                    HomogeneousMatrix m;
                    m.m = matrix;
                    return Transform::of_matrix(kind_named(kind), dimensions, m,
                                                coordinates_named(coordinates));
                  })
      .def_static(
          "displacement",
          [](const InputArray& samples, const PointGrid& grid, const std::string& interpolation,
             const std::string& coordinates) {
            return field_transform(samples, grid, interpolation_named(interpolation),
                                   coordinates_named(coordinates), false);
          },
          nb::arg("samples").noconvert(), nb::arg("grid"), nb::arg("interpolation"),
          nb::arg("coordinates"))
      .def_static(
          "bspline",
          [](const InputArray& samples, const PointGrid& grid, const std::string& coordinates) {
            return field_transform(samples, grid, FieldInterpolation::cubic,
                                   coordinates_named(coordinates), true);
          },
          nb::arg("coefficients").noconvert(), nb::arg("grid"), nb::arg("coordinates"))
      .def_static("thin_plate",
                  [](int dimensions, const std::vector<double>& reference,
                     const std::vector<double>& moving, const std::string& coordinates) {
                    return Transform::thin_plate(dimensions, reference, moving,
                                                 coordinates_named(coordinates));
                  })
      .def_prop_ro("dimensions", &Transform::dimensions)
      .def_prop_ro("landmarks", &Transform::landmarks)
      .def_prop_ro(
          "kind",
          [](const Transform& self) { return kinds[static_cast<std::size_t>(self.kind())]; })
      .def_prop_ro("coordinates",
                   [](const Transform& self) {
                     return self.coordinates() == Coordinates::world ? "world" : "pixels";
                   })
      .def_prop_ro("matrix", &matrix_of)
      .def_prop_ro("grid", &Transform::grid)
      .def_prop_ro("interpolation", &interpolation_of)
      .def_prop_ro("dtype", &sample_dtype)
      .def_prop_ro("members", &Transform::members)
      .def_prop_ro("residual", &Transform::inverse_residual)
      .def("copy_samples", &copy_samples, nb::arg("to").noconvert())
      .def("points", &map_points, nb::arg("points").noconvert(), nb::arg("to").noconvert(),
           nb::arg("outside"))
      .def("field", &map_grid, nb::arg("grid"), nb::arg("to").noconvert(), nb::arg("outside"),
           nb::arg("relative"))
      .def("jacobian", &determinants, nb::arg("grid"), nb::arg("to").noconvert())
      .def("inverse", &Transform::inverse, nb::call_guard<nb::gil_scoped_release>())
      .def("in_coordinates",
           [](const Transform& self, const std::string& coordinates, const PointGrid& reference,
              const PointGrid& moving) {
             return self.in_coordinates(coordinates_named(coordinates), reference, moving);
           })
      .def("after", [](const Transform& self, const Transform& first) { return self * first; })
      .def("equals", [](const Transform& self, const Transform& other) { return self == other; });
}

}  // namespace warpalign::python
