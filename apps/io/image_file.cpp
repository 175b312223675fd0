// Loads and saves images: selects the format, and adds the name of the file to all messages.
#include "io/image_file.hpp"

#include "io/atomic_file.hpp"
#include "io/codecs/codecs.hpp"
#include "io/codecs/orientation.hpp"
#include "io/file_bytes.hpp"
#include "io/image_name.hpp"
#include "io/input_limits.hpp"
#include "io/messages.hpp"
#include "io/starts_with.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace warpalign::program {
namespace {

template <LoadedImage (*read)(Bytes)>
LoadedImage read_only_page(Bytes file, std::optional<std::size_t> page) {
  if (page.value_or(0) > 0) {
    throw FileError(fmt::format("has one image; there is no page {}", *page));
  }
  return read(file);
}

using PageReader = LoadedImage (*)(Bytes, std::optional<std::size_t>);

PageReader reader_of(Bytes file) {
  using namespace std::string_view_literals;
  struct Magic {
    std::string_view bytes;
    PageReader reader;
    std::string_view later = {};  ///< bytes at offset 8
  };
  static constexpr PageReader pnm = read_only_page<read_pnm>;
  static constexpr std::array known{Magic{"\x89PNG\r\n\x1a\n"sv, read_only_page<read_png>},
                                    Magic{"\xff\xd8\xff"sv, read_only_page<read_jpeg>},
                                    Magic{"II*\0"sv, read_tiff},
                                    Magic{"MM\0*"sv, read_tiff},
                                    Magic{"II+\0"sv, read_tiff},
                                    Magic{"MM\0+"sv, read_tiff},
                                    Magic{"RIFF"sv, read_only_page<read_webp>, "WEBP"sv},
                                    Magic{"BM"sv, read_only_page<read_bmp>},
                                    Magic{"\x93NUMPY"sv, read_only_page<read_npy_image>},
                                    Magic{"P1"sv, pnm},
                                    Magic{"P2"sv, pnm},
                                    Magic{"P3"sv, pnm},
                                    Magic{"P4"sv, pnm},
                                    Magic{"P5"sv, pnm},
                                    Magic{"P6"sv, pnm},
                                    Magic{"P7"sv, pnm}};
  constexpr std::size_t later_at = 8;
  const auto* found = std::find_if(known.begin(), known.end(), [&](const Magic& magic) {
    if (!starts_with(file, magic.bytes)) return false;
    return magic.later.empty() ||
           (file.size() >= later_at && starts_with(file.subspan(later_at), magic.later));
  });
  return found == known.end() ? nullptr : found->reader;
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

FileError damaged(const std::string& why) {
  return FileError(fmt::format("is damaged or truncated ({}); copy or export it again", why));
}

namespace {

void check_image_sides(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) {
    throw FileError(
        fmt::format("is {} x {} pixels, which is no image; export it again", width, height));
  }
  if (width > max_side || height > max_side) {
    throw FileError(
        fmt::format("is {} x {} pixels; the limit is {} on each side: crop or shrink it", width,
                    height, max_side));
  }
}

}  // namespace

void check_sides(std::int64_t width, std::int64_t height) {
  check_image_sides(width, height);
  if (width * height > max_pixels()) {
    throw FileError(
        fmt::format("is {} x {} pixels, more than --max-pixels {} allows: crop or shrink it, or "
                    "raise the limit",
                    width, height, max_pixels()));
  }
}

void refuse_bomb(const ClaimedSize& promise) {
  constexpr std::uint64_t harmless = std::uint64_t{1} << 26;
  constexpr std::uint64_t max_ratio = 2000;
  if (promise.memory <= harmless) return;
  if (promise.stored >= promise.unpacked / max_ratio) return;
  throw damaged(fmt::format("it claims {} x {} pixels but has only {} bytes for them",
                            promise.width, promise.height, promise.stored));
}

LoadedImage make_image(std::int64_t width, std::int64_t height, int channels, PixelType type) {
  check_image_sides(width, height);
  LoadedImage image{width, height, channels, type, {}};
  image.pixels.resize(image.row_bytes() * static_cast<std::size_t>(height));
  return image;
}

void add_remark(LoadedImage& image, const std::string& sentence) {
  if (!image.remark.empty()) image.remark += "; ";
  image.remark += sentence;
}

std::string describe(const LoadedImage& image) {
  const char* sort = *name_of(image.type) == 'i'   ? " bit signed"
                     : *name_of(image.type) == 'f' ? "-bit float"
                                                   : " bit";
  const std::string depth = fmt::format("{}{}", 8 * size_of(image.type), sort);
  const std::string colours = image.channels == 1   ? "gray"
                              : image.channels == 3 ? "RGB"
                                                    : fmt::format("{} channels", image.channels);
  std::string text = fmt::format("{} x {}, {}, {}", image.width, image.height, colours, depth);
  if (image.orientation != 1) text += fmt::format(", orientation {} applied", image.orientation);
  return text;
}

FileFormat format_of_name(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".png") return FileFormat::png;
  if (extension == ".tif" || extension == ".tiff") return FileFormat::tiff;
  if (extension == ".jpg" || extension == ".jpeg") return FileFormat::jpeg;
  if (extension == ".pgm") return FileFormat::pgm;
  if (extension == ".ppm") return FileFormat::ppm;
  throw FileError(fmt::format(
      "{}: unknown format; use a name that ends in .png, .tif, .jpg, .pgm or .ppm", path.string()));
}

