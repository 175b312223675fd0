// Reads PNG: every colour type and bit depth, as 8- or 16-bit gray or RGB; alpha is dropped.
//
// libpng reports errors by longjmp. Functions that call setjmp therefore have only plain values;
// objects with destructors live outside of them.
#include "io/codecs/codecs.hpp"
#include "io/codecs/orientation.hpp"

#include <png.h>

#include <array>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>

namespace warpalign::program {
namespace {

struct Source {
  Bytes file;
  std::size_t position = 0;
  std::array<char, 160> message{};
};

void take_bytes(png_structp png, png_bytep target, std::size_t size) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (size > source.file.size() - source.position) png_error(png, "the file ends too early");
  std::memcpy(target, source.file.data() + source.position, size);
  source.position += size;
}

void keep_read_error(png_structp png, png_const_charp message) {
  auto& source = *static_cast<Source*>(png_get_error_ptr(png));
  std::snprintf(source.message.data(), source.message.size(), "%s", message);
  png_longjmp(png, 1);
}

void ignore_read_warning(png_structp /*png*/, png_const_charp /*message*/) {}

class PngReader {
 public:
  explicit PngReader(Bytes file) : source_{file} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, keep_read_error,
                                  ignore_read_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  LoadedImage read() {
    if (info_ == nullptr) throw FileError("cannot be read: libpng failed to start");
    if (!read_header()) throw damaged(source_.message.data());
    const int channels = png_get_channels(png_, info_);
    const std::int64_t width = png_get_image_width(png_, info_);
    const std::int64_t height = png_get_image_height(png_, info_);
    const auto rows_of = [&](std::uint64_t row_bytes) {
      return row_bytes * static_cast<std::uint64_t>(height);
    };
    refuse_bomb({width, height, rows_of(png_get_rowbytes(png_, info_)), rows_of(stored_row_bytes_),
                 source_.file.size()});
    LoadedImage image =
        make_image(width, height, channels,
                   png_get_bit_depth(png_, info_) == 16 ? PixelType::u16 : PixelType::u8);
    std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
    for (std::size_t y = 0; y < rows.size(); ++y) {
      rows[y] = reinterpret_cast<png_bytep>(image.pixels.data() + y * image.row_bytes());
    }
    if (!read_rows(rows.data())) throw damaged(source_.message.data());
    note_orientation({{"the EXIF data", stored_orientation()}}, image);
    return image;
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_read_fn(png_, &source_, take_bytes);
    png_read_info(png_, info_);
    stored_row_bytes_ = png_get_rowbytes(png_, info_);
    png_set_expand(png_);
    png_set_strip_alpha(png_);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  [[nodiscard]] std::optional<int> stored_orientation() const {
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &bytes, &exif) == 0 || exif == nullptr) return {};
    return exif_orientation({reinterpret_cast<const std::byte*>(exif), bytes});
#else
    return {};
#endif
  }

  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, info_);
    return true;
  }

  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::size_t stored_row_bytes_ = 0;  ///< before palettes and less than 8 bits are expanded
};

std::uint32_t big_endian(Bytes bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::uint32_t>(byte);
  return value;
}

/// Reads the size from its fixed position in the header, before libpng allocates row buffers.
void check_header(Bytes file) {
  constexpr std::size_t width_at = 16;
  constexpr std::size_t height_at = 20;
  constexpr std::size_t header_end = 24;
  if (file.size() < header_end) throw damaged("the file ends too early");
  check_sides(big_endian(file.subspan(width_at, 4)), big_endian(file.subspan(height_at, 4)));
}

/// libpng allocates as many bytes as an eXIf chunk claims to have, before it reads them.
void check_exif_chunks(Bytes file) {
  constexpr std::size_t first_chunk = 8;
  constexpr std::size_t around_data = 12;  // length, name and checksum
  constexpr std::uint32_t exif = 0x65584966;
  for (std::size_t at = first_chunk; file.size() - at >= around_data;) {
    const std::size_t left = file.size() - at - around_data;
    const std::size_t length = big_endian(file.subspan(at, 4));
    if (length > left) {
      if (big_endian(file.subspan(at + 4, 4)) == exif) throw damaged("the file ends too early");
      return;
    }
    at += around_data + length;
  }
}

}  // namespace

LoadedImage read_png(Bytes file) {
  check_header(file);
  check_exif_chunks(file);
  return PngReader(file).read();
}

}  // namespace warpalign::program
