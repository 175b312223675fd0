// Images without some of their channels.
#include "io/codecs/first_channels.hpp"

#include <cstring>

namespace warpalign::program {

LoadedImage first_channels(LoadedImage image, int count) {
  if (count == image.channels) return image;
  LoadedImage result = make_image(image.width, image.height, count, image.type);
  const std::size_t from_step = size_of(image.type) * static_cast<std::size_t>(image.channels);
  const std::size_t kept = size_of(image.type) * static_cast<std::size_t>(count);
  for (std::size_t i = 0; i * kept < result.pixels.size(); ++i) {
    std::memcpy(result.pixels.data() + i * kept, image.pixels.data() + i * from_step, kept);
  }
  return result;
}

}  // namespace warpalign::program
