// The volume tiles of a mosaic, read from their files when they are needed.
#pragma once

#include "io/npy.hpp"

#include <warpalign/volume_mosaic.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// Whether a file looks like a volume: NIfTI, a .npy array that is no image, or TIFF with 8 pages
/// or more. Files that cannot be read are none.
[[nodiscard]] bool is_volume_tile(const std::filesystem::path& path);

/// Whether the format is NIfTI or .npy. Throws FileError if the file cannot be read.
[[nodiscard]] bool is_volume_format(const std::filesystem::path& path);

/// Volumes of one shape and type. Any number of threads may read them.
class VolumeTiles {
 public:
  /// `names` are relative to the folder. Reads the first tile, and checks that all others exist.
  /// Throws FileError, naming the file.
  VolumeTiles(const std::filesystem::path& folder, std::vector<std::string> names);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// u8, u16 or f32: other types become f32.
  [[nodiscard]] PixelType type() const noexcept { return type_; }
  /// The distances between voxels along x, y and z, if the first tile's NIfTI header has them.
  [[nodiscard]] const std::optional<std::array<double, 3>>& spacing() const { return spacing_; }

  /// A tile. Throws FileError for a file that cannot be read, for another shape or type than those
  /// of the first tile, and for the same volume as another tile, unless it is constant.
  [[nodiscard]] TileVoxels read(std::size_t tile);

 private:
  [[nodiscard]] std::string path(std::size_t tile) const {
    return (folder_ / names_[tile]).string();
  }
  [[nodiscard]] Array load(std::size_t tile) const;
  void refuse_same(std::size_t tile, const Array& voxels);

  std::filesystem::path folder_;
  std::vector<std::string> names_;
  Shape shape_;
  PixelType type_ = PixelType::u8;
  std::optional<std::array<double, 3>> spacing_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> tiles_by_checksum_;
};

}  // namespace warpalign::program
