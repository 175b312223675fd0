// Reads JPEG: gray and colour. EXIF orientation is ignored.
//
// libjpeg reports errors by longjmp. Functions that call setjmp therefore have only plain values;
// objects with destructors live outside of them. Damage that libjpeg only warns about, such as a
// missing end, is an error here.
#include "io/codecs/codecs.hpp"
#include "io/codecs/jpeg_errors.hpp"

#include <csetjmp>
#include <cstdio>

#include <jerror.h>

namespace warpalign::program {
namespace {

bool is_harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_JFIF_MAJOR || warning == JWRN_BOGUS_ICC;
}

void judge_message(j_common_ptr jpeg, int level) {
  const bool is_warning = level < 0;
  if (is_warning && !is_harmless(jpeg->err->msg_code)) give_up(jpeg);
}

/// The most scans. Progressive files have about ten. Each scan costs a pass over the whole image,
/// even if it has few bytes, so a small file with many scans would take hours.
void limit_scans(j_common_ptr jpeg) {
  constexpr int max_scans = 100;
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= max_scans) return;
  auto& errors = *reinterpret_cast<JpegErrors*>(jpeg->err);
  std::snprintf(errors.message.data(), errors.message.size(), "it has more than %d scans",
                max_scans);
  std::longjmp(errors.escape, 1);
}

class JpegReader {
 public:
  JpegReader() {
    jpeg_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = give_up;
    errors_.base.emit_message = judge_message;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }

  LoadedImage read(Bytes file) {
    if (!read_header(file)) throw damaged(errors_.message.data());
    check_sides(jpeg_.image_width, jpeg_.image_height);
    if (jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK) {
      throw FileError("is a CMYK JPEG; convert it to RGB or gray");
    }
    const bool gray = jpeg_.jpeg_color_space == JCS_GRAYSCALE;
    jpeg_.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
    const std::uint64_t bytes =
        std::uint64_t{jpeg_.image_width} * jpeg_.image_height * (gray ? 1U : 3U);
    refuse_bomb({jpeg_.image_width, jpeg_.image_height, bytes, bytes, file.size()});
    LoadedImage image =
        make_image(jpeg_.image_width, jpeg_.image_height, gray ? 1 : 3, PixelType::u8);
    if (!read_rows(image)) throw damaged(errors_.message.data());
    return image;
  }

 private:
  bool read_header(Bytes file) {
    if (setjmp(errors_.escape) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    progress_.progress_monitor = limit_scans;
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  bool read_rows(LoadedImage& image) {
    if (setjmp(errors_.escape) != 0) return false;
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(image.pixels.data()) +
                  jpeg_.output_scanline * image.row_bytes();
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  JpegErrors errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
};

}  // namespace

LoadedImage read_jpeg(Bytes file) { return JpegReader().read(file); }

}  // namespace warpalign::program
