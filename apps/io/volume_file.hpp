// Volumes in files: .npy arrays of three dimensions, and NIfTI.
#pragma once

#include "io/nifti.hpp"
#include "io/npy.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// A loaded volume, and what its file says about where it is.
struct VolumeFile {
  std::string name;
  Array voxels;
  /// The distances from voxel to voxel along x, y and z, in millimetres; empty of .npy.
  std::optional<std::array<double, 3>> spacing;
  std::optional<bool> left_handed;    ///< see NiftiVolume
  std::optional<NiftiHeader> header;  ///< of NIfTI
};

/// Reads a volume; the content decides the format. Throws FileError.
[[nodiscard]] VolumeFile load_volume(const std::string& name);

/// Reads the mask of a volume of the shape that `volume` has: u8, 1 where a voxel counts, 0 where
/// the file holds 0 or NaN. Throws FileError, and UsageError for a mask of another shape or one
/// that excludes every voxel.
[[nodiscard]] Array load_volume_mask(const std::string& name, const VolumeFile& volume);

/// Throws FileError where the format of the name does not hold such voxels.
void check_volume_storable(const std::string& name, const std::vector<std::int64_t>& extents,
                           PixelType type);

/// The bytes of a file in the format of the name, with the geometry of `reference`. `spacing` is
/// used where that has none.
[[nodiscard]] std::vector<std::byte> encode_volume(const std::string& name, const Array& voxels,
                                                   const VolumeFile& reference,
                                                   const std::array<double, 3>& spacing);

}  // namespace warpalign::program
