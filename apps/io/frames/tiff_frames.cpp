// Reads the frames of a TIFF stack: selects their pages and decodes them with libtiff.
#include "io/frames/tiff_frames.hpp"

#include "io/byte_order.hpp"
#include "io/codecs/codecs.hpp"
#include "io/codecs/orientation.hpp"
#include "io/frames/axis_letters.hpp"
#include "io/frames/imagej_axes.hpp"
#include "io/frames/imagej_tags.hpp"
#include "io/frames/ome_axes.hpp"
#include "io/frames/tiff_at.hpp"
#include "io/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpalign::program {
namespace {

std::string description_of(TIFF* tiff) {
  char* text = nullptr;
  return TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) == 1 ? text : "";
}

/// Whether the strips are uncompressed and contiguous.
bool is_dense(TIFF* tiff, const TiffPage& page) {
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  if (compression != COMPRESSION_NONE || page.tiled || page.planes) return false;
  if (page.colour != TiffColour::white_is_zero && !page.stores_image()) return false;
  for (std::uint32_t strip = 1; strip < TIFFNumberOfStrips(tiff); ++strip) {
    const std::uint64_t end =
        TIFFGetStrileOffset(tiff, strip - 1) + TIFFGetStrileByteCount(tiff, strip - 1);
    if (TIFFGetStrileOffset(tiff, strip) != end) return false;
  }
  return true;
}

/// A number as a fraction. libtiff gives resolutions as floating-point numbers.
std::array<std::uint32_t, 2> fraction(float number) {
  double denominator = 1;
  while (denominator < 1e9 && number * denominator < 1e8 &&
         number * denominator != std::floor(number * denominator)) {
    denominator *= 10;
  }
  return {static_cast<std::uint32_t>(std::lround(number * denominator)),
          static_cast<std::uint32_t>(denominator)};
}

std::optional<TiffResolution> resolution_of(TIFF* tiff) {
  float x = 0;
  float y = 0;
  if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) != 1 ||
      TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y) != 1) {
    return {};
  }
  constexpr float most = 1e9F;
  if (!(x > 0 && x < most && y > 0 && y < most)) return {};
  TiffResolution resolution{fraction(x), fraction(y)};
  TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &resolution.unit);
  return resolution;
}

std::size_t bytes_of(const TiffPage& page) {
  return std::max<std::size_t>(std::size_t{page.width} * page.height * page.samples * page.bits / 8,
                               1);
}

}  // namespace

TiffFrames::TiffFrames(const std::filesystem::path& path, const PlaneChoice& choice)
    : name_(path.string()),
      file_name_(path.filename().string()),
      stem_(path.stem().string()),
      file_(path),
      directories_(find_directories(file_)) {
  read_first_page(choice);
}

/// Omits the first page if its size differs from that of all others that it looks at: it is a
/// thumbnail without the tag.
void TiffFrames::omit_thumbnail() {
  std::vector<std::uint64_t>& offsets = directories_.offsets;
  if (offsets.size() < 3) return;
  const auto size_of_page = [&](std::uint64_t offset) -> std::optional<Shape> {
    TiffAt at{file_, directories_, offset};
    const TiffHandle tiff = open_tiff_page(at);
    if (!tiff) return {};
    const std::string description = description_of(tiff.get());
    if (is_imagej(description) || is_ome(description)) return {};
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
    return Shape{width, height, 1};
  };
  const std::optional<Shape> first = size_of_page(offsets.front());
  if (!first) return;
  const std::optional<Shape> second = size_of_page(offsets[1]);
  if (!second || *first == *second || size_of_page(offsets.back()) != second) return;
  remark(fmt::format("{}: its first page is {}, and the other {} are {}; the first one is left out",
                     name_, to_string(*first), offsets.size() - 1, to_string(*second)));
  offsets.erase(offsets.begin());
}

void TiffFrames::read_first_page(const PlaneChoice& choice) {
  omit_thumbnail();
  TiffAt at{file_, directories_, directories_.offsets.front()};
  const TiffHandle tiff = open_tiff_page(at);
  if (!tiff) throw damaged(at.message);
  const TiffPage page = describe_tiff_page(tiff.get(), file_.size());
  const std::string description = description_of(tiff.get());
  TiffAxes axes =
      read_tiff_axes(description, directories_.offsets.size(), page.channels, file_name_,
                     static_cast<std::size_t>(file_.size() / bytes_of(page)));
  if (axes.contiguous > 0) find_contiguous(tiff.get(), page, axes.contiguous);
  const std::string letters = choice.axes.value_or(axes.letters);
  if (!letters.empty()) {
    axes = rename_axes(axes, letters, page.width, page.height, page.samples);
  }
  if (!axes.remark.empty()) remark(fmt::format("{}: {}", name_, axes.remark));
  pages_ = chosen_pages(axes, choice);
  format_.order = axes.order;
  format_.samples = page.channels;
  format_.channels_may_be_frames = !choice.axes && is_imagej(description) && axes.frames == 1 &&
                                   axes.slices == 1 && axes.channels > 1;
  describe(tiff.get(), description, choice);
}

