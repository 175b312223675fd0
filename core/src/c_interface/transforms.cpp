// The C interface: transforms.
#include "c_interface/call.hpp"
#include "c_interface/deformations.hpp"
#include "c_interface/images.hpp"

#include <warpalign/transform.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace warpalign::c_interface {

namespace {

static_assert(WARPALIGN_KIND_THIN_PLATE == static_cast<int>(TransformKind::thin_plate) &&
              WARPALIGN_KIND_HOMOGRAPHY == static_cast<int>(TransformKind::homography) &&
              WARPALIGN_KIND_BSPLINE == static_cast<int>(TransformKind::bspline) &&
              WARPALIGN_KIND_CHAIN == static_cast<int>(TransformKind::chain));
static_assert(WARPALIGN_WORLD == static_cast<int>(Coordinates::world) &&
              WARPALIGN_FIELD_CUBIC == static_cast<int>(FieldInterpolation::cubic) &&
              WARPALIGN_OUTSIDE_ZERO == static_cast<int>(OutsideField::zero) &&
              WARPALIGN_OUTSIDE_NAN == static_cast<int>(OutsideField::nan));

/// The enumerator of a number, of which `last` is the largest.
template <class Enum>
Enum enumerator(std::int32_t number, Enum last, const char* what) {
  if (number < 0 || number > static_cast<std::int32_t>(last)) {
    refuse("invalid value " + std::to_string(number) + " for " + what);
  }
  return static_cast<Enum>(number);
}

Coordinates coordinates_of(warpalign_coordinates number) {
  return enumerator(number, Coordinates::world, "coordinates (use WARPALIGN_PIXELS, ...)");
}

OutsideField outside_of(warpalign_outside_field number) {
  return enumerator(number, OutsideField::nan, "outside (use WARPALIGN_OUTSIDE_EDGE, ...)");
}

PointGrid grid_of(const warpalign_point_grid* grid, const char* what) {
  const warpalign_point_grid& g = required(grid, what);
  check_size(g, what);
  PointGrid result{.shape = {g.width, g.height, g.depth},
                   .origin = {g.origin[0], g.origin[1], g.origin[2]},
                   .spacing = {g.spacing[0], g.spacing[1], g.spacing[2]}};
  std::copy(std::begin(g.direction), std::end(g.direction), result.direction.begin());
  return result;
}

void check_dimensions(std::int32_t dimensions) {
  if (dimensions == 2 || dimensions == 3) return;
  refuse("dimensions is " + std::to_string(dimensions) + "; a transform has 2 or 3");
}

/// Calls use(pointer to float or double) for values of this type. `Void`: void or const void.
template <class Void, class Use>
void with_reals(Void* values, warpalign_pixel_type type, const char* what, const Use& use) {
  required(static_cast<std::conditional_t<std::is_const_v<Void>, const char, char>*>(values), what);
  constexpr bool fixed = std::is_const_v<Void>;
  if (type == WARPALIGN_F32) {
    use(static_cast<std::conditional_t<fixed, const float, float>*>(values));
  } else if (type == WARPALIGN_F64) {
    use(static_cast<std::conditional_t<fixed, const double, double>*>(values));
  } else {
    refuse(std::string(what) + " must be WARPALIGN_F32 or WARPALIGN_F64");
  }
}

void check_shape(const PointGrid& grid) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  for (const std::int64_t extent : {grid.shape.width, grid.shape.height, grid.shape.depth}) {
    if (extent < 1 || extent > most) refuse("the extents of a grid must be 1 to 2^30");
  }
  const auto length = [](std::int64_t extent) { return static_cast<double>(extent); };
  if (length(grid.shape.width) * length(grid.shape.height) * length(grid.shape.depth) > 0x1p40) {
    refuse("a grid must have at most 2^40 points");
  }
}

/// The grid, of which each point has a value.
PointGrid grid_of_values(const warpalign_point_grid* grid) {
  const PointGrid result = grid_of(grid, "grid");
  check_shape(result);
  return result;
}

