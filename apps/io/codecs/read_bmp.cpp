// Reads Windows bitmaps: 1, 4, 8, 16, 24 and 32 bits, with and without run-length encoding. A
// palette of grays gives a gray image, every other bitmap RGB; alpha is dropped.
//
// The file starts with 14 bytes, of which the last four are the offset of the pixels. A header
// follows, whose first number is its size, then the palette. Rows are padded to four bytes, and the
// lowest row comes first unless the height is negative.
#include "io/codecs/codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace warpalign::program {
namespace {

enum Compression : std::uint32_t { rgb = 0, rle8 = 1, rle4 = 2, bit_fields = 3, alpha_fields = 6 };

using Colour = std::array<std::uint8_t, 3>;

class BmpReader {
 public:
  explicit BmpReader(Bytes file) : file_(file) {}

  LoadedImage read() {
    read_header();
    read_palette();
    if (bits_ <= 8) return has_gray_palette() ? gray_image_of(indices()) : colours_of(indices());
    return read_colours();
  }

 private:
  static constexpr std::size_t file_header = 14;

  /// Unsigned, little-endian.
  [[nodiscard]] std::uint32_t number(std::size_t position, std::size_t bytes) const {
    if (position > file_.size() || bytes > file_.size() - position) {
      throw damaged("the file ends too early");
    }
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= std::to_integer<std::uint32_t>(file_[position + i]) << 8 * i;
    }
    return value;
  }

  void read_header() {
    start_ = number(10, 4);
    header_bytes_ = number(file_header, 4);
    if (header_bytes_ == 12) {
      width_ = number(18, 2);
      height_ = number(20, 2);
      bits_ = number(24, 2);
    } else if (header_bytes_ >= 40 && header_bytes_ <= 1024) {
      width_ = static_cast<std::int32_t>(number(18, 4));
      const std::int64_t height = static_cast<std::int32_t>(number(22, 4));
      top_down_ = height < 0;
      height_ = top_down_ ? -height : height;
      bits_ = number(28, 2);
      compression_ = number(30, 4);
      colours_ = number(46, 4);
    } else {
      throw FileError(
          fmt::format("is a BMP with a header of {} bytes; export it again", header_bytes_));
    }
    check_sides(width_, height_);
    const bool packed = compression_ == rle8 || compression_ == rle4;
    const bool masked = compression_ == bit_fields || compression_ == alpha_fields;
    const bool known =
        bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32;
    if (!known || (!packed && !masked && compression_ != rgb) ||
        (packed && bits_ != (compression_ == rle8 ? 8U : 4U)) ||
        (masked && bits_ != 16 && bits_ != 32)) {
      throw FileError(fmt::format("is a BMP of {} bits and compression {}; export it again", bits_,
                                  compression_));
    }
    row_bytes_ = (static_cast<std::size_t>(width_) * bits_ + 31) / 32 * 4;
    if (start_ > file_.size()) throw damaged("the file ends too early");
    const std::size_t left = file_.size() - start_;
    if (!packed && row_bytes_ * static_cast<std::size_t>(height_) > left) {
      throw damaged(fmt::format("{} bytes of pixels are missing",
                                row_bytes_ * static_cast<std::size_t>(height_) - left));
    }
    if (packed) {
      // A run of two bytes makes 255 pixels, and two bytes may skip to anywhere.
      const auto pixels = static_cast<std::uint64_t>(width_ * height_);
      refuse_bomb({width_, height_, pixels, pixels, left});
    }
    read_masks(masked);
  }

  void read_masks(bool masked) {
    if (masked) {
      // The masks are the end of a longer header, or follow a header of 40 bytes.
      for (std::size_t c = 0; c < 3; ++c) masks_[c] = number(file_header + 40 + 4 * c, 4);
    } else if (bits_ == 16) {
      masks_ = {0x7c00, 0x03e0, 0x001f};
    } else {
      masks_ = {0xff0000, 0x00ff00, 0x0000ff};
    }
  }

