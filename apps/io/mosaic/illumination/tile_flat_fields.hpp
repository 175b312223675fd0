// The flat fields by which the tiles of a mosaic are divided.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/flat_field.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// What the tiles of a mosaic have in common.
struct TileKind {
  Shape shape;
  int channels = 1;
};

/// A flat field for each channel. Any number of threads may use it.
class TileFlatFields {
 public:
  /// Reads images of the tiles' size, gray or with the tiles' channels. Throws FileError and
  /// UsageError, naming the file.
  static TileFlatFields from_files(const std::string& flat, const std::optional<std::string>& dark,
                                   const TileKind& tile);
  /// Estimates the flat field from `tiles` tiles, which `read` returns, or nothing for a tile that
  /// is skipped. Throws FileError and UsageError.
  static TileFlatFields estimated(
      std::size_t tiles, const std::function<std::optional<LoadedImage>(std::size_t)>& read,
      const std::optional<std::string>& dark, const TileKind& tile);

  /// Divides a tile of u8, u16 or f32.
  void apply(LoadedImage& tile) const;
  /// The smallest and the largest value over all channels; the mean of each is 1.
  [[nodiscard]] float least() const { return least_; }
  [[nodiscard]] float largest() const { return largest_; }

 private:
  explicit TileFlatFields(std::vector<FlatField> fields);

  std::vector<FlatField> fields_;
  float least_ = 1;
  float largest_ = 1;
};

}  // namespace warpalign::program
