// The tiles of a mosaic, read from their files when they are needed.
#pragma once

#include "io/image_file.hpp"
#include "io/mosaic/illumination/tile_flat_fields.hpp"

#include <warpalign/mosaic.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program {

/// A tile that cannot be used.
struct SkippedTile {
  std::string file;    ///< relative to the folder
  std::string reason;  ///< in one line
};

/// What to do with tiles that are missing, cannot be read, or are of another kind.
enum class BadTiles { refuse, skip };

struct TileReading {
  BadTiles bad = BadTiles::refuse;
  std::optional<double> nodata;  ///< the value of missing pixels
};

/// Image files of one size, type and number of channels. Any number of threads may read them.
class TileFiles {
 public:
  /// `names` are relative to the folder. Reads the first tile, and checks that all others exist and
  /// that the headers of TIFF files are of one kind. Throws FileError, naming the files, and
  /// UsageError if no pixel can have the nodata value. If bad tiles are to be skipped, reads the
  /// first tile that can be read, of whose kind the others are.
  TileFiles(const std::filesystem::path& folder, std::vector<std::string> names,
            const TileReading& how = {});

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// The tile's name, relative to the folder.
  [[nodiscard]] const std::string& name(std::size_t tile) const { return names_[tile]; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] std::string path(std::size_t tile) const {
    return (folder_ / names_[tile]).string();
  }
  [[nodiscard]] Shape shape() const noexcept { return first_.shape(); }
  [[nodiscard]] PixelType type() const noexcept { return first_.type; }
  /// The type of the pixels in the files, of which the mosaic's may be another one.
  [[nodiscard]] PixelType stored_type() const noexcept { return stored_type_; }
  [[nodiscard]] int channels() const noexcept { return first_.channels; }
  /// Describes the tiles as in "640 x 480, RGB, 8 bit".
  [[nodiscard]] std::string description() const { return describe(first_); }
  [[nodiscard]] TileKind kind() const noexcept { return {shape(), channels()}; }

  /// A tile as it is in its file, but of the mosaic's type; nothing for a tile that is skipped.
  /// Throws FileError as gray() does.
  [[nodiscard]] std::optional<LoadedImage> usable(std::size_t tile);
  /// The tiles that were skipped so far, in their order.
  [[nodiscard]] std::vector<SkippedTile> skipped() const;
  /// Divides all tiles by their illumination from here on.
  void divide_by(TileFlatFields fields) { flat_fields_ = std::move(fields); }
  [[nodiscard]] const std::optional<TileFlatFields>& flat_fields() const { return flat_fields_; }

  /// The luminance of a tile; with a nodata value, f32 with NaN in missing pixels. Throws FileError
  /// for a file that cannot be read, for another size, type or number of channels than that of the
  /// first tile, and for a picture that is the same as another tile's, unless it is constant. A
  /// tile that is skipped has no pixels.
  [[nodiscard]] TilePixels gray(std::size_t tile);
  /// A channel of a tile. The last tile that was read is kept, for its other channels. One thread
  /// at a time may call it.
  [[nodiscard]] TilePixels channel(std::size_t tile, int channel);

 private:
  [[nodiscard]] LoadedImage load(std::size_t tile) const;
  void check_existence() const;
  void read_first();
  void take_kind(std::size_t tile);
  void check_headers() const;
  void refuse_same_picture(std::size_t tile, const LoadedImage& image);

  TileReading how_;
  std::filesystem::path folder_;
  std::vector<std::string> names_;
  std::size_t model_ = 0;  ///< the tile of whose kind the others are
  LoadedImage first_;      ///< that tile without its pixels
  PixelType stored_type_ = PixelType::u8;
  std::optional<TileFlatFields> flat_fields_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> skipped_;  ///< the reasons
  std::map<std::uint64_t, std::size_t> tiles_by_checksum_;
  std::size_t kept_ = 0;  ///< the tile whose channels are kept
  std::vector<std::shared_ptr<const LoadedImage>> kept_channels_;
};

}  // namespace warpalign::program
