// The size of the voxels of a recording, from its metadata.
#include "io/frames/pixel_size.hpp"

#include "io/frames/ome_length.hpp"
#include "io/frames/xml_tags.hpp"
#include "io/image_file.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

std::optional<double> positive(double length) {
  if (std::isfinite(length) && length > 0) return length;
  return {};
}

PixelSize ome_pixel_size(const std::string& description) {
  PixelSize size;
  XmlTags tags(description);
  while (const std::optional<XmlTag> tag = tags.next()) {
    if (tag->name != "Pixels") continue;
    constexpr std::array<const char*, 3> names{"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      try {
        const auto length = length_of(*tag, names[i], std::string(names[i]) + "Unit");
        if (length) size.um[i] = positive(micrometres_of(*length));
      } catch (const FileError&) {
        // In pixels, or not a length: unknown.
      }
    }
    break;
  }
  return size;
}

/// ImageJ's names of units, in micrometres.
std::optional<double> imagej_unit(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, double>, 14> units{{{"micron", 1},
                                                                       {"microns", 1},
                                                                       {"um", 1},
                                                                       {"\xc2\xb5m", 1},
                                                                       {"\xce\xbcm", 1},
                                                                       {"\\u00B5m", 1},
                                                                       {"micrometer", 1},
                                                                       {"micrometre", 1},
                                                                       {"nm", 1e-3},
                                                                       {"nanometer", 1e-3},
                                                                       {"mm", 1e3},
                                                                       {"cm", 1e4},
                                                                       {"m", 1e6},
                                                                       {"inch", 25400}}};
  for (const auto& [unit, factor] : units) {
    if (name == unit) return factor;
  }
  return {};
}

PixelSize imagej_pixel_size(const RecordingFormat& format) {
  std::optional<double> unit, spacing;
  std::istringstream lines(format.description);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find_first_of(std::string_view("\r\0", 2)));
    if (line.starts_with("unit=")) unit = imagej_unit(std::string_view(line).substr(5));
    if (line.starts_with("spacing=")) spacing = positive(std::strtod(line.c_str() + 8, nullptr));
  }
  PixelSize size;
  if (!unit) return size;
  if (spacing) size.um[2] = *spacing * *unit;
  if (!format.resolution) return size;
  // Pixels in a unit.
  const auto along = [&](const std::array<std::uint32_t, 2>& resolution) {
    return positive(*unit * static_cast<double>(resolution[1]) /
                    static_cast<double>(resolution[0]));
  };
  size.um[0] = along(format.resolution->x);
  size.um[1] = along(format.resolution->y);
  return size;
}

}  // namespace

PixelSize pixel_size_of(const RecordingFormat& format) {
  if (format.metadata == RecordingFormat::Metadata::ome) return ome_pixel_size(format.description);
  if (format.metadata == RecordingFormat::Metadata::imagej) return imagej_pixel_size(format);
  return {};
}

}  // namespace warpalign::program
