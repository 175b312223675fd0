// Displacement fields in NIfTI images of vectors.
#include "field_images.hpp"

#include "fields.hpp"
#include "fsl.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::transform_files {
namespace {

constexpr std::array<std::string_view, 4> field_names{"itk-nifti", "fnirt-relative",
                                                      "fnirt-absolute", "niftyreg"};

// NIfTI's intent codes.
constexpr int intent_vector = 1007;
constexpr int intent_fnirt_field = 2006;
constexpr int intent_fnirt_last = 2009;
constexpr std::string_view niftyreg_name = "NREG_TRANS";
// NiftyReg's first parameter of the intent.
constexpr double niftyreg_deformation = 0;
constexpr double niftyreg_displacement = 1;

using Planar = std::vector<double>;

template <class Number>
std::array<Number*, 3> pointers_to(Number* first, std::size_t points, int dimensions) {
  return {first, first + points, first + static_cast<std::size_t>(dimensions - 1) * points};
}

/// A grid of the plane has no third axis.
PointGrid flattened(PointGrid grid, int dimensions) {
  if (dimensions == 3) return grid;
  const std::array<double, 9> d = grid.direction;
  grid.direction = {d[0], d[1], 0, d[3], d[4], 0, 0, 0, 1};
  grid.origin.z = 0;
  grid.spacing.z = 1;
  return grid;
}

Transform field_of(const PointGrid& grid, int dimensions, const Planar& samples, bool single,
                   Coordinates coordinates) {
  const auto points = static_cast<std::size_t>(grid.shape.pixels());
  const auto d = static_cast<std::size_t>(dimensions);
  expect_count(samples, d * points, "the field");
  if (single) {
    const std::vector<float> numbers(samples.begin(), samples.end());
    const auto all = pointers_to(numbers.data(), points, dimensions);
    return Transform::displacement(grid, {all.data(), d}, FieldInterpolation::linear, coordinates);
  }
  const auto all = pointers_to(samples.data(), points, dimensions);
  return Transform::displacement(grid, {all.data(), d}, FieldInterpolation::linear, coordinates);
}

/// T(p), or T(p) - p, of the points of a grid.
Planar evaluated(const Transform& transform, const PointGrid& grid, bool displacements) {
  const auto points = static_cast<std::size_t>(grid.shape.pixels());
  const int dimensions = transform.dimensions();
  const auto d = static_cast<std::size_t>(dimensions);
  Planar samples(d * points);
  const auto all = pointers_to(samples.data(), points, dimensions);
  if (displacements) {
    transform.field(grid, {all.data(), d});
  } else {
    transform.positions(grid, {all.data(), d});
  }
  return samples;
}

/// Subtracts the points of the grid.
void make_relative(Planar& positions, const PointGrid& grid, int dimensions) {
  const Transform identity = affine(dimensions, HomogeneousMatrix{}, Coordinates::world);
  const Planar points = evaluated(identity, grid, false);
  for (std::size_t i = 0; i < points.size(); ++i) positions[i] -= points[i];
}

/// Changes the sign of x and y: between LPS and RAS coordinates.
void mirror(Planar& samples, int dimensions) {
  const auto end = samples.begin() + static_cast<std::ptrdiff_t>(
                                         2 * samples.size() / static_cast<std::size_t>(dimensions));
  std::for_each(samples.begin(), end, [](double& value) { value = -value; });
}

/// The reference's voxels in FSL's millimetres.
PointGrid fsl_grid(const PointGrid& reference) {
  return grid_of(reference.shape, fsl_millimetres(reference));
}

TransformFile read_fnirt(const FieldImage& image, bool relative, Geometry geometry) {
  if (image.intent.code > intent_fnirt_field && image.intent.code <= intent_fnirt_last) {
    refuse("it holds coefficients of fnirt: convert them to a field with FSL's fnirtfileutils");
  }
  if (image.dimensions != 3) refuse("a field of fnirt maps volumes, not images");
  if (!geometry.reference) geometry.reference = image.grid;
  need_both(geometry, "a field of fnirt");
  const Shape& own = image.grid.shape;
  const Shape& shape = geometry.reference->shape;
  if (own.width != shape.width || own.height != shape.height || own.depth != shape.depth) {
    refuse("its field is not of the size of the reference");
  }
  const PointGrid grid = fsl_grid(*geometry.reference);
  Planar samples = image.samples;
  if (!relative) make_relative(samples, grid, 3);
  // Between the voxels of both images, the coordinates are FSL's millimetres.
  const auto matrix = [](const HomogeneousMatrix& m) { return affine(3, m, Coordinates::pixels); };
  const Transform transform =
      matrix(inverse_of(fsl_millimetres(*geometry.moving))) *
      field_of(grid, 3, samples, image.single_precision, Coordinates::pixels) *
      matrix(fsl_millimetres(*geometry.reference));
  return {.transforms = {transform}, .geometry = geometry};
}

TransformFile read_world(const FieldImage& image, bool ras, bool positions,
                         const Geometry& geometry) {
  const PointGrid grid = flattened(image.grid, image.dimensions);
  Planar samples = image.samples;
  if (ras) mirror(samples, image.dimensions);
  if (positions) make_relative(samples, grid, image.dimensions);
  TransformFile file{.geometry = geometry};
  file.transforms.push_back(
      field_of(grid, image.dimensions, samples, image.single_precision, Coordinates::world));
  if (!file.geometry.reference) file.geometry.reference = grid;
  return file;
}

FieldImage write_fnirt(const Transform& transform, bool relative, const Geometry& geometry) {
  if (transform.dimensions() != 3) refuse("a field of fnirt maps volumes, not images");
  need_both(geometry, "a field of fnirt");
  const Transform voxels =
      transform.in_coordinates(Coordinates::pixels, *geometry.reference, *geometry.moving);
  const Transform moving = affine(3, fsl_millimetres(*geometry.moving), Coordinates::pixels);
  FieldImage image{.grid = *geometry.reference, .intent = {.code = intent_fnirt_field}};
  image.samples = evaluated(moving * voxels, {.shape = geometry.reference->shape}, false);
  if (relative) make_relative(image.samples, fsl_grid(*geometry.reference), 3);
  return image;
}

}  // namespace

