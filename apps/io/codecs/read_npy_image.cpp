// Reads the image in a .npy file.
#include "io/codecs/codecs.hpp"
#include "io/codecs/first_channels.hpp"
#include "io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace warpalign::program {
namespace {

/// A longer last axis holds columns.
constexpr std::int64_t max_npy_channels = 16;

}  // namespace

LoadedImage read_npy_image(Bytes file) {
  Array array = read_npy(file, 3);
  const auto& extents = array.extents;
  if (array.type == PixelType::c32) {
    throw FileError("holds complex numbers, which are no image; save the absolute values");
  }
  if (extents.size() < 2 || (extents.size() == 3 && extents[2] > max_npy_channels)) {
    throw FileError(fmt::format(
        "has the shape ({}); an image has rows, columns and up to {} channels: save one image, or "
        "use a command for stacks or volumes",
        fmt::join(extents, ", "), max_npy_channels));
  }
  const std::int64_t stored = extents.size() == 3 ? extents[2] : 1;
  check_sides(extents[1], extents[0]);
  LoadedImage image{extents[1], extents[0], static_cast<int>(stored), array.type,
                    std::move(array.bytes)};
  // Four channels are colours with alpha.
  return first_channels(std::move(image), stored == 4 ? 3 : image.channels);
}

}  // namespace warpalign::program
