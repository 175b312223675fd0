// Writes raw PGM and PPM, 8 and 16 bit.
#include "io/codecs/codecs.hpp"

#include <fmt/format.h>

#include <string>

namespace warpalign::program {

std::vector<std::byte> write_pnm(const LoadedImage& image) {
  const bool wide = image.type == PixelType::u16;
  const std::string header = fmt::format("P{}\n{} {}\n{}\n", image.channels == 3 ? 6 : 5,
                                         image.width, image.height, wide ? 65535 : 255);
  std::vector<std::byte> file(header.size());
  for (std::size_t i = 0; i < header.size(); ++i) file[i] = static_cast<std::byte>(header[i]);
  file.reserve(header.size() + image.pixels.size());
  if (!wide) {
    file.insert(file.end(), image.pixels.begin(), image.pixels.end());
    return file;
  }
  for (const std::uint16_t sample : image.samples<std::uint16_t>()) {
    file.push_back(static_cast<std::byte>(sample >> 8U));
    file.push_back(static_cast<std::byte>(sample & 0xffU));
  }
  return file;
}

}  // namespace warpalign::program
