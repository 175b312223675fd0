// Displacement fields in NIfTI images of vectors: which way each tool's map, and in which
// coordinates. docs/howto/transform-files.md explains them. Reading and writing the image itself is
// the caller's.
#pragma once

#include "transform_files.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

enum class FieldFormat {
  itk_nifti,       ///< of ITK and ANTs: displacements in LPS millimetres
  fnirt_relative,  ///< of FSL's fnirt: displacements in FSL's millimetres
  fnirt_absolute,  ///< of FSL's fnirt: positions in FSL's millimetres
  niftyreg         ///< of NiftyReg: positions or displacements in RAS millimetres
};

/// NIfTI's intent of a file, which tells what its vectors are.
struct FieldIntent {
  int code = 0;
  std::string name{};
  double parameter = 0;  ///< the first one
};

/// An image of vectors.
struct FieldImage {
  PointGrid grid{};  ///< its voxels in LPS millimetres
  int dimensions = 3;
  /// All of x, then y, and in three dimensions z, each of the grid's shape.
  std::vector<double> samples{};
  bool single_precision = true;  ///< whether the file's numbers are
  FieldIntent intent{};
};

/// All formats, in the order of FieldFormat.
[[nodiscard]] std::span<const std::string_view> field_format_names();
[[nodiscard]] std::optional<FieldFormat> field_format_named(std::string_view name);
/// The format that an intent tells. Throws Error(invalid_argument) if it does not: the message says
/// which formats to choose from.
[[nodiscard]] FieldFormat field_format_of(const FieldIntent& intent);

/// The transform of an image. Those of fnirt need the geometry of both images. Throws
/// Error(invalid_argument).
[[nodiscard]] TransformFile read_field(FieldFormat format, const FieldImage& image,
                                       const Geometry& geometry);

/// The transform as a displacement field in millimetres, linear between its samples: itself if it
/// is one, else sampled at the pixels of the reference; without a reference, the inverse of a field
/// on the grid of the field. Throws Error(invalid_argument) if the
/// geometry that this needs is missing.
[[nodiscard]] Transform sampled_field(const Transform& transform, const Geometry& geometry);
/// The image of a transform. Fields in other coordinates than LPS millimetres need the geometry of
/// both images. Throws Error(invalid_argument).
[[nodiscard]] FieldImage write_field(FieldFormat format, const Transform& transform,
                                     const Geometry& geometry);

}  // namespace warpalign::transform_files