/// Calls use(pointers to the values along x, y and, in space, z) for values of this type.
template <class Void, class Use>
void with_components(Void* values, warpalign_pixel_type type, const char* what,
                     const PointGrid& grid, int dimensions, const Use& use) {
  const std::int64_t points = grid.shape.pixels();
  with_reals(values, type, what, [&](auto* x) {
    const std::array<decltype(x), 3> all{x, x + points, x + (dimensions - 1) * points};
    use(std::span(all.data(), static_cast<std::size_t>(dimensions)));
  });
}

std::shared_ptr<Transform> kept(warpalign_transform transform) {
  return object_of<Transform>(transform.id, no_transform);
}

/// Runs make(), which returns a transform, and gives it a handle.
template <class Make>
warpalign_status make_transform(warpalign_transform* target, const Make& make) {
  return call([&] {
    warpalign_transform& handle = required(target, "transform");
    handle = {0};
    handle = {handles<Transform>().insert(std::make_shared<Transform>(make()))};
  });
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::HomogeneousMatrix;
using warpalign::PointGrid;
using warpalign::Transform;

warpalign_status warpalign_pixel_grid(int64_t width, int64_t height, int64_t depth,
                                      warpalign_point_grid* grid, size_t struct_size) {
  return call([&] {
    check_size<warpalign_point_grid>(struct_size, "grid");
    check_shape({.shape = {width, height, depth}});
    required(grid, "grid") = {
        sizeof(warpalign_point_grid), width, height, depth, {0, 0, 0}, {1, 1, 1},
        {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  });
}

warpalign_status warpalign_matrix_transform(warpalign_transform_kind kind, int32_t dimensions,
                                            const double matrix[16],
                                            warpalign_coordinates coordinates,
                                            warpalign_transform* transform) {
  return make_transform(transform, [&] {
    check_dimensions(dimensions);
    HomogeneousMatrix whole;
    std::copy_n(&required(matrix, "matrix"), whole.m.size(), whole.m.begin());
    return Transform::of_matrix(
        enumerator(kind, warpalign::TransformKind::homography,
                   "kind (use WARPALIGN_KIND_TRANSLATION to WARPALIGN_KIND_HOMOGRAPHY)"),
        dimensions, whole, coordinates_of(coordinates));
  });
}

warpalign_status warpalign_displacement_transform(int32_t dimensions,
                                                  const warpalign_point_grid* grid,
                                                  const void* samples, warpalign_pixel_type type,
                                                  warpalign_field_interpolation interpolation,
                                                  warpalign_coordinates coordinates,
                                                  warpalign_transform* transform) {
  return make_transform(transform, [&] {
    check_dimensions(dimensions);
    const PointGrid points = grid_of_values(grid);
    const auto chosen = enumerator(interpolation, warpalign::FieldInterpolation::cubic,
                                   "interpolation (use WARPALIGN_FIELD_LINEAR, ...)");
    Transform made;
    with_components(samples, type, "samples", points, dimensions, [&](const auto& components) {
      made = Transform::displacement(points, components, chosen, coordinates_of(coordinates));
    });
    return made;
  });
}

warpalign_status warpalign_bspline_transform(int32_t dimensions, const warpalign_point_grid* grid,
                                             const void* coefficients, warpalign_pixel_type type,
                                             warpalign_coordinates coordinates,
                                             warpalign_transform* transform) {
  return make_transform(transform, [&] {
    check_dimensions(dimensions);
    const PointGrid points = grid_of_values(grid);
    Transform made;
    with_components(coefficients, type, "coefficients", points, dimensions,
                    [&](const auto& components) {
                      made = Transform::bspline(points, components, coordinates_of(coordinates));
                    });
    return made;
  });
}

warpalign_status warpalign_thin_plate_transform(int32_t dimensions, const double* reference,
                                                const double* moving, int64_t count,
                                                warpalign_coordinates coordinates,
                                                warpalign_transform* transform) {
  return make_transform(transform, [&] {
    check_dimensions(dimensions);
    if (count < 1 || count > 1 << 20) refuse("count must be a number of points");
    const auto numbers = static_cast<std::size_t>(count * dimensions);
    return Transform::thin_plate(dimensions, {&required(reference, "reference"), numbers},
                                 {&required(moving, "moving"), numbers},
                                 coordinates_of(coordinates));
  });
}

warpalign_status warpalign_transform_of_deformation(warpalign_deformation deformation,
                                                    warpalign_transform* transform) {
  return make_transform(transform, [&] {
    return object_of<FoundDeformation>(deformation.id, no_deformation)->deformation.transform;
  });
}

warpalign_status warpalign_compose_transforms(warpalign_transform second, warpalign_transform first,
                                              warpalign_transform* composed) {
  return make_transform(composed, [&] { return *kept(second) * *kept(first); });
}

warpalign_status warpalign_invert_transform(warpalign_transform transform,
                                            warpalign_transform* inverse) {
  return make_transform(inverse, [&] { return kept(transform)->inverse(); });
}

warpalign_status warpalign_convert_transform(warpalign_transform transform,
                                             warpalign_coordinates coordinates,
                                             const warpalign_point_grid* reference,
                                             const warpalign_point_grid* moving,
                                             warpalign_transform* converted) {
  return make_transform(converted, [&] {
    return kept(transform)->in_coordinates(
        coordinates_of(coordinates), grid_of(reference, "reference"), grid_of(moving, "moving"));
  });
}

warpalign_status warpalign_describe_transform(warpalign_transform transform,
                                              warpalign_transform_info* info) {
  return call([&] {
    const auto object = kept(transform);
    warpalign_transform_info& target = required(info, "info");
    check_size(target, "info");
    const auto matrix = object->matrix();
    target.kind = static_cast<warpalign_transform_kind>(object->kind());
    target.dimensions = object->dimensions();
    target.coordinates = static_cast<warpalign_coordinates>(object->coordinates());
    target.has_matrix = matrix ? 1 : 0;
    const HomogeneousMatrix shown = matrix.value_or(HomogeneousMatrix{});
    std::copy(shown.m.begin(), shown.m.end(), std::begin(target.matrix));
    target.inverse_residual = object->inverse_residual();
  });
}

warpalign_status warpalign_transform_points(warpalign_transform transform, const double* points,
                                            int64_t count, warpalign_outside_field outside,
                                            double* mapped) {
  return call([&] {
    const auto object = kept(transform);
    const auto chosen = outside_of(outside);
    if (count < 0) refuse("count is negative");
    if (count == 0) return;
    const warpalign::PointStrides rows{object->dimensions(), 1};
    object->points(&required(points, "points"), rows, &required(mapped, "mapped"), rows,
                   static_cast<std::size_t>(count), chosen);
  });
}

warpalign_status warpalign_transform_field(warpalign_transform transform,
                                           const warpalign_point_grid* grid,
                                           warpalign_outside_field outside,
                                           warpalign_pixel_type type, void* samples) {
  return call([&] {
    const auto object = kept(transform);
    const PointGrid points = grid_of_values(grid);
    const auto chosen = outside_of(outside);
    with_components(samples, type, "samples", points, object->dimensions(),
                    [&](const auto& components) { object->field(points, components, chosen); });
  });
}

warpalign_status warpalign_transform_jacobian(warpalign_transform transform,
                                              const warpalign_point_grid* grid,
                                              double* determinants) {
  return call([&] {
    const auto object = kept(transform);
    const PointGrid points = grid_of_values(grid);
    object->jacobian(points, {&required(determinants, "determinants"),
                              static_cast<std::size_t>(points.shape.pixels())});
  });
}

warpalign_status warpalign_destroy_transform(warpalign_transform transform) {
  return call([&] {
    if (!handles<Transform>().remove(transform.id)) throw InvalidHandle{no_transform};
  });
}
