// Writes where the tiles of a mosaic lie, for other programs.
#include "io/mosaic/position_file.hpp"

#include "io/frames/ome_axes.hpp"
#include "io/image_file.hpp"
#include "io/image_name.hpp"
#include "io/markup.hpp"
#include "io/mosaic/ome_companion.hpp"
#include "io/mosaic/relative_name.hpp"
#include "io/mosaic/tile_configuration.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_text(const LocatedFiles& located) {
  std::string text = "file,x,y\n";
  for (const TilePosition& tile : located.tiles) {
    text +=
        fmt::format("{},{:.6f},{:.6f}\n", csv_field(tile.file), tile.position.x, tile.position.y);
  }
  return text;
}

std::string configuration_text(const Path& path, const LocatedFiles& located) {
  std::vector<TilePosition> tiles(located.tiles.begin(), located.tiles.end());
  for (TilePosition& tile : tiles) tile.file = relative_name(path, located.folder, tile.file);
  return tile_configuration(tiles);
}

/// <Tile><id>0</id>...</Tile> and the like, which the attributes of the views refer to.
std::string entity(const char* kind, std::size_t id, const std::string& name) {
  return fmt::format("        <{0}><id>{1}</id><name>{2}</name></{0}>\n", kind, id, escaped(name));
}

/// A project of BigStitcher: the image loader that maps views to files by Bio-Formats, a view for
/// each tile and channel, and a translation for each view.
class StitcherProject {
 public:
  StitcherProject(const Path& path, const LocatedFiles& located) {
    const double size = located.pixel_size.value_or(1);
    const char* unit = located.pixel_size ? "\xc2\xb5m" : "pixel";
    for (std::size_t i = 0; i < located.tiles.size(); ++i) {
      const TilePosition& tile = located.tiles[i];
      const ImageName name = image_name(tile.file);
      const std::string file = relative_name(path, located.folder, name.file.string());
      tiles_ += entity("Tile", i, tile.file);
      for (int c = 0; c < located.channels; ++c) {
        const std::size_t view =
            i * static_cast<std::size_t>(located.channels) + static_cast<std::size_t>(c);
        files_ += fmt::format(
            "        <FileMapping view_setup=\"{}\" timepoint=\"0\" series=\"{}\" channel=\"{}\">"
            "<file type=\"relative\">{}</file></FileMapping>\n",
            view, name.page.value_or(0), c, escaped(file));
        views_ += fmt::format(
            "      <ViewSetup><id>{0}</id><name>{1}</name><size>{2} {3} 1</size>"
            "<voxelSize><unit>{4}</unit><size>{5} {5} 1.0</size></voxelSize>"
            "<attributes><illumination>0</illumination><channel>{6}</channel><tile>{7}</tile>"
            "<angle>0</angle></attributes></ViewSetup>\n",
            view, escaped(tile.file), located.shape.width, located.shape.height, unit, size, c, i);
        registrations_ += fmt::format(
            "    <ViewRegistration timepoint=\"0\" setup=\"{}\"><ViewTransform type=\"affine\">"
            "<Name>warpalign</Name><affine>{}</affine></ViewTransform></ViewRegistration>\n",
            view, affine_of(located.matrices[i]));
      }
    }
    for (int c = 0; c < located.channels; ++c) {
      channels_ += entity("Channel", static_cast<std::size_t>(c), std::to_string(c));
    }
  }

  [[nodiscard]] std::string text() const {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<SpimData version=\"0.2\">\n"
           "  <BasePath type=\"relative\">.</BasePath>\n"
           "  <SequenceDescription>\n"
           "    <ImageLoader format=\"spimreconstruction.filemap2\">\n"
           "      <imglib2container>ArrayImgFactory</imglib2container>\n"
           "      <ZGrouped>false</ZGrouped>\n"
           "      <files>\n" +
           files_ +
           "      </files>\n"
           "    </ImageLoader>\n"
           "    <ViewSetups>\n" +
           views_ + attributes("illumination", entity("Illumination", 0, "0")) +
           attributes("channel", channels_) + attributes("tile", tiles_) +
           attributes("angle", entity("Angle", 0, "0")) +
           "    </ViewSetups>\n"
           "    <Timepoints type=\"pattern\"><integerpattern>0</integerpattern></Timepoints>\n"
           "    <MissingViews />\n"
           "  </SequenceDescription>\n"
           "  <ViewRegistrations>\n" +
           registrations_ +
           "  </ViewRegistrations>\n"
           "  <ViewInterestPoints />\n"
           "  <BoundingBoxes />\n"
           "  <PointSpreadFunctions />\n"
           "  <StitchingResults />\n"
           "  <IntensityAdjustments />\n"
           "</SpimData>\n";
  }

 private:
  /// Three rows of four numbers, for (x, y, z).
  static std::string affine_of(const Homography& matrix) {
    const Affine m = matrix.affine();
    if (m.a == 1 && m.b == 0 && m.d == 0 && m.e == 1) {
      return fmt::format("1.0 0.0 0.0 {:.6f} 0.0 1.0 0.0 {:.6f} 0.0 0.0 1.0 0.0", m.c, m.f);
    }
    return fmt::format("{:.10f} {:.10f} 0.0 {:.6f} {:.10f} {:.10f} 0.0 {:.6f} 0.0 0.0 1.0 0.0", m.a,
                       m.b, m.c, m.d, m.e, m.f);
  }

  static std::string attributes(const char* name, const std::string& entities) {
    return fmt::format("      <Attributes name=\"{}\">\n{}      </Attributes>\n", name, entities);
  }

  std::string files_;
  std::string views_;
  std::string channels_;
  std::string tiles_;
  std::string registrations_;
};

}  // namespace

void check_position_file(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (is_ome_companion(path)) return;
  if (extension == ".csv" || extension == ".txt" || extension == ".xml") return;
  throw FileError(fmt::format(
      "{}: use a name that ends in .csv, .txt (Fiji's TileConfiguration), .companion.ome (OME-XML) "
      "or .xml (BigStitcher)",
      path.string()));
}

void check_motion_for(const std::filesystem::path& path, Motion motion) {
  if (motion == Motion::translation) return;
  if (motion == Motion::homography) {
    throw FileError(fmt::format(
        "{}: no format of positions can hold homographies; use --json instead", path.string()));
  }
  if (path.extension() == ".xml" && !is_ome_companion(path)) return;
  throw FileError(fmt::format(
      "{}: this format holds positions only, not how tiles are rotated; use a name that "
      "ends in .xml (BigStitcher), or --json",
      path.string()));
}

void check_tiles_for(const std::filesystem::path& path, std::span<const TilePosition> tiles,
                     PixelType type) {
  if (!is_ome_companion(path)) return;
  if (ome_type(type) == nullptr) {
    throw FileError(
        fmt::format("{}: OME-XML has no pixels of type {}; use a name that ends in .csv",
                    path.string(), name_of(type)));
  }
  for (const TilePosition& tile : tiles) {
    const std::string extension = image_name(tile.file).file.extension().string();
    if (extension == ".tif" || extension == ".tiff") continue;
    throw FileError(fmt::format(
        "{}: OME-XML describes TIFF files, but {} is none; use a name that ends in .csv",
        path.string(), tile.file));
  }
}

std::string position_text(const std::filesystem::path& path, const LocatedFiles& located) {
  const std::string extension = path.extension().string();
  if (is_ome_companion(path)) return ome_companion(path, located);
  if (extension == ".txt") return configuration_text(path, located);
  if (extension == ".xml") return StitcherProject(path, located).text();
  return csv_text(located);
}

}  // namespace warpalign::program
