// The transforms of ITK, as its files describe them: a type's name and two lists of numbers.
#pragma once

#include <warpalign/transform.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

/// One transform of ITK. Names, parameters and fixed parameters are those of ITK's classes.
struct ItkTransform {
  std::string type;  ///< "Euler3DTransform_double_3_3"
  std::vector<double> parameters;
  std::vector<double> fixed;
};

/// The world transform of a list, as a file holds it: either one transform, or a composite and then
/// its members. Throws Error(invalid_argument).
[[nodiscard]] Transform transform_of(std::span<const ItkTransform> list);
/// The list for a world transform. Throws Error(invalid_argument) for what ITK has no type for.
[[nodiscard]] std::vector<ItkTransform> itk_transforms_of(const Transform& transform);

/// The geometry that ITK gives an image without one: the coordinates of a pixel are its indices.
inline const PointGrid plain_grid{.shape = {1, 1, 1}};

/// ITK's text format, .tfm and .txt. `of_pixels`: a comment, which only warpalign reads, tells that
/// the images have the plain grid; such a file is read as a transform of pixels.
[[nodiscard]] Transform read_itk_text(std::string_view text);
[[nodiscard]] std::string write_itk_text(const Transform& transform, bool of_pixels = false);
/// ITK's file of MATLAB's version 4, .mat, in which ANTs keeps affine transforms.
[[nodiscard]] Transform read_itk_matlab(std::string_view bytes);
[[nodiscard]] std::string write_itk_matlab(const Transform& transform);

}  // namespace warpalign::transform_files
