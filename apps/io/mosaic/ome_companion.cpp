// Writes where the tiles of a mosaic lie as OME-XML.
#include "io/mosaic/ome_companion.hpp"

#include "io/checksum.hpp"
#include "io/frames/ome_axes.hpp"
#include "io/image_file.hpp"
#include "io/image_name.hpp"
#include "io/markup.hpp"
#include "io/mosaic/relative_name.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace warpalign::program {
namespace {

/// An identifier in the form of a UUID of version 8, from a file's name.
std::string identifier(const std::string& name) {
  Checksum checksum;
  checksum.add(std::string_view("warpalign mosaic"));
  checksum.add(std::string_view(name));
  const std::uint64_t value = checksum.value();
  return fmt::format("urn:uuid:{:08x}-{:04x}-8000-8000-{:012x}", value >> 32U,
                     (value >> 16U) & 0xffffU, value & 0xffffffffffffU);
}

std::string image_xml(const std::filesystem::path& path, const LocatedFiles& located,
                      std::size_t i) {
  const TilePosition& tile = located.tiles[i];
  const ImageName name = image_name(tile.file);
  const std::string file = relative_name(path, located.folder, name.file.string());
  const double size = located.pixel_size.value_or(1);
  const char* unit = located.pixel_size ? "\xc2\xb5m" : "pixel";
  const std::string pixel_size = located.pixel_size
                                     ? fmt::format(
                                           " PhysicalSizeX=\"{0}\" PhysicalSizeXUnit=\"{1}\" "
                                           "PhysicalSizeY=\"{0}\" PhysicalSizeYUnit=\"{1}\"",
                                           size, unit)
                                     : "";
  return fmt::format(
      "  <Image ID=\"Image:{0}\" Name=\"{1}\">\n"
      "    <Pixels ID=\"Pixels:{0}\" DimensionOrder=\"XYCZT\" Type=\"{2}\" SizeX=\"{3}\" "
      "SizeY=\"{4}\" SizeC=\"{5}\" SizeZ=\"1\" SizeT=\"1\"{6}>\n"
      "      <Channel ID=\"Channel:{0}:0\" SamplesPerPixel=\"{5}\"/>\n"
      "      <TiffData FirstC=\"0\" FirstT=\"0\" FirstZ=\"0\" IFD=\"{7}\" PlaneCount=\"1\">"
      "<UUID FileName=\"{8}\">{9}</UUID></TiffData>\n"
      "      <Plane TheC=\"0\" TheT=\"0\" TheZ=\"0\" PositionX=\"{10:.6f}\" "
      "PositionXUnit=\"{12}\" PositionY=\"{11:.6f}\" PositionYUnit=\"{12}\"/>\n"
      "    </Pixels>\n"
      "  </Image>\n",
      i, escaped(tile.file), ome_type(located.type), located.shape.width, located.shape.height,
      located.channels, pixel_size, name.page.value_or(0), escaped(file), identifier(file),
      tile.position.x * size, tile.position.y * size, unit);
}

}  // namespace

bool is_ome_companion(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".companion.ome") || name.ends_with(".ome.xml");
}

std::string ome_companion(const std::filesystem::path& path, const LocatedFiles& located) {
  std::string images;
  for (std::size_t i = 0; i < located.tiles.size(); ++i) images += image_xml(path, located, i);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" UUID=\"{}\">\n{}</OME>\n",
      identifier(path.filename().string()), images);
}

}  // namespace warpalign::program
