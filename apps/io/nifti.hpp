// Reads and writes NIfTI-1 and NIfTI-2, compressed or not: the format of volumes in medical imaging
// (nifti.nimh.nih.gov). Writes single files (.nii); reads pairs (.hdr and .img) as well.
#pragma once

#include "io/byte_stream.hpp"
#include "io/nifti_header.hpp"
#include "io/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// What a file with axes beyond the third holds.
enum class NiftiContents {
  series,  ///< volumes along the fourth axis
  vectors  ///< the components of a vector for each voxel, along the fourth or fifth axis
};

/// Reads the volumes of a file in their order, or the components of its vectors. Memory does not
/// grow with their number. Messages omit the name of the file. All calls throw FileError.
class NiftiReader {
 public:
  /// A file in memory, which must outlive the reader.
  explicit NiftiReader(std::span<const std::byte> file,
                       NiftiContents contents = NiftiContents::series);
  /// Opens a .nii file, or either file of a pair, compressed or not.
  explicit NiftiReader(const std::filesystem::path& path,
                       NiftiContents contents = NiftiContents::series);

  [[nodiscard]] const NiftiHeader& header() const { return file_.header; }
  /// The number of volumes, or components, that the header promises.
  [[nodiscard]] std::int64_t volumes() const { return volumes_; }
  /// The extents of a volume: (depth, height, width).
  [[nodiscard]] const std::vector<std::int64_t>& extents() const { return extents_; }

  /// Reads the next volume as it is stored, without scaling. Integers of 64 bits become i32, u32 or
  /// f64, the first that holds all of this volume; others are refused.
  [[nodiscard]] Array next();
  /// Passes over volumes.
  void skip(std::int64_t volumes);
  /// Whether a compressed file lacks its end. Call it after the last volume.
  [[nodiscard]] bool cut_short() { return voxels_.cut_short(); }

 private:
  void begin(NiftiContents contents);

  ByteStream voxels_;  // first the header, if the file is in one piece
  NiftiFileHeader file_;
  std::int64_t volumes_ = 1;
  std::vector<std::int64_t> extents_;
  int code_ = 0;  // of the voxels' type
};

/// A volume with its header and the geometry that the header gives.
struct NiftiVolume {
  /// The voxels, with extents (depth, height, width): integers if the header does not scale them,
  /// else scaled f32.
  Array voxels;
  NiftiGeometry geometry;
  NiftiHeader header;
};

/// Whether the name ends in .nii or .nii.gz.
[[nodiscard]] bool is_nifti_name(const std::filesystem::path& path);
/// Whether the name is that of a file of a pair: .hdr or .img, or these with .gz.
[[nodiscard]] bool is_nifti_pair_name(const std::filesystem::path& path);

/// Reads a volume: the only one of the file, or number `volume` (from 0). Integers of 8 to 64 bits,
/// float32 or float64. Throws FileError with the name of the file.
[[nodiscard]] NiftiVolume load_nifti(const std::filesystem::path& path,
                                     std::optional<std::int64_t> volume = {});
/// The same from the bytes of a file. Messages omit its name.
[[nodiscard]] NiftiVolume read_nifti(std::span<const std::byte> file,
                                     std::optional<std::int64_t> volume = {});

/// How stored values become intensities: slope * value + intercept.
struct NiftiScaling {
  double slope = 1, intercept = 0;
  [[nodiscard]] bool is_identity() const { return slope == 1 && intercept == 0; }
};
/// Throws FileError if the header's numbers are not finite.
[[nodiscard]] NiftiScaling nifti_scaling(const NiftiHeader& header);
/// The intensities: f32 if the scaling changes the stored values.
[[nodiscard]] Array scaled_voxels(Array stored, const NiftiScaling& scaling);

/// The bytes in front of the voxels of a file with the geometry of `header`, for `volumes` volumes
/// of these extents and this type. `components`: of a vector for each voxel, if above 1, along the
/// fifth axis. `keep_scaling`: the voxels are stored values of the header's
/// file, so its factor, offset and display range stay. Throws FileError for f16 and c32, which the
/// format or its readers do not support, and for sides above 32767 with a NIfTI-1 header.
[[nodiscard]] std::vector<std::byte> nifti_file_start(const std::vector<std::int64_t>& extents,
                                                      PixelType type, const NiftiHeader& header,
                                                      std::int64_t volumes = 1,
                                                      bool keep_scaling = false,
                                                      std::int64_t components = 1);

/// Encodes a volume with the geometry of `header`, compressed with gzip if `compressed`. Throws as
/// nifti_file_start().
[[nodiscard]] std::vector<std::byte> write_nifti(const Array& voxels, const NiftiHeader& header,
                                                 bool compressed);

}  // namespace warpalign::program
