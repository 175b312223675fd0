// Displacement fields in NIfTI files.
#pragma once

#include "io/nifti.hpp"
#include "transform_files/field_images.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace warpalign::program {

/// The voxels of a file in LPS millimetres. Throws FileError for voxels without an extent.
[[nodiscard]] PointGrid grid_of_nifti(const NiftiReader& reader);

/// Whether the bytes start like NIfTI, compressed or not.
[[nodiscard]] bool is_nifti(std::span<const std::byte> bytes);
/// Reads the vectors of a file. Throws FileError without its name.
[[nodiscard]] transform_files::FieldImage read_field_image(const std::filesystem::path& path);
[[nodiscard]] transform_files::FieldImage read_field_image(std::span<const std::byte> file);

/// The bytes of a file. Throws FileError for sides that the format cannot hold.
[[nodiscard]] std::vector<std::byte> write_field_image(const transform_files::FieldImage& image,
                                                       bool compressed);

}  // namespace warpalign::program
