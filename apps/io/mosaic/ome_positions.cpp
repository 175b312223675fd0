// Where the tiles of a mosaic lie, from the OME metadata of their files.
#include "io/mosaic/ome_positions.hpp"

#include "io/frames/input_file.hpp"
#include "io/frames/ome_axes.hpp"
#include "io/frames/ome_length.hpp"
#include "io/frames/tiff_at.hpp"
#include "io/frames/tiff_directories.hpp"
#include "io/frames/xml_tags.hpp"
#include "io/image_file.hpp"

#include <fmt/format.h>
#include <tiffio.h>

#include <charconv>
#include <utility>

namespace warpalign::program {
namespace {

FileError in_file(const std::filesystem::path& path, const std::string& why) {
  return FileError(fmt::format("{}: {}", path.string(), why));
}

/// The first page's description; empty if it has none.
std::string first_description(const std::filesystem::path& path) {
  const InputFile file(path);
  const TiffDirectories directories = find_directories(file);
  TiffAt at{file, directories, directories.offsets.front()};
  const TiffHandle tiff = open_tiff_page(at);
  if (!tiff) throw FileError("cannot be read as TIFF: " + at.message);
  const char* text = nullptr;
  return TIFFGetField(tiff.get(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 ? text : "";
}

/// One image of a description.
struct OmeImage {
  std::optional<OmeLength> x;
  std::optional<OmeLength> y;
  std::optional<OmeLength> pixel_x;
  std::optional<OmeLength> pixel_y;
  std::size_t page = 0;             ///< of its first plane
  std::optional<std::string> file;  ///< that holds its planes, if the description names one
};

std::size_t page_of(const XmlTag& tag) {
  const std::string text = tag.attribute("IFD").value_or("0");
  std::size_t page = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), page);
  if (failed != std::errc{} || stop != text.data() + text.size()) {
    throw FileError(fmt::format("the OME metadata has IFD = '{}', not a number", text));
  }
  return page;
}

std::vector<OmeImage> images_of(const std::string& xml) {
  std::vector<OmeImage> images;
  XmlTags tags(xml);
  bool has_data = false;
  bool in_image = false;
  while (const std::optional<XmlTag> tag = tags.next()) {
    if (tag->name == "Image") {
      images.emplace_back();
      has_data = false;
      in_image = true;
    }
    if (tag->name == "/Image") in_image = false;
    if (!in_image) continue;
    OmeImage& image = images.back();
    if (tag->name == "Pixels") {
      image.pixel_x = length_of(*tag, "PhysicalSizeX", "PhysicalSizeXUnit");
      image.pixel_y = length_of(*tag, "PhysicalSizeY", "PhysicalSizeYUnit");
    } else if (tag->name == "TiffData" && !has_data) {
      has_data = true;
      image.page = page_of(*tag);
    } else if (tag->name == "UUID" && has_data) {
      if (!image.file) image.file = tag->attribute("FileName");
    } else if (tag->name == "Plane" && !image.x) {
      image.x = length_of(*tag, "PositionX", "PositionXUnit");
      image.y = length_of(*tag, "PositionY", "PositionYUnit");
    } else if (tag->name == "StageLabel" && !image.x) {
      image.x = length_of(*tag, "X", "XUnit");
      image.y = length_of(*tag, "Y", "YUnit");
    }
  }
  return images;
}

/// A position along an axis in pixels.
double pixels_of(const OmeLength& position, const std::optional<OmeLength>& pixel,
                 const std::optional<double>& chosen_size) {
  if (position.unit == "pixel") return position.value;
  if (!chosen_size && !pixel) {
    throw FileError(
        "the OME metadata has a position, but no size of a pixel (PhysicalSizeX and "
        "PhysicalSizeY); give it with --pixel-size");
  }
  const double size = chosen_size ? *chosen_size : micrometres_of(*pixel);
  if (!(size > 0)) throw FileError(fmt::format("the OME metadata has pixels of {} um", size));
  return micrometres_of(position) / size;
}

/// Adds the tile of an image, by the name of its file.
void add_tile(const OmeImage& image, const std::string& name, bool names_page,
              const std::optional<double>& pixel_size, OmeTiles& found) {
  if (!image.x || !image.y) {
    throw FileError(
        "the OME metadata has no PositionX and PositionY; give the positions with --positions or "
        "--grid");
  }
  const Point position{pixels_of(*image.x, image.pixel_x, pixel_size),
                       pixels_of(*image.y, image.pixel_y, pixel_size)};
  if (!found.pixel_size && image.pixel_x) found.pixel_size = micrometres_of(*image.pixel_x);
  found.tiles.push_back({names_page ? fmt::format("{}[{}]", name, image.page) : name, position});
}

void add_tiles(const std::filesystem::path& folder, const std::string& name,
               const std::optional<double>& pixel_size, OmeTiles& found) {
  const std::string xml = first_description(folder / name);
  if (!is_ome(xml)) {
    throw FileError(
        "has no OME metadata; give the positions with --positions or --grid, or search for them "
        "with --positions none");
  }
  const std::string file_name = std::filesystem::path(name).filename().string();
  std::vector<OmeImage> images = images_of(xml);
  // The planes of the other images of a set are in other files.
  std::erase_if(images,
                [&](const OmeImage& image) { return image.file.value_or(file_name) != file_name; });
  if (images.empty()) {
    throw FileError("the OME metadata describes no image in this file");
  }
  for (const OmeImage& image : images) {
    add_tile(image, name, images.size() > 1 || image.page > 0, pixel_size, found);
  }
}

}  // namespace

OmeTiles read_ome_positions(const std::filesystem::path& folder,
                            const std::vector<std::string>& names,
                            const std::optional<double>& pixel_size) {
  OmeTiles found;
  for (const std::string& name : names) {
    try {
      add_tiles(folder, name, pixel_size, found);
    } catch (const FileError& error) {
      throw in_file(folder / name, error.what());
    }
  }
  if (pixel_size) found.pixel_size = pixel_size;
  return found;
}

OmeTiles read_ome_set(const std::filesystem::path& path, const std::optional<double>& pixel_size) {
  const std::string xml = read_position_text(path);
  OmeTiles found;
  try {
    if (!is_ome(xml)) throw FileError("is no OME-XML");
    for (const OmeImage& image : images_of(xml)) {
      if (!image.file) {
        throw FileError("has an image without a file: <TiffData><UUID FileName=...> is missing");
      }
      add_tile(image, *image.file, image.page > 0, pixel_size, found);
    }
  } catch (const FileError& error) {
    throw in_file(path, error.what());
  }
  if (pixel_size) found.pixel_size = pixel_size;
  return found;
}

std::size_t count_pages(const std::filesystem::path& path) {
  try {
    return find_directories(InputFile(path)).offsets.size();
  } catch (const FileError& error) {
    throw in_file(path, error.what());
  }
}

}  // namespace warpalign::program