std::span<const std::string_view> field_format_names() { return field_names; }

std::optional<FieldFormat> field_format_named(std::string_view name) {
  const auto* const found = std::find(field_names.begin(), field_names.end(), name);
  if (found == field_names.end()) return std::nullopt;
  return static_cast<FieldFormat>(found - field_names.begin());
}

FieldFormat field_format_of(const FieldIntent& intent) {
  if (intent.name == niftyreg_name) return FieldFormat::niftyreg;
  if (intent.code == intent_vector) return FieldFormat::itk_nifti;
  refuse(
      "its header does not tell whether its vectors are relative or absolute: name the format "
      "fnirt-relative or fnirt-absolute (or itk-nifti or niftyreg)");
}

TransformFile read_field(FieldFormat format, const FieldImage& image, const Geometry& geometry) {
  switch (format) {
    case FieldFormat::itk_nifti:
      return read_world(image, false, false, geometry);
    case FieldFormat::fnirt_relative:
      return read_fnirt(image, true, geometry);
    case FieldFormat::fnirt_absolute:
      return read_fnirt(image, false, geometry);
    case FieldFormat::niftyreg:
      if (image.intent.parameter != niftyreg_deformation &&
          image.intent.parameter != niftyreg_displacement) {
        refuse(
            "it is a grid of control points or of velocities: convert it to a deformation field "
            "with reg_transform -def");
      }
      return read_world(image, true, image.intent.parameter == niftyreg_deformation, geometry);
  }
  refuse("unknown format");
}

Transform sampled_field(const Transform& transform, const Geometry& geometry) {
  Transform world = transform;
  if (transform.coordinates() != Coordinates::world) {
    if (!geometry.reference || !geometry.moving) {
      refuse(
          "the format maps millimetres, and the transform pixels: give the reference and the "
          "moving image");
    }
    world = transform.in_coordinates(Coordinates::world, *geometry.reference, *geometry.moving);
  }
  if (world.kind() == TransformKind::displacement &&
      world.interpolation() == FieldInterpolation::linear) {
    return world;
  }
  std::optional<PointGrid> grid = geometry.reference;
  // Without another grid, the inverse of a field gets that of the field.
  if (!grid && world.kind() == TransformKind::inverse) grid = world.inverse().grid();
  if (!grid) {
    refuse(
        "a field is sampled at the pixels of the image that it maps from: give the reference or, "
        "for an inverse, the moving image");
  }
  *grid = flattened(*grid, world.dimensions());
  return field_of(*grid, world.dimensions(), evaluated(world, *grid, true), true,
                  Coordinates::world);
}

FieldImage write_field(FieldFormat format, const Transform& transform, const Geometry& geometry) {
  if (format == FieldFormat::fnirt_relative || format == FieldFormat::fnirt_absolute) {
    return write_fnirt(transform, format == FieldFormat::fnirt_relative, geometry);
  }
  const Transform field = sampled_field(transform, geometry);
  FieldImage image{.grid = *field.grid(), .dimensions = field.dimensions()};
  image.intent.code = intent_vector;
  image.samples = evaluated(field, image.grid, format == FieldFormat::itk_nifti);
  if (format == FieldFormat::niftyreg) {
    mirror(image.samples, image.dimensions);
    image.intent.name = niftyreg_name;
    image.intent.parameter = niftyreg_deformation;
  }
  return image;
}

}  // namespace warpalign::transform_files
