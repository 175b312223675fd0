// Reads the volumes of a series, one after the other.
#pragma once

#include "io/nifti.hpp"
#include "io/npy.hpp"

#include <warpalign/homogeneous_matrix.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// What all volumes of a series have in common.
struct SeriesGeometry {
  std::vector<std::int64_t> extents;  ///< of a volume: (depth, height, width)
  PixelType type = PixelType::f32;
  /// The distances between voxels along x, y and z, in `unit`. Empty for .npy.
  std::optional<std::array<double, 3>> spacing;
  std::string unit = "mm";  ///< "um" or "voxels" for recordings
  /// Maps indices (x, y, z, 1) to RAS millimetres. Empty unless a NIfTI header has a position.
  std::optional<HomogeneousMatrix> index_to_world;
  std::optional<NiftiHeader> header;  ///< for NIfTI only
  NiftiScaling scaling;               ///< from stored values to intensities
  bool as_stored = false;             ///< whether voxels are the stored values of the header's file
  std::string note;                   ///< a sentence about a doubtful header; else empty
};

struct SeriesVolume {
  std::size_t index = 0;
  std::string name;     ///< "bold.nii.gz[12]", or the name of the volume's own file
  Array voxels;         ///< as stored; empty if there is trouble
  /// All channels of a recording that has several, or is registered by their sum, which `voxels`
  /// then is.
  std::vector<Array> channels;
  std::string trouble;  ///< why the volume cannot be used, in one line
};

/// Whether the files are a series of volumes: NIfTI files, folders with some and without images, or
/// a .npy array of the axes (volume, plane, row, column). Does not throw: files that cannot be read
/// are none.
[[nodiscard]] bool are_volumes(const std::vector<std::string>& files);
/// Replaces folders by the NIfTI files in them, in natural order. Throws FileError.
[[nodiscard]] std::vector<std::string> volume_files(const std::vector<std::string>& names);

/// The volumes of one file of four dimensions, or of several files of three dimensions. Keeps only
/// the volume that next() returned in memory.
class VolumeSeries {
 public:
  /// Opens the first file. Throws FileError.
  explicit VolumeSeries(std::vector<std::string> files);
  VolumeSeries(VolumeSeries&&) noexcept;
  ~VolumeSeries();

  [[nodiscard]] const SeriesGeometry& geometry() const;
  /// The number of volumes that the headers promise.
  [[nodiscard]] std::size_t volumes() const;
  /// The next volume; nothing after the last one, or after the file ended early.
  [[nodiscard]] std::optional<SeriesVolume> next();
  /// Passes over volumes.
  void skip(std::size_t volumes);
  /// Why a file ended before its last volume, with the file's name; empty if it did not.
  [[nodiscard]] const std::string& ended_early() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign::program
