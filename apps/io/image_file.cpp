// Loads and saves images: selects the format, and adds the name of the file to all messages.
#include "io/image_file.hpp"

#include "io/atomic_file.hpp"
#include "io/codecs/codecs.hpp"
#include "io/file_bytes.hpp"
#include "io/input_limits.hpp"
#include "io/starts_with.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace warpalign::program {
namespace {

using Reader = LoadedImage (*)(Bytes);

Reader reader_of(Bytes file) {
  using namespace std::string_view_literals;
  struct Magic {
    std::string_view bytes;
    Reader reader;
  };
  static constexpr std::array known{Magic{"\x89PNG\r\n\x1a\n"sv, read_png},
                                    Magic{"\xff\xd8\xff"sv, read_jpeg},
                                    Magic{"II*\0"sv, read_tiff},
                                    Magic{"MM\0*"sv, read_tiff},
                                    Magic{"II+\0"sv, read_tiff},
                                    Magic{"MM\0+"sv, read_tiff},
                                    Magic{"P2"sv, read_pnm},
                                    Magic{"P3"sv, read_pnm},
                                    Magic{"P5"sv, read_pnm},
                                    Magic{"P6"sv, read_pnm}};
  const auto* found = std::find_if(known.begin(), known.end(), [&](const Magic& magic) {
    return starts_with(file, magic.bytes);
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

std::string describe(const LoadedImage& image) {
  const char* sort = *name_of(image.type) == 'i'   ? " bit signed"
                     : *name_of(image.type) == 'f' ? "-bit float"
                                                   : " bit";
  const std::string depth = fmt::format("{}{}", 8 * size_of(image.type), sort);
  return fmt::format("{} x {}, {}, {}", image.width, image.height,
                     image.channels == 1 ? "gray" : "RGB", depth);
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
  if (type != PixelType::u8 && type != PixelType::u16 && type != PixelType::f32) {
    refuse(fmt::format("images cannot hold pixels of type {}; use a name that ends in .npy",
                       name_of(type)));
  }
  if (type == PixelType::f32 && format != FileFormat::tiff) {
    refuse("only TIFF can hold floating-point pixels; use a name that ends in .tif");
  }
  if (type == PixelType::u16 && format == FileFormat::jpeg) {
    refuse("JPEG cannot hold 16 bits a sample; use .png or .tif");
  }
  if (channels != 1 && format == FileFormat::pgm) {
    refuse("PGM cannot hold colour; use .ppm or .png");
  }
  if (channels != 3 && format == FileFormat::ppm) {
    refuse("PPM cannot hold gray images; use .pgm or .png");
  }
}

LoadedImage load_image(const std::filesystem::path& path) {
  try {
    FileBytes file(path);
    const Reader reader = reader_of(file.head());
    if (reader == nullptr) {
      throw FileError("is not an image that can be read; convert it to PNG, TIFF, JPEG or PGM/PPM");
    }
    return reader(file.all());
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