void check_storable(const std::filesystem::path& path, FileFormat format, int channels,
                    PixelType type) {
  const auto refuse = [&](std::string_view why) {
    throw FileError(fmt::format("{}: {}", path.string(), why));
  };
  if (type == PixelType::c32) {
    refuse("images cannot hold complex numbers; use a name that ends in .npy");
  }
  if (format == FileFormat::tiff) return;
  if (type != PixelType::u8 && type != PixelType::u16) {
    refuse(fmt::format("only TIFF can hold {}; use a name that ends in .tif",
                       *name_of(type) == 'f' ? "floating-point pixels"
                                             : fmt::format("pixels of type {}", name_of(type))));
  }
  if (type == PixelType::u16 && format == FileFormat::jpeg) {
    refuse("JPEG cannot hold 16 bits a sample; use .png or .tif");
  }
  if (channels != 1 && channels != 3) {
    refuse(fmt::format("only TIFF can hold {} channels; use a name that ends in .tif", channels));
  }
  if (channels != 1 && format == FileFormat::pgm) {
    refuse("PGM cannot hold colour; use .ppm or .png");
  }
  if (channels != 3 && format == FileFormat::ppm) {
    refuse("PPM cannot hold gray images; use .pgm or .png");
  }
}

LoadedImage load_image(const std::filesystem::path& path, std::optional<std::size_t> page) {
  const ImageName name = image_name(path);
  try {
    FileBytes file(name.file);
    const PageReader reader = reader_of(file.head());
    if (reader == nullptr) {
      throw FileError(
          "is not an image that can be read; convert it to PNG, TIFF, JPEG, WebP, BMP, PNM or "
          ".npy");
    }
    LoadedImage image = reader(file.all(), page ? page : name.page);
    make_upright(image);
    if (!image.remark.empty()) remark(fmt::format("{}: {}", path.string(), image.remark));
    return image;
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::vector<std::byte> encode_image(const LoadedImage& image, FileFormat format) {
  switch (format) {
    case FileFormat::png:
      return write_png(image);
    case FileFormat::tiff:
      return write_tiff(image);
    case FileFormat::jpeg:
      return write_jpeg(image);
    case FileFormat::pgm:
    case FileFormat::ppm:
      return write_pnm(image);
  }
  throw FileError("unknown image format");
}

void save_image(const std::filesystem::path& path, const LoadedImage& image) {
  const FileFormat format = format_of_name(path);
  check_storable(path, format, image.channels, image.type);
  AtomicFile file(path);
  file.write(encode_image(image, format));
  file.commit();
}

}  // namespace warpalign::program