  void read_palette() {
    if (bits_ > 8) return;
    const std::size_t most = std::size_t{1} << bits_;
    const std::size_t entry = header_bytes_ == 12 ? 3 : 4;
    const std::size_t count = colours_ == 0 ? most : std::min<std::size_t>(colours_, most);
    palette_.resize(most, Colour{});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = file_header + header_bytes_ + entry * i;
      for (std::size_t c = 0; c < 3; ++c) {
        palette_[i][c] = static_cast<std::uint8_t>(number(at + 2 - c, 1));
      }
    }
  }

  [[nodiscard]] bool has_gray_palette() const {
    return std::ranges::all_of(palette_,
                               [](const Colour& c) { return c[0] == c[1] && c[1] == c[2]; });
  }

  /// The row of the image that is stored as row `stored`.
  [[nodiscard]] std::int64_t row_of(std::int64_t stored) const {
    return top_down_ ? stored : height_ - 1 - stored;
  }

  /// The palette's index of each pixel.
  LoadedImage indices() const {
    LoadedImage image = make_image(width_, height_, 1, PixelType::u8);
    if (compression_ == rle8 || compression_ == rle4) {
      unpack_runs(image);
      return image;
    }
    const std::size_t each = 8 / bits_;
    const unsigned mask = (1U << bits_) - 1;
    for (std::int64_t stored = 0; stored < height_; ++stored) {
      const std::byte* row = file_.data() + start_ + static_cast<std::size_t>(stored) * row_bytes_;
      std::uint8_t* to = image.samples<std::uint8_t>().data() + row_of(stored) * width_;
      for (std::size_t x = 0; x < static_cast<std::size_t>(width_); ++x) {
        const unsigned shift = static_cast<unsigned>((each - 1 - x % each) * bits_);
        to[x] = static_cast<std::uint8_t>(std::to_integer<unsigned>(row[x / each]) >> shift & mask);
      }
    }
    return image;
  }

  /// Two bytes are a count and a value, or 0 and a command: 0 ends the row, 1 the image, 2 skips,
  /// and more are that many literal pixels.
  void unpack_runs(LoadedImage& image) const {
    std::int64_t x = 0;
    std::int64_t stored = 0;
    std::size_t at = start_;
    const auto put = [&](std::uint32_t value, std::uint32_t i) {
      const std::uint32_t index = bits_ == 8 ? value : i % 2 == 0 ? value >> 4U : value & 15U;
      if (x >= width_ || stored >= height_) throw damaged("a run goes beyond its row");
      image.samples<std::uint8_t>()[static_cast<std::size_t>(row_of(stored) * width_ + x++)] =
          static_cast<std::uint8_t>(index);
    };
    while (true) {
      const std::uint32_t count = number(at, 1);
      const std::uint32_t value = number(at + 1, 1);
      at += 2;
      if (count > 0) {
        for (std::uint32_t i = 0; i < count; ++i) put(value, i);
      } else if (value == 0) {
        x = 0;
        if (++stored > height_) throw damaged("it has more rows than its header says");
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x += number(at, 1);
        stored += number(at + 1, 1);
        at += 2;
      } else {
        const std::size_t each = 8 / bits_;
        for (std::uint32_t i = 0; i < value; ++i) put(number(at + i / each, 1), i);
        at += ((value + each - 1) / each + 1) / 2 * 2;  // an even number of bytes
      }
    }
  }

  [[nodiscard]] LoadedImage gray_image_of(LoadedImage image) const {
    for (std::uint8_t& sample : image.samples<std::uint8_t>()) sample = palette_[sample][0];
    return image;
  }

  [[nodiscard]] LoadedImage colours_of(const LoadedImage& index) const {
    LoadedImage image = make_image(width_, height_, 3, PixelType::u8);
    std::uint8_t* to = image.samples<std::uint8_t>().data();
    for (const std::uint8_t i : index.samples<std::uint8_t>()) {
      to = std::ranges::copy(palette_[i], to).out;
    }
    return image;
  }

  /// The bits of a mask, scaled to 8 bits.
  static std::uint8_t masked(std::uint32_t pixel, std::uint32_t mask) {
    if (mask == 0) return 0;
    const std::uint64_t full = mask >> std::countr_zero(mask);
    const std::uint64_t value = (pixel & mask) >> std::countr_zero(mask);
    return static_cast<std::uint8_t>((value * 255 + full / 2) / full);
  }

  LoadedImage read_colours() const {
    LoadedImage image = make_image(width_, height_, 3, PixelType::u8);
    const std::size_t bytes = bits_ / 8;
    for (std::int64_t stored = 0; stored < height_; ++stored) {
      std::size_t at = start_ + static_cast<std::size_t>(stored) * row_bytes_;
      std::uint8_t* to = image.samples<std::uint8_t>().data() + row_of(stored) * width_ * 3;
      for (std::int64_t x = 0; x < width_; ++x, at += bytes) {
        const std::uint32_t pixel = number(at, bytes);
        for (const std::uint32_t mask : masks_) *to++ = masked(pixel, mask);
      }
    }
    return image;
  }

  Bytes file_;
  std::size_t start_ = 0;  ///< offset of the pixels
  std::size_t header_bytes_ = 0;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  bool top_down_ = false;
  std::uint32_t bits_ = 0;
  std::uint32_t compression_ = rgb;
  std::uint32_t colours_ = 0;
  std::size_t row_bytes_ = 0;
  std::array<std::uint32_t, 3> masks_{};
  std::vector<Colour> palette_;
};

}  // namespace

LoadedImage read_bmp(Bytes file) { return BmpReader(file).read(); }

}  // namespace warpalign::program
