// The orientation of a camera's image.
//
// EXIF data is a small TIFF file: a header, and a directory with the tag Orientation. The value
// says where the first stored row and column are in the upright image.
#include "io/codecs/orientation.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::uint64_t orientation_tag = 274;
constexpr std::uint64_t short_type = 3;

std::uint64_t number_at(Bytes bytes, std::size_t position, std::size_t count, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = big_endian ? count - 1 - i : i;
    value |= std::to_integer<std::uint64_t>(bytes[position + i]) << 8 * place;
  }
  return value;
}

std::optional<int> valid(std::uint64_t value) {
  if (value < 1 || value > 8) return {};
  return static_cast<int>(value);
}

}  // namespace

std::optional<int> directory_orientation(Bytes directory, bool big_endian, bool big) {
  const std::size_t count_bytes = big ? 8 : 2;
  const std::size_t entry_bytes = big ? 20 : 12;
  const std::size_t value_at = big ? 12 : 8;
  if (directory.size() < count_bytes) return {};
  const std::uint64_t entries = number_at(directory, 0, count_bytes, big_endian);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = count_bytes + i * entry_bytes;
    if (directory.size() < entry + entry_bytes) return {};
    if (number_at(directory, entry, 2, big_endian) != orientation_tag) continue;
    if (number_at(directory, entry + 2, 2, big_endian) != short_type) return {};
    return valid(number_at(directory, entry + value_at, 2, big_endian));
  }
  return {};
}

std::optional<int> exif_orientation(Bytes exif) {
  constexpr std::string_view name("Exif\0\0", 6);
  constexpr std::size_t header_bytes = 8;
  if (exif.size() >= name.size() && std::memcmp(exif.data(), name.data(), name.size()) == 0) {
    exif = exif.subspan(name.size());
  }
  if (exif.size() < header_bytes) return {};
  const bool big_endian = exif[0] == std::byte{'M'};
  if (!big_endian && exif[0] != std::byte{'I'}) return {};
  const std::uint64_t offset = number_at(exif, 4, 4, big_endian);
  if (offset >= exif.size()) return {};
  return directory_orientation(exif.subspan(static_cast<std::size_t>(offset)), big_endian, false);
}

std::optional<int> xmp_orientation(std::string_view packet) {
  constexpr std::string_view name = "tiff:Orientation";
  const std::size_t start = packet.find(name);
  if (start == std::string_view::npos) return {};
  // The value follows as tiff:Orientation="6" or <tiff:Orientation>6<.
  const std::string_view rest = packet.substr(start + name.size());
  const std::size_t digit = rest.find_first_not_of("=\"'> \t\r\n");
  if (digit == std::string_view::npos || digit > 8) return {};
  return valid(static_cast<std::uint64_t>(static_cast<unsigned char>(rest[digit])) - '0');
}

void note_orientation(const std::vector<FoundOrientation>& found, LoadedImage& image) {
  const FoundOrientation* first = nullptr;
  for (const FoundOrientation& candidate : found) {
    if (!candidate.value) continue;
    if (first == nullptr) {
      first = &candidate;
      image.orientation = *candidate.value;
    } else if (*candidate.value != *first->value) {
      add_remark(image, fmt::format("{} gives the orientation {}, but {} gives {}; {} counts",
                                    first->where, *first->value, candidate.where, *candidate.value,
                                    first->where));
    }
  }
}

void make_upright(LoadedImage& image) {
  const int orientation = image.orientation;
  if (orientation < 2 || orientation > 8) return;
  const bool turned = orientation >= 5;  // rows become columns
  const bool mirrors_x = orientation == 2 || orientation == 3 || orientation >= 7;
  const bool mirrors_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  LoadedImage upright{turned ? image.height : image.width, turned ? image.width : image.height,
                      image.channels, image.type, std::vector<std::byte>(image.pixels.size())};
  const std::size_t pixel = image.row_bytes() / static_cast<std::size_t>(image.width);
  std::byte* to = upright.pixels.data();
  for (std::int64_t row = 0; row < upright.height; ++row) {
    for (std::int64_t column = 0; column < upright.width; ++column, to += pixel) {
      std::int64_t x = turned ? row : column;
      std::int64_t y = turned ? column : row;
      if (mirrors_x) x = image.width - 1 - x;
      if (mirrors_y) y = image.height - 1 - y;
      const auto at = static_cast<std::size_t>(y * image.width + x);
      std::memcpy(to, image.pixels.data() + at * pixel, pixel);
    }
  }
  image.width = upright.width;
  image.height = upright.height;
  image.pixels = std::move(upright.pixels);
}

}  // namespace warpalign::program
