// Reads JPEG: gray, colour and CMYK, which becomes RGB.
//
// libjpeg reports errors by longjmp. Functions that call setjmp therefore have only plain values;
// objects with destructors live outside of them. Damage that libjpeg only warns about, such as a
// missing end, is an error here.
#include "io/codecs/cmyk.hpp"
#include "io/codecs/codecs.hpp"
#include "io/codecs/jpeg_errors.hpp"
#include "io/codecs/orientation.hpp"
#include "io/starts_with.hpp"

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

constexpr int metadata_marker = JPEG_APP0 + 1;

/// Converts cyan, magenta, yellow and black. `complement`: full samples stand for no ink.
LoadedImage colours_of_inks(const LoadedImage& inks, bool complement) {
  constexpr std::uint8_t full = 255;
  LoadedImage colours = make_image(inks.width, inks.height, 3, PixelType::u8);
  const auto from = inks.samples<std::uint8_t>();
  const auto to = colours.samples<std::uint8_t>();
  const std::uint8_t flip = complement ? full : 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t pixel = i / 3 * 4;
    const auto ink = static_cast<std::uint8_t>(from[pixel + i % 3] ^ flip);
    const auto black = static_cast<std::uint8_t>(from[pixel + 3] ^ flip);
    to[i] = colour_of_inks(ink, black, full);
  }
  return colours;
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
    const bool gray = jpeg_.jpeg_color_space == JCS_GRAYSCALE;
    const bool inks = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = gray ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
    const int stored = gray ? 1 : inks ? 4 : 3;
    const std::uint64_t bytes =
        std::uint64_t{jpeg_.image_width} * jpeg_.image_height * static_cast<std::uint64_t>(stored);
    refuse_bomb({jpeg_.image_width, jpeg_.image_height, bytes, bytes, file.size()});
    LoadedImage image = make_image(jpeg_.image_width, jpeg_.image_height, stored, PixelType::u8);
    const std::vector<FoundOrientation> orientations = found_orientations();
    if (!read_rows(image)) throw damaged(errors_.message.data());
    // Adobe's programs store the complement of the inks.
    if (inks) image = colours_of_inks(image, jpeg_.saw_Adobe_marker != 0);
    note_orientation(orientations, image);
    return image;
  }

 private:
  bool read_header(Bytes file) {
    if (setjmp(errors_.escape) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    progress_.progress_monitor = limit_scans;
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_save_markers(&jpeg_, metadata_marker, 0xffff);
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  /// Must be called before the rows are read, after which libjpeg drops the markers.
  [[nodiscard]] std::vector<FoundOrientation> found_orientations() const {
    std::vector<FoundOrientation> found;
    std::optional<int> xmp;
    for (jpeg_saved_marker_ptr marker = jpeg_.marker_list; marker != nullptr;
         marker = marker->next) {
      if (marker->marker != metadata_marker) continue;
      const Bytes data{reinterpret_cast<const std::byte*>(marker->data), marker->data_length};
      if (starts_with(data, {"Exif\0\0", 6})) {
        found.push_back({found.empty() ? "the EXIF data" : "a second block of EXIF data",
                         exif_orientation(data)});
      } else if (starts_with(data, "http://ns.adobe.com/xap/1.0/")) {
        xmp = xmp_orientation({reinterpret_cast<const char*>(data.data()), data.size()});
      }
    }
    found.push_back({"the XMP data", xmp});
    return found;
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
