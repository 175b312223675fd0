// What the commands of `warpalign transform` share.
#pragma once

#include "io/transform_file.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace warpalign::program {

/// The options as typed, unchecked.
struct TransformOptions {
  std::optional<std::string> from;
  std::optional<std::string> reference;
  std::optional<std::string> moving;

  /// Reads one file. Throws FileError and UsageError.
  [[nodiscard]] transform_files::TransformFile load(const std::string& name) const;
};

/// The formats of --from and --to.
inline constexpr const char* transform_formats =
    "json npz itk itk-matlab flirt lta afni elastix bdv turboreg multistackreg npy mgz "
    "itk-nifti fnirt-relative fnirt-absolute niftyreg";

/// Adds --from, --reference and --moving.
void add_transform_options(CLI::App& command, TransformOptions& options);

/// Encodes a file in the format `to`, or in the one of the name's ending; JSON for "-". Throws
/// UsageError for an unknown format, and FileError, naming the file, for transforms that it cannot
/// hold. If a format samples a transform on a grid, a remark says how much that changes it.
[[nodiscard]] std::string encode_transforms(const std::string& name,
                                            const std::optional<std::string>& to,
                                            const transform_files::TransformFile& file);

/// The inverse. Throws FileError, which names the file, if there is none.
[[nodiscard]] Transform inverse_of(const Transform& transform, const std::string& name);

/// The transform for pixels. Throws UsageError if it maps millimetres and an image is unknown.
[[nodiscard]] Transform in_pixels(const Transform& transform,
                                  const transform_files::Geometry& geometry,
                                  const std::string& name);

}  // namespace warpalign::program
