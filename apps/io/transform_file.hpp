// Reads and writes transforms: the program's JSON, and the files of other tools.
#pragma once

#include "transform_files/transform_files.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::program {

/// The bytes of a file, or of standard input for "-". Throws FileError if it cannot be read, is
/// empty or larger than 2 GiB.
[[nodiscard]] std::string read_bytes(const std::string& name);
/// Writes a file, completely or not at all, or standard output for "-". Throws FileError.
void write_bytes(const std::string& name, const std::string& bytes);

/// The pixels of an image in LPS millimetres: a NIfTI volume, or another image with pixels of 1 mm.
/// Throws FileError.
[[nodiscard]] PointGrid load_grid(const std::string& name);
/// The geometry of the named images.
[[nodiscard]] transform_files::Geometry load_geometry(const std::optional<std::string>& reference,
                                                      const std::optional<std::string>& moving);

/// The transforms of the JSON of `register`, `register-volume`, `stack`, or of Python's
/// Transform.save. Throws Error(invalid_argument) without the name of the file.
[[nodiscard]] transform_files::TransformFile parse_transform_json(const std::string& text);

/// Our own format of all kinds of transforms, and one that only the Python package reads and
/// writes.
inline constexpr std::string_view npz_format = "npz", hdf5_format = "itk-h5";

/// The formats of --from and --to: JSON, npz, those of transform_files, and fields in NIfTI.
[[nodiscard]] std::vector<std::string_view> transform_format_names();

/// Reads a file in the format of this name, or in the one that its content and name tell. The
/// geometry, where given, replaces that of the file. Throws FileError, naming the file, and
/// UsageError for an unknown format.
[[nodiscard]] transform_files::TransformFile load_transforms(
    const std::string& name, const std::optional<std::string>& format,
    const transform_files::Geometry& geometry);

}  // namespace warpalign::program
