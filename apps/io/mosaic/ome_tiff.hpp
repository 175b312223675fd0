// Writes a large picture as tiled OME-TIFF with reduced levels.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace warpalign::program {

/// What is written.
struct OmePicture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;                  ///< 1: gray; 3: red, green, blue
  PixelType type = PixelType::u8;    ///< u8, u16 or f32
  std::optional<double> pixel_size;  ///< in micrometres
};

/// Writes rows as they come, in deflated tiles of 256 x 256 pixels; BigTIFF if 4 GB might not
/// suffice. Each further level halves the sides (the mean of 2 x 2 pixels) until they have at most
/// 1024 pixels; they are sub-images (SubIFDs) of the picture, as OME-TIFF 6 defines. Until the end
/// they are kept in unnamed files beside the picture, so that memory holds one strip.
class OmeTiffWriter {
 public:
  /// The number of rows of a strip.
  static constexpr std::int64_t strip_rows = 256;

  /// Creates the file, which appears at commit(). Throws FileError.
  OmeTiffWriter(const std::filesystem::path& path, const OmePicture& picture);
  OmeTiffWriter(const OmeTiffWriter&) = delete;
  OmeTiffWriter& operator=(const OmeTiffWriter&) = delete;
  ~OmeTiffWriter();

  /// Writes the next strip: `strip_rows` rows, fewer at the end of the picture, as one dense
  /// image for each channel. Throws FileError.
  void write(std::span<const HostImage> channels);
  /// Writes the levels and gives the file its name, after the last strip. Throws FileError.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign::program
