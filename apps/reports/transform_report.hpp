// Transforms as JSON, and in words.
#pragma once

#include "reports/json.hpp"
#include "transform_files/transform_files.hpp"

#include <string>

namespace warpalign::program {

/// What Python's Transform.load and the program read: the kind, the coordinates and the matrix, or
/// of fields their grid; and the geometry of the images.
[[nodiscard]] Json transform_json(const transform_files::TransformFile& file);

/// A few lines on each transform.
[[nodiscard]] std::string transform_text(const transform_files::TransformFile& file);

/// "affine".
[[nodiscard]] const char* name_of(TransformKind kind);

}  // namespace warpalign::program
