// Loads and saves images.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpalign::program {

/// The largest side. Larger images are refused after their header is read, before memory is
/// allocated.
inline constexpr std::int64_t max_side = 16384;

/// Thrown for files that cannot be read, used or written. `what()` is one line that names the file
/// and gives advice.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Pixels in memory: dense rows, interleaved channels, the machine's byte order.
struct LoadedImage {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;                ///< 1: gray; 3: red, green, blue; others: no colours
  PixelType type = PixelType::u8;  ///< any but c32
  std::vector<std::byte> pixels;
  /// How the file orients its pixels: a value of EXIF's tag Orientation, 1 to 8. load_image()
  /// returns upright pixels, to which it has applied this value.
  int orientation = 1;
  /// What the user should know about how the file was understood; empty for most files.
  std::string remark = {};

  [[nodiscard]] Shape shape() const noexcept { return {width, height, 1}; }
  [[nodiscard]] std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width * channels) * size_of(type);
  }
  /// The samples as `Sample`, which must match `type`.
  template <typename Sample>
  [[nodiscard]] std::span<const Sample> samples() const noexcept {
    return {reinterpret_cast<const Sample*>(pixels.data()), pixels.size() / sizeof(Sample)};
  }
  template <typename Sample>
  [[nodiscard]] std::span<Sample> samples() noexcept {
    return {reinterpret_cast<Sample*>(pixels.data()), pixels.size() / sizeof(Sample)};
  }
};

/// Makes an image of zeros. Throws FileError unless both sides are 1 to `max_side` pixels.
[[nodiscard]] LoadedImage make_image(std::int64_t width, std::int64_t height, int channels,
                                     PixelType type);

/// The most channels of an image.
inline constexpr int max_channels = 256;

/// Adds a sentence to an image's remark.
void add_remark(LoadedImage& image, const std::string& sentence);

/// Describes an image as in "640 x 480, RGB, 8 bit".
[[nodiscard]] std::string describe(const LoadedImage& image);

enum class FileFormat { png, tiff, jpeg, pgm, ppm };

/// The format for the extension of a name. Throws FileError for an unknown extension.
[[nodiscard]] FileFormat format_of_name(const std::filesystem::path& path);

/// Throws FileError, naming `path`, if `format` cannot hold such pixels unchanged.
void check_storable(const std::filesystem::path& path, FileFormat format, int channels,
                    PixelType type);

/// Reads an image of any kind in docs/reference/image-files.md, distinguished by content. Drops
/// alpha, and returns upright pixels. `path` may name a page of a TIFF file, as in "scan.tif[2]",
/// and so may `page`, from 0; without them the first page is read that is no thumbnail. Prints the
/// image's remark. Throws FileError.
[[nodiscard]] LoadedImage load_image(const std::filesystem::path& path,
                                     std::optional<std::size_t> page = {});

/// Encodes an image in the format. Throws FileError.
[[nodiscard]] std::vector<std::byte> encode_image(const LoadedImage& image, FileFormat format);

/// Writes the file in the format of its extension, completely or not at all. Throws FileError.
void save_image(const std::filesystem::path& path, const LoadedImage& image);

}  // namespace warpalign::program
