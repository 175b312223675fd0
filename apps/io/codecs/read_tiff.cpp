// Reads TIFF and BigTIFF: the first page, 8 or 16 bit or 32-bit float.
#include "io/codecs/codecs.hpp"
#include "io/codecs/tiff_in_memory.hpp"
#include "io/codecs/tiff_page.hpp"

#include <array>
#include <optional>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::array image_types{PixelType::u8, PixelType::u16, PixelType::f32};

}  // namespace

LoadedImage read_tiff(Bytes file) {
  TiffMemory memory;
  memory.readable = file;
  const TiffHandle tiff = open_tiff_for_reading(memory);
  if (!tiff) throw damaged(memory.message);
  const TiffPage page = describe_tiff_page(
      tiff.get(), {image_types, "convert it to 8 or 16 bit unsigned or 32-bit float"}, file.size());
  std::optional<LoadedImage> image = read_tiff_pixels(tiff.get(), page);
  if (!image) throw damaged(memory.message.empty() ? "pixels are missing" : memory.message);
  return *std::move(image);
}

}  // namespace warpalign::program
