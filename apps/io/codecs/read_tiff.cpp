// Reads a page of a TIFF or BigTIFF file.
#include "io/codecs/codecs.hpp"
#include "io/codecs/tiff_in_memory.hpp"
#include "io/codecs/tiff_page.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace warpalign::program {
namespace {

/// What decides which page of a file is its image.
struct PageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool reduced = false;  ///< a thumbnail, or a mask

  [[nodiscard]] bool operator==(const PageSize&) const = default;
};

std::string words(const PageSize& page) { return fmt::format("{} x {}", page.width, page.height); }

PageSize current_size(TIFF* tiff) {
  PageSize page;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page.height);
  std::uint32_t kind = 0;
  std::uint16_t old_kind = 0;
  if (TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) == 1) {
    page.reduced = (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
  } else if (TIFFGetField(tiff, TIFFTAG_OSUBFILETYPE, &old_kind) == 1) {
    page.reduced = old_kind == OFILETYPE_REDUCEDIMAGE;
  }
  return page;
}

/// Goes to the first page that is no thumbnail, if there is one. Returns a remark if the user might
/// want another one. The file's first page must be the current one.
std::string choose_page(TIFF* tiff) {
  constexpr std::size_t enough = 256;  // a stack may have many thousands of pages of one size
  const PageSize first = current_size(tiff);
  std::optional<std::size_t> chosen;
  PageSize size = first;
  std::string remark;
  for (std::size_t page = 0; page < enough; ++page) {
    if (page > 0 && TIFFReadDirectory(tiff) != 1) break;
    const PageSize found = current_size(tiff);
    if (found.reduced) continue;
    if (!chosen) {
      chosen = page;
      size = found;
      if (page > 0) {
        remark = fmt::format(
            "page 0 is a reduced image of {0}; page {1} of {2} is read (append [0] to the name, or "
            "give --pages to register, for page 0)",
            words(first), page, words(size));
      }
    } else if (found != size) {
      remark = fmt::format(
          "page {0} of {1} is read, but page {2} has {3}; append [{2}] to the name, or give "
          "--pages "
          "to register, to read that one",
          *chosen, words(size), page, words(found));
      break;
    }
  }
  if (TIFFSetDirectory(tiff, static_cast<tdir_t>(chosen.value_or(0))) != 1) {
    throw damaged("its pages cannot be read again");
  }
  return remark;
}

void go_to_page(TIFF* tiff, std::size_t page) {
  constexpr std::size_t most = 65534;  // of older versions of libtiff
  if (page <= most && TIFFSetDirectory(tiff, static_cast<tdir_t>(page)) == 1) return;
  TIFFSetDirectory(tiff, 0);
  throw FileError(fmt::format("has no page {}; its pages are 0 to {}", page,
                              TIFFNumberOfDirectories(tiff) - 1));
}

}  // namespace

LoadedImage read_tiff(Bytes file, std::optional<std::size_t> page) {
  TiffMemory memory;
  memory.readable = file;
  const TiffHandle tiff = open_tiff_for_reading(memory);
  if (!tiff) throw damaged(memory.message);
  std::string remark;
  if (page) {
    go_to_page(tiff.get(), *page);
  } else {
    remark = choose_page(tiff.get());
  }
  memory.message.clear();  // a damaged page after the chosen one does no harm
  const TiffPage description = describe_tiff_page(tiff.get(), file.size());
  std::optional<LoadedImage> image = read_tiff_pixels(tiff.get(), description);
  if (!image) throw damaged(memory.message.empty() ? "pixels are missing" : memory.message);
  if (!remark.empty()) add_remark(*image, remark);
  return *std::move(image);
}

}  // namespace warpalign::program