void TiffFrames::describe(TIFF* tiff, const std::string& description, const PlaneChoice& choice) {
  format_.slices = pages_.slices;
  format_.channels = pages_.channels;
  format_.frames_are_slices = pages_.frames_are_slices;
  format_.has_all_planes = pages_.has_all_planes;
  format_.kept_channel = choice.channel;
  format_.resolution = resolution_of(tiff);
  if (is_imagej(description)) {
    format_.metadata = RecordingFormat::Metadata::imagej;
    if (pages_.has_all_planes && !choice.axes) {
      format_.imagej_tags = read_imagej_tags(tiff, directories_.big_endian);
    }
  } else if (is_ome(description)) {
    format_.metadata = RecordingFormat::Metadata::ome;
    format_.describes_planes = !choice.axes;
  }
  if (format_.metadata != RecordingFormat::Metadata::none) format_.description = description;
}

void TiffFrames::find_contiguous(TIFF* tiff, const TiffPage& page, std::size_t frames) {
  if (!is_dense(tiff, page)) {
    throw damaged(fmt::format("it has one page, and says that it has {}", frames));
  }
  LoadedImage oriented;
  note_tiff_orientation(tiff, oriented);
  contiguous_ = {TIFFGetStrileOffset(tiff, 0), frames, page, oriented.orientation};
}

/// The number of pages that the file actually contains.
std::size_t TiffFrames::available() const {
  if (contiguous_.frames == 0) return directories_.offsets.size();
  const std::uint64_t size = file_.size();
  if (size < contiguous_.start) return 0;
  return std::min<std::size_t>(contiguous_.frames,
                               (size - contiguous_.start) / bytes_of(contiguous_.page));
}

std::span<const std::int64_t> TiffFrames::next_pages() const {
  return std::span(pages_.pages).subspan(next_ * pages_.planes(), pages_.planes());
}

/// Whether the file has all planes of the next frame that its description does not list as missing.
bool TiffFrames::has_next() const {
  if (next_ == pages_.frames()) return false;
  const auto pages = next_pages();
  return *std::max_element(pages.begin(), pages.end()) < static_cast<std::int64_t>(available());
}

std::optional<Frame> TiffFrames::next() {
  if (!has_next()) return {};
  const std::string name = pages_.frames() > 1 ? fmt::format("{}[{}]", name_, next_) : name_;
  Frame frame{name, stem_, {}, {}};
  try {
    read_planes(frame);
  } catch (const FileError& error) {
    frame.image = {};
    frame.planes.clear();
    frame.trouble = fmt::format("{}: {}", name, error.what());
  }
  ++next_;
  return frame;
}

void TiffFrames::read_planes(Frame& frame) const {
  const auto pages = next_pages();
  if (pages.size() == 1) {
    frame.image = read(pages.front());
    return;
  }
  for (const std::int64_t page : pages) {
    frame.planes.push_back(read(page));
    const LoadedImage& plane = frame.planes.back();
    const LoadedImage& first = frame.planes.front();
    if (plane.shape() == first.shape() && plane.type == first.type &&
        plane.channels == first.channels) {
      continue;
    }
    throw FileError(fmt::format("has planes of different kinds: {}, and {}",
                                warpalign::program::describe(first),
                                warpalign::program::describe(plane)));
  }
}

bool TiffFrames::skip() {
  if (!has_next()) return false;
  ++next_;
  return true;
}

LoadedImage TiffFrames::read(std::int64_t page) const {
  if (page == TiffAxes::missing) {
    throw FileError("is missing from the file although its OME description lists it");
  }
  return contiguous_.frames > 0 ? read_contiguous(page) : read_directory(page);
}

LoadedImage TiffFrames::read_directory(std::int64_t page) const {
  TiffAt at{file_, directories_, directories_.offsets[static_cast<std::size_t>(page)]};
  const TiffHandle tiff = open_tiff_page(at);
  if (!tiff) throw damaged(at.message);
  std::optional<LoadedImage> image =
      read_tiff_pixels(tiff.get(), describe_tiff_page(tiff.get(), file_.size()));
  if (!image) throw damaged(at.message.empty() ? "pixels are missing" : at.message);
  make_upright(*image);
  if (page == 0 && !image->remark.empty()) remark(fmt::format("{}: {}", name_, image->remark));
  return *std::move(image);
}

LoadedImage TiffFrames::read_contiguous(std::int64_t page) const {
  static_assert(std::endian::native == std::endian::little);
  const TiffPage& first = contiguous_.page;
  LoadedImage image = make_image(first.width, first.height, first.channels, first.type);
  const std::uint64_t bytes = bytes_of(first);
  const std::uint64_t start = contiguous_.start + static_cast<std::uint64_t>(page) * bytes;
  if (file_.read_at(start, image.pixels) < bytes) throw damaged("pixels are missing");
  if (directories_.big_endian) reverse_words(image.pixels, size_of(first.type));
  if (first.colour == TiffColour::white_is_zero) {
    for (std::byte& byte : image.pixels) byte = ~byte;
  }
  image.orientation = contiguous_.orientation;
  make_upright(image);
  return image;
}

std::string TiffFrames::ended_early() const {
  if (next_ < pages_.frames()) {
    return fmt::format("is truncated: it has {} pages, and says that it has {}", available(),
                       std::max(contiguous_.frames, pages_.pages.size()));
  }
  return directories_.broken;
}

}  // namespace warpalign::program
