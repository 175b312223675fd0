// AFNI's .aff12.1D: rows of 12 numbers, the first three rows of a matrix that maps points of the
// base (the reference) to points of the source, in DICOM's coordinates (LPS). AFNI takes an oblique
// image to lie along the nearest axes; such images are refused.
#include "formats.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::transform_files {
namespace {

/// Throws Error for an image whose axes are more than 0.01 degrees from those of the world.
void refuse_oblique(const Geometry& geometry) {
  constexpr double cosine = 1 - 1.5e-8;
  for (const auto& grid : {geometry.reference, geometry.moving}) {
    if (!grid) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double largest = 0;
      for (std::size_t row = 0; row < 3; ++row) {
        largest = std::max(largest, std::abs(grid->direction[3 * row + axis]));
      }
      if (largest < cosine) {
        refuse("an image is oblique, and AFNI's coordinates are then others: deoblique it first");
      }
    }
  }
}

}  // namespace

TransformFile read_afni(std::string_view text, const Geometry& geometry) {
  refuse_oblique(geometry);
  TransformFile file;
  Lines lines(text);
  std::vector<double> numbers;
  while (const auto line = lines.next()) {
    if (line->starts_with('#')) continue;
    const std::vector<double> row = numbers_of(*line, "the matrix");
    // -ONELINE has 12 numbers a line; without it, a matrix has three lines.
    if (row.size() != 12 && row.size() != 4) expect_count(row, 12, "a row of the matrix");
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  if (numbers.empty() || numbers.size() % 12 != 0) {
    refuse("the file has " + std::to_string(numbers.size()) + " numbers; a matrix has 12");
  }
  for (std::size_t i = 0; i < numbers.size(); i += 12) {
    std::array<double, 12> rows{};
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i), 12, rows.begin());
    file.transforms.push_back(affine(3, HomogeneousMatrix::affine3(rows), Coordinates::world));
  }
  return file;
}

std::string write_afni(std::span<const Transform> transforms, const Geometry& geometry) {
  refuse_oblique(geometry);
  std::string text = "# 3dvolreg matrices (DICOM-to-DICOM, row-by-row):\n";
  for (const Transform& transform : transforms) {
    if (transform.dimensions() != 3) refuse("a file of AFNI holds transforms of volumes");
    const HomogeneousMatrix matrix = affine_part(transform, "a file of AFNI");
    text += text_of(std::span(matrix.m).first(12)) + "\n";
  }
  return text;
}

}  // namespace warpalign::transform_files
