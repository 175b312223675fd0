// Images of every format, through the program's own layer: an image that was read can be written
// and read again.
#include "io/image_file.hpp"
#include "io/messages.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void check(const LoadedImage& image) {
  require(image.width >= 1 && image.width <= max_side, "the width is within the limits");
  require(image.height >= 1 && image.height <= max_side, "the height is within the limits");
  require(image.channels >= 1 && image.channels <= max_channels,
          "the channels are within the limits");
  require(image.orientation >= 1 && image.orientation <= 8, "the orientation is one of EXIF's");
  require(image.pixels.size() == image.row_bytes() * static_cast<std::size_t>(image.height),
          "there are as many bytes as pixels");
}

void check_comes_back(const LoadedImage& image, FileFormat format) {
  const std::vector<std::byte> file = encode_image(image, format);
  const LoadedImage again = load_image(
      as_file({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "again"));
  require(again.width == image.width && again.height == image.height &&
              again.channels == image.channels && again.type == image.type &&
              again.pixels == image.pixels,
          "an image comes back as it was written");
}

void run(Input input) {
  set_verbosity(Verbosity::quiet);  // remarks are kept, to print each of them once
  LoadedImage image;
  try {
    image = load_image(as_file(input));
  } catch (const FileError&) {
    return;
  }
  check(image);
  constexpr std::size_t quick = std::size_t{1} << 16;
  if (image.pixels.size() > quick) return;
  check_comes_back(image, FileFormat::tiff);
  if (image.type != PixelType::u8 && image.type != PixelType::u16) return;
  if (image.channels != 1 && image.channels != 3) return;
  check_comes_back(image, FileFormat::png);
  check_comes_back(image, image.channels == 3 ? FileFormat::ppm : FileFormat::pgm);
}

const Registration registration("images", run);

}  // namespace
}  // namespace warpalign::fuzz
