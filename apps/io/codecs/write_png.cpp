// Writes PNG: 8- or 16-bit gray or RGB.
//
// libpng reports errors by longjmp, see read_png.cpp.
#include "io/codecs/codecs.hpp"

#include <png.h>

#include <array>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <utility>

namespace warpalign::program {
namespace {

struct Target {
  std::vector<std::byte> file;
  std::array<char, 160> message{};
};

/// Exceptions must not cross libpng's frames: failed allocations become libpng errors.
bool append(Target& target, png_bytep bytes, std::size_t size) noexcept {
  try {
    const auto* first = reinterpret_cast<const std::byte*>(bytes);
    target.file.insert(target.file.end(), first, first + size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void give_bytes(png_structp png, png_bytep bytes, std::size_t size) {
  if (!append(*static_cast<Target*>(png_get_io_ptr(png)), bytes, size)) {
    png_error(png, "out of memory");
  }
}

void flush_nothing(png_structp /*png*/) {}

void keep_write_error(png_structp png, png_const_charp message) {
  auto& target = *static_cast<Target*>(png_get_error_ptr(png));
  std::snprintf(target.message.data(), target.message.size(), "%s", message);
  png_longjmp(png, 1);
}

void ignore_write_warning(png_structp /*png*/, png_const_charp /*message*/) {}

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &target_, keep_write_error,
                                   ignore_write_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  std::vector<std::byte> write(const LoadedImage& image) {
    if (info_ == nullptr) throw FileError("libpng failed to start");
    if (!write_all(image)) throw FileError(target_.message.data());
    return std::move(target_.file);
  }

 private:
  bool write_all(const LoadedImage& image) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(png_, &target_, give_bytes, flush_nothing);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width),
                 static_cast<png_uint_32>(image.height), image.type == PixelType::u16 ? 16 : 8,
                 image.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png_, 4);
    png_write_info(png_, info_);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    for (std::int64_t y = 0; y < image.height; ++y) {
      png_write_row(png_, reinterpret_cast<png_const_bytep>(image.pixels.data()) +
                              static_cast<std::size_t>(y) * image.row_bytes());
    }
    png_write_end(png_, info_);
    return true;
  }

  Target target_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

std::vector<std::byte> write_png(const LoadedImage& image) { return PngWriter().write(image); }

}  // namespace warpalign::program
