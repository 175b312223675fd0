// NIfTI-1 and NIfTI-2 files in one piece (.nii), compressed or not: the format of volumes in
// medical imaging (nifti.nimh.nih.gov; header files nifti1.h and nifti2.h).
#pragma once

#include "io/npy.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// The header of a file in the machine's byte order, which a result inherits.
struct NiftiHeader {
  std::vector<std::byte> bytes;  ///< 348 of NIfTI-1, 540 of NIfTI-2
};

struct NiftiVolume {
  /// Of extents (depth, height, width). Integers where the header does not scale them; else f32,
  /// scaled.
  Array voxels;
  /// The distances along x, y and z in millimetres as the header says; 0 or nonsense included.
  std::array<double, 3> spacing{};
  /// Whether the voxels' axes are left-handed in the scanner's or the atlas's space; empty where
  /// the header does not say where the volume is.
  std::optional<bool> left_handed;
  NiftiHeader header;
};

/// Whether the name ends in .nii or .nii.gz.
[[nodiscard]] bool is_nifti_name(const std::filesystem::path& path);

/// Reads a file of one volume: integers of 8 to 32 bits, float32 or float64. Throws FileError,
/// naming the file.
[[nodiscard]] NiftiVolume load_nifti(const std::filesystem::path& path);
/// The same from a file's bytes; the messages do not name the file.
[[nodiscard]] NiftiVolume read_nifti(std::span<const std::byte> file);

/// A header for voxels of these distances along x, y and z in millimetres, which does not say where
/// the volume is.
[[nodiscard]] NiftiHeader plain_nifti_header(const std::array<double, 3>& spacing);

/// The bytes of a file with the geometry of `header` and these voxels, compressed by gzip's method
/// if asked for. Throws FileError for f16 and c32, which the format or its readers do not have, and
/// for sides above 32767 under a header of NIfTI-1.
[[nodiscard]] std::vector<std::byte> write_nifti(const Array& voxels, const NiftiHeader& header,
                                                 bool compressed);

}  // namespace warpalign::program
