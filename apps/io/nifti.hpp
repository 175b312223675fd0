// Reads and writes NIfTI-1 and NIfTI-2 as a single file (.nii), compressed or not: the format of
// volumes in medical imaging (nifti.nimh.nih.gov; header files nifti1.h and nifti2.h).
#pragma once

#include "io/npy.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// A header in the machine's byte order, which a result inherits.
struct NiftiHeader {
  std::vector<std::byte> bytes;  ///< 348 bytes for NIfTI-1, 540 for NIfTI-2
};

struct NiftiVolume {
  /// The voxels, with extents (depth, height, width): integers if the header does not scale them,
  /// else scaled f32.
  Array voxels;
  /// The distances along x, y and z in millimetres as given in the header, which may be invalid.
  std::array<double, 3> spacing{};
  /// Whether the voxels' axes are left-handed in the space of the scanner or the atlas. Empty if
  /// the header has no position.
  std::optional<bool> left_handed;
  /// Three rows of the matrix that maps indices (x, y, z, 1) to RAS millimetres: the sform, else the
  /// qform, else the spacing alone, as nibabel does without the qform's offset.
  std::array<double, 12> index_to_ras{};
  NiftiHeader header;
};

/// Whether the name ends in .nii or .nii.gz.
[[nodiscard]] bool is_nifti_name(const std::filesystem::path& path);

/// Reads a file of one volume: integers of 8 to 32 bits, float32 or float64. Throws FileError with
/// the name of the file.
[[nodiscard]] NiftiVolume load_nifti(const std::filesystem::path& path);
/// The same from the bytes of a file. Messages omit its name.
[[nodiscard]] NiftiVolume read_nifti(std::span<const std::byte> file);

/// A header for voxels with these distances along x, y and z in millimetres, without a position.
[[nodiscard]] NiftiHeader plain_nifti_header(const std::array<double, 3>& spacing);

/// Encodes these voxels with the geometry of `header`, compressed with gzip if `compressed`. Throws
/// FileError for f16 and c32, which the format or its readers do not support, and for sides above
/// 32767 with a NIfTI-1 header.
[[nodiscard]] std::vector<std::byte> write_nifti(const Array& voxels, const NiftiHeader& header,
                                                 bool compressed);

}  // namespace warpalign::program
