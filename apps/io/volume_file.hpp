// Volumes in files: .npy arrays and NIfTI.
#pragma once

#include "io/nifti.hpp"
#include "io/npy.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// A loaded volume with the geometry from its file.
struct VolumeFile {
  std::string name;
  Array voxels;
  /// The distances between voxels along x, y and z, in millimetres. Empty for .npy.
  std::optional<std::array<double, 3>> spacing;
  /// Maps indices (x, y, z, 1) to RAS millimetres. Empty unless a NIfTI header has a position.
  std::optional<HomogeneousMatrix> index_to_world;
  std::string note;                   ///< a sentence about a doubtful header; else empty
  std::optional<NiftiHeader> header;  ///< for NIfTI only
};

/// Reads a volume: the only one of the file, or number `volume` (from 0) of a series: NIfTI of four
/// dimensions, or .npy (volume, plane, row, column). The content determines the format, not the
/// name. Throws FileError.
[[nodiscard]] VolumeFile load_volume(const std::string& name,
                                     std::optional<std::int64_t> volume = {});
/// The number of volumes in a file, 1 unless it is a series. Throws FileError.
[[nodiscard]] std::int64_t count_volumes(const std::string& name);

/// Reads a mask for `volume`: u8, 0 where the file holds 0 or NaN, else 1. Throws FileError, and
/// UsageError for a mask of a different shape or one that excludes every voxel.
[[nodiscard]] Array load_volume_mask(const std::string& name, const VolumeFile& volume);

/// Throws FileError if the format that the name implies cannot hold such voxels.
void check_volume_storable(const std::string& name, const std::vector<std::int64_t>& extents,
                           PixelType type);

/// Encodes a file in the format that the name implies, with the geometry of `reference`, or with
/// `spacing` if the reference has none.
[[nodiscard]] std::vector<std::byte> encode_volume(const std::string& name, const Array& voxels,
                                                   const VolumeFile& reference,
                                                   const std::array<double, 3>& spacing);

}  // namespace warpalign::program
