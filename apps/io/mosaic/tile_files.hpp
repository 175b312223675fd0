// The tiles of a mosaic, read from their files when they are needed.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/mosaic.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warpalign::program {

/// Image files of one size, type and number of channels. Any number of threads may read them.
class TileFiles {
 public:
  /// `names` are relative to the folder. Reads the first tile, and checks that all others exist.
  /// Throws FileError, naming the missing files.
  TileFiles(const std::filesystem::path& folder, std::vector<std::string> names);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// The tile's name, relative to the folder.
  [[nodiscard]] const std::string& name(std::size_t tile) const { return names_[tile]; }
  [[nodiscard]] std::string path(std::size_t tile) const {
    return (folder_ / names_[tile]).string();
  }
  [[nodiscard]] Shape shape() const noexcept { return first_.shape(); }
  [[nodiscard]] PixelType type() const noexcept { return first_.type; }
  [[nodiscard]] int channels() const noexcept { return first_.channels; }
  /// Describes the tiles as in "640 x 480, RGB, 8 bit".
  [[nodiscard]] std::string description() const { return describe(first_); }

  /// The luminance of a tile. Throws FileError for a file that cannot be read, for another size,
  /// type or number of channels than that of the first tile, and for a picture that is the same as
  /// another tile's, unless it is constant.
  [[nodiscard]] TilePixels gray(std::size_t tile);
  /// A channel of a tile. The last tile that was read is kept, for its other channels.
  [[nodiscard]] TilePixels channel(std::size_t tile, int channel);

 private:
  [[nodiscard]] LoadedImage load(std::size_t tile) const;
  void refuse_same_picture(std::size_t tile, const LoadedImage& image);

  std::filesystem::path folder_;
  std::vector<std::string> names_;
  LoadedImage first_;  ///< without its pixels
  std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> tiles_by_checksum_;
  std::size_t kept_ = 0;  ///< the tile whose channels are kept
  std::vector<std::shared_ptr<const LoadedImage>> kept_channels_;
};

}  // namespace warpalign::program
