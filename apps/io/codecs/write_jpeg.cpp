// Writes JPEG: 8-bit gray or RGB, at quality 95.
//
// libjpeg reports errors by longjmp, see read_jpeg.cpp.
#include "io/codecs/codecs.hpp"
#include "io/codecs/jpeg_errors.hpp"

#include <csetjmp>
#include <cstdlib>

namespace warpalign::program {
namespace {

void ignore_message(j_common_ptr /*jpeg*/, int /*level*/) {}

class JpegWriter {
 public:
  JpegWriter() {
    jpeg_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = give_up;
    errors_.base.emit_message = ignore_message;
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg_);
    std::free(file_);
  }

  std::vector<std::byte> write(const LoadedImage& image) {
    if (!write_all(image)) throw FileError(errors_.message.data());
    const auto* first = reinterpret_cast<const std::byte*>(file_);
    return {first, first + file_size_};
  }

 private:
  bool write_all(const LoadedImage& image) {
    if (setjmp(errors_.escape) != 0) return false;
    jpeg_create_compress(&jpeg_);
    jpeg_mem_dest(&jpeg_, &file_, &file_size_);
    jpeg_.image_width = static_cast<JDIMENSION>(image.width);
    jpeg_.image_height = static_cast<JDIMENSION>(image.height);
    jpeg_.input_components = image.channels;
    jpeg_.in_color_space = image.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, 95, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      // libjpeg's row type is not const, but compression does not modify rows.
      auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(image.pixels.data())) +
                  jpeg_.next_scanline * image.row_bytes();
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
    return true;
  }

  JpegErrors errors_{};
  jpeg_compress_struct jpeg_{};
  unsigned char* file_ = nullptr;
  unsigned long file_size_ = 0;
};

}  // namespace

std::vector<std::byte> write_jpeg(const LoadedImage& image) { return JpegWriter().write(image); }

}  // namespace warpalign::program
