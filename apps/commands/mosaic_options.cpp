// The options of `mosaic`, and the tiles that they name.
#include "commands/mosaic_options.hpp"

#include "io/frames/input_files.hpp"
#include "io/image_file.hpp"
#include "io/image_name.hpp"
#include "io/mosaic/ome_companion.hpp"
#include "io/mosaic/ome_positions.hpp"
#include "io/mosaic/position_file.hpp"
#include "io/mosaic/tile_configuration.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

constexpr std::array<std::pair<const char*, GridOrder>, 4> orders{
    {{"row", GridOrder::row},
     {"column", GridOrder::column},
     {"snake-row", GridOrder::snake_row},
     {"snake-column", GridOrder::snake_column}}};

GridOrder order_of(const std::string& name) {
  for (const auto& [known, order] : orders) {
    if (name == known) return order;
  }
  throw UsageError(fmt::format(
      "invalid value '{}' for --order (choose from: row, column, snake-row, snake-column)", name));
}

constexpr std::array<std::pair<const char*, GridCorner>, 4> corners{
    {{"top-left", GridCorner::top_left},
     {"top-right", GridCorner::top_right},
     {"bottom-left", GridCorner::bottom_left},
     {"bottom-right", GridCorner::bottom_right}}};

GridCorner corner_of(const std::string& name) {
  for (const auto& [known, corner] : corners) {
    if (name == known) return corner;
  }
  throw UsageError(
      fmt::format("invalid value '{}' for --corner (choose from: top-left, top-right, bottom-left, "
                  "bottom-right)",
                  name));
}

struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

Grid grid_of(const std::string& text) {
  const std::vector<std::int64_t> extents = parse_extents("--grid", text);
  if (extents.size() != 2) {
    throw UsageError(fmt::format("--grid {}: must be ROWSxCOLUMNS, such as 3x4", text));
  }
  return {extents[0], extents[1]};
}

void require_positive(const char* option, const std::optional<double>& value) {
  if (value && !(*value > 0 && std::isfinite(*value))) {
    throw UsageError(fmt::format("{} {}: must be above 0", option, *value));
  }
}

void check_output_name(const std::string& name) {
  const std::string extension = Path(name).extension().string();
  if (extension == ".tif" || extension == ".tiff") return;
  throw UsageError(
      fmt::format("--output {}: is written as OME-TIFF; use a name that ends in .ome.tif", name));
}

}  // namespace

void add_mosaic_options(CLI::App& command, MosaicChoices& choices) {
  add_option(command, "FOLDER", &choices.folder,
             "The folder of the tiles, or a TIFF file of which each page is a tile", required);
  begin_group(command, "Positions");
  add_option(
      command, "--positions FILE", &choices.positions,
      "CSV file with the columns file, x and y (and z, of volumes): where each tile's first pixel "
      "lies; or Fiji's "
      "TileConfiguration.txt; or OME-XML (.companion.ome); or none: searches for the pairs [OME "
      "metadata of the tiles, unless there is a --grid]");
  add_option(command, "--unit NAME", &choices.unit, "Unit of the positions: px or um",
             suggesting("px um", with_default));
  add_option(command, "--pixel-size N", &choices.pixel_size, "Size of a pixel in micrometres");
  add_option(command, "--grid ROWSxCOLUMNS", &choices.grid,
             "Instead of --positions: a grid of the folder's images in natural order");
  add_option(command, "--overlap PERCENT", &choices.overlap,
             "Overlap of neighbours in the grid, in per cent of a tile's side");
  add_option(command, "--order NAME", &choices.order,
             "Order of the grid's images: row, column, snake-row or snake-column",
             suggesting("row column snake-row snake-column", with_default));
  add_option(command, "--corner NAME", &choices.corner,
             "Corner of the grid's first image: top-left, top-right, bottom-left or bottom-right",
             suggesting("top-left top-right bottom-left bottom-right", with_default));
  add_option(command, "--exchange", &choices.exchange, "Exchange x and y of the given positions");
  add_option(command, "--reverse AXES", &choices.reverse,
             "Reverse the sign of the given x, y or xy, after --exchange", suggesting("x y xy"));
  begin_group(command, "Search");
  add_option(command, "--max-error N", &choices.max_error,
             "Largest error of a position relative to its neighbour, in pixels [a twentieth of the "
             "tile's larger side, at least 16]");
  add_option(command, "--min-confidence N", &choices.min_confidence,
             "Smallest confidence of a pair that is used, above 0 to 1 [0.5]");
  add_option(
      command, "--motion NAME", &choices.motion,
      "How each tile differs from its position: translation, rigid, similarity or homography",
      suggesting("translation rigid similarity homography", with_default));
  add_option(command, "--skip-bad-tiles", &choices.skip_bad_tiles,
             "Join the other tiles if some are missing, cannot be read, or are of another kind");
  add_option(command, "--no-distortion", &choices.no_distortion,
             "Do not estimate the distortion that all tiles have in common");
  add_option(command, "--nodata VALUE", &choices.nodata,
             "Value of missing pixels, which are ignored, as NaN and infinities always are");
  begin_group(command, "Illumination");
  add_option(command, "--flat-field FILE", &choices.flat_field,
             "Image of the illumination, by which tiles are divided; or auto: estimated from tens "
             "of tiles",
             suggesting("auto"));
  add_option(command, "--dark FILE", &choices.dark,
             "Image without light, which is subtracted before the division");
  begin_group(command, "Outputs");
  add_option(command, "--output FILE", &choices.output,
             "Write the mosaic as tiled OME-TIFF with reduced levels; of volumes, as .nii or .npy");
  add_option(command, "--json FILE", &choices.json,
             "Write positions, pairs and the stage model as one JSON object");
  add_option(command, "--located FILE", &choices.located,
             "Write the located positions: as CSV, as Fiji's TileConfiguration (.txt), as OME-XML "
             "(.companion.ome), or as a project of BigStitcher (.xml)");
  add_option(command, "--report FILE", &choices.page,
             "Write an HTML page: the mosaic, its pairs, the residuals and what was left out");
  add_option(command, "--resume", &choices.resume,
             "Keep a journal next to the first output, and go on with a run that was interrupted");
  add_processing_options(command, choices.device);
}

namespace {

void check_grid_choices(const MosaicChoices& choices) {
  (void)grid_of(*choices.grid);
  (void)order_of(choices.order);
  (void)corner_of(choices.corner);
  if (!choices.overlap) throw UsageError("--grid: needs --overlap PERCENT, such as --overlap 10");
  if (!(*choices.overlap > 0) || !(*choices.overlap < 100)) {
    throw UsageError(
        fmt::format("--overlap {}: must be above 0 and below 100 per cent", *choices.overlap));
  }
  if (choices.unit != "px") throw UsageError("--unit: applies to --positions only; omit it");
  if (choices.exchange || !choices.reverse.empty()) {
    throw UsageError(
        "--exchange and --reverse: apply to given positions only; use --order and --corner for a "
        "grid");
  }
}

void refuse_position_choices(const MosaicChoices& choices) {
  const auto refuse = [](const char* option) {
    throw UsageError(fmt::format("{}: has no meaning with --positions none; omit it", option));
  };
  if (choices.unit != "px") refuse("--unit");
  if (choices.exchange) refuse("--exchange");
  if (!choices.reverse.empty()) refuse("--reverse");
  if (choices.max_error) refuse("--max-error");
}

/// The files of the flat field and the dark image.
std::vector<std::string> illumination_files(const MosaicChoices& choices) {
  std::vector<std::string> files;
  if (choices.flat_field && !estimates_flat_field(choices)) files.push_back(*choices.flat_field);
  if (choices.dark) files.push_back(*choices.dark);
  return files;
}

void refuse_grid_choices(const MosaicChoices& choices) {
  if (choices.overlap) throw UsageError("--overlap: applies to --grid only; omit it");
  if (choices.order != "row") throw UsageError("--order: applies to --grid only; omit it");
  if (choices.corner != "top-left") throw UsageError("--corner: applies to --grid only; omit it");
  if (!choices.reverse.empty() && choices.reverse != "x" && choices.reverse != "y" &&
      choices.reverse != "xy") {
    throw UsageError(
        fmt::format("invalid value '{}' for --reverse (choose from: x, y, xy)", choices.reverse));
  }
}

}  // namespace

Motion motion_of(const MosaicChoices& choices) {
  if (choices.motion == "translation") return Motion::translation;
  if (choices.motion == "rigid") return Motion::rigid;
  if (choices.motion == "similarity") return Motion::similarity;
  if (choices.motion == "homography") return Motion::homography;
  throw UsageError(fmt::format(
      "invalid value '{}' for --motion (choose from: translation, rigid, similarity, homography)",
      choices.motion));
}

bool positions_unknown(const MosaicChoices& choices) {
  return choices.positions && *choices.positions == "none";
}

bool estimates_flat_field(const MosaicChoices& choices) {
  return choices.flat_field && *choices.flat_field == "auto";
}

void check_mosaic_choices(const MosaicChoices& choices) {
  if (choices.positions && choices.grid) {
    throw UsageError("--positions and --grid: give one of them, not both");
  }
  if (choices.grid) {
    check_grid_choices(choices);
  } else {
    refuse_grid_choices(choices);
  }
  if (!choices.positions && choices.unit != "px") {
    throw UsageError("--unit: applies to --positions only; omit it");
  }
  if (positions_unknown(choices)) refuse_position_choices(choices);
  if (choices.unit != "px" && choices.unit != "um") {
    throw UsageError(
        fmt::format("invalid value '{}' for --unit (choose from: px, um)", choices.unit));
  }
  if (choices.unit == "um" && !choices.pixel_size) {
    throw UsageError("--unit um: needs the size of a pixel; give it with --pixel-size");
  }
  require_positive("--pixel-size", choices.pixel_size);
  require_positive("--max-error", choices.max_error);
  require_positive("--min-confidence", choices.min_confidence);
  if (motion_of(choices) != Motion::translation && choices.no_distortion) {
    throw UsageError(fmt::format(
        "--no-distortion: with --motion {}, no distortion is estimated; omit it", choices.motion));
  }
  if (choices.min_confidence && *choices.min_confidence > 1) {
    throw UsageError(
        fmt::format("--min-confidence {}: must be above 0 and at most 1", *choices.min_confidence));
  }
  if (choices.dark && !choices.flat_field) {
    throw UsageError("--dark: applies to --flat-field only; add it, or omit --dark");
  }
  if (choices.nodata && choices.flat_field) {
    throw UsageError("--nodata: --flat-field would change the value of missing pixels; omit one");
  }
  if (choices.output) check_output_name(*choices.output);
  if (choices.located) {
    check_position_file(*choices.located);
    check_motion_for(*choices.located, motion_of(choices));
  }
  std::vector<std::string> inputs;
  if (choices.positions && !positions_unknown(choices)) inputs.push_back(*choices.positions);
  if (std::filesystem::is_regular_file(choices.folder)) inputs.push_back(choices.folder);
  for (const std::string& file : illumination_files(choices)) inputs.push_back(file);
  check_outputs({{"--output", choices.output},
                 {"--json", choices.json},
                 {"--located", choices.located},
                 {"--report", choices.page}},
                inputs);
}

namespace {

/// The images of the folder but the output and those of the illumination, or the pages of the file,
/// relative to `folder`.
std::vector<std::string> images_in(const MosaicChoices& choices, const Path& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::is_directory(choices.folder)) {
    const std::string name = Path(choices.folder).filename().string();
    const std::size_t pages = count_pages(choices.folder);
    for (std::size_t i = 0; i < pages; ++i) names.push_back(fmt::format("{}[{}]", name, i));
    return names;
  }
  std::vector<std::string> others = illumination_files(choices);
  if (choices.output) others.push_back(*choices.output);
  for (const std::string& file : input_files({choices.folder})) {
    const auto is_file = [&file](const std::string& other) {
      std::error_code failed;
      return std::filesystem::equivalent(file, other, failed);
    };
    if (std::any_of(others.begin(), others.end(), is_file)) continue;
    names.push_back(Path(file).lexically_relative(folder).string());
  }
  return names;
}

NominalTiles grid_tiles(const MosaicChoices& choices, NominalTiles nominal) {
  const Grid grid = grid_of(*choices.grid);
  const std::vector<std::string> names = images_in(choices, nominal.folder);
  const std::int64_t expected = grid.rows * grid.columns;
  if (static_cast<std::int64_t>(names.size()) != expected) {
    throw FileError(fmt::format("{}: has {} images, but --grid {} needs {}", choices.folder,
                                names.size(), *choices.grid, expected));
  }
  const double step = 1 - *choices.overlap / 100;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GridCell cell = grid_cell(static_cast<std::int64_t>(i), grid.rows, grid.columns,
                                    order_of(choices.order), corner_of(choices.corner));
    nominal.tiles.push_back(
        {names[i],
         {step * static_cast<double>(cell.column), step * static_cast<double>(cell.row)}});
  }
  nominal.in_tile_sides = true;
  nominal.source = "--grid " + *choices.grid;
  return nominal;
}

NominalTiles unplaced_tiles(const MosaicChoices& choices, NominalTiles nominal) {
  for (const std::string& name : images_in(choices, nominal.folder)) {
    nominal.tiles.push_back({name, {}});
  }
  nominal.source = choices.folder;
  return nominal;
}

/// Fiji and OME name files relative to the file that names them. If it lies elsewhere, and the
/// folder has none of the tiles, they become relative to the folder.
void find_beside(const Path& position_file, NominalTiles& nominal) {
  const Path beside = position_file.parent_path();
  const auto exists_in = [&](const Path& folder) {
    return [&folder](const TilePosition& tile) {
      std::error_code failed;
      return std::filesystem::exists(image_name(folder / tile.file).file, failed);
    };
  };
  const auto& tiles = nominal.tiles;
  if (std::any_of(tiles.begin(), tiles.end(), exists_in(nominal.folder)) ||
      !std::all_of(tiles.begin(), tiles.end(), exists_in(beside))) {
    return;
  }
  for (TilePosition& tile : nominal.tiles) {
    std::error_code failed;
    const Path to = std::filesystem::absolute(beside / tile.file, failed);
    const Path from = std::filesystem::absolute(nominal.folder, failed);
    tile.file = to.lexically_normal().lexically_relative(from.lexically_normal()).generic_string();
  }
}

NominalTiles ome_tiles(const MosaicChoices& choices, NominalTiles nominal) {
  std::vector<std::string> names{Path(choices.folder).filename().string()};
  if (std::filesystem::is_directory(choices.folder)) names = images_in(choices, nominal.folder);
  OmeTiles found = read_ome_positions(nominal.folder, names, choices.pixel_size);
  nominal.tiles = std::move(found.tiles);
  nominal.pixel_size = found.pixel_size;
  nominal.source = choices.folder + ": OME metadata";
  return nominal;
}

}  // namespace

NominalTiles tiles_of(const MosaicChoices& choices) {
  std::error_code failed;
  NominalTiles nominal;
  nominal.pixel_size = choices.pixel_size;
  nominal.folder = choices.folder;
  if (!std::filesystem::is_directory(choices.folder, failed)) {
    if (!std::filesystem::is_regular_file(choices.folder, failed)) {
      throw FileError(
          fmt::format("{}: does not exist; give the folder of the tiles, or a file of "
                      "which each page is a tile",
                      choices.folder));
    }
    nominal.folder = Path(choices.folder).parent_path();
  }
  if (choices.grid) return grid_tiles(choices, std::move(nominal));
  if (positions_unknown(choices)) {
    nominal = unplaced_tiles(choices, std::move(nominal));
  } else if (choices.positions && is_ome_companion(*choices.positions)) {
    if (choices.unit != "px") {
      throw UsageError("--unit: OME-XML says the unit of its positions; omit it");
    }
    OmeTiles found = read_ome_set(*choices.positions, choices.pixel_size);
    nominal.tiles = std::move(found.tiles);
    nominal.pixel_size = found.pixel_size;
    nominal.source = *choices.positions;
    find_beside(*choices.positions, nominal);
  } else if (choices.positions) {
    nominal.source = *choices.positions;
    const bool is_configuration = Path(*choices.positions).extension() == ".txt";
    nominal.tiles = is_configuration ? read_tile_configuration(*choices.positions)
                                     : read_tile_positions(*choices.positions);
    if (is_configuration) find_beside(*choices.positions, nominal);
    if (choices.unit == "um") nominal.unit = {1 / *choices.pixel_size, 1 / *choices.pixel_size};
  } else {
    nominal = ome_tiles(choices, std::move(nominal));
  }
  if (nominal.tiles.size() < 2) {
    throw FileError(fmt::format("{}: has {} tile{}; a mosaic needs at least 2", nominal.source,
                                nominal.tiles.size(), nominal.tiles.size() == 1 ? "" : "s"));
  }
  return nominal;
}

std::vector<Point> positions_in_pixels(const MosaicChoices& choices, const NominalTiles& nominal,
                                       const Shape& shape) {
  Point unit = nominal.unit;
  if (nominal.in_tile_sides) {
    unit = {static_cast<double>(shape.width), static_cast<double>(shape.height)};
  }
  const double sign_x = choices.reverse.find('x') != std::string::npos ? -1 : 1;
  const double sign_y = choices.reverse.find('y') != std::string::npos ? -1 : 1;
  std::vector<Point> positions;
  for (const TilePosition& tile : nominal.tiles) {
    Point position{tile.position.x * unit.x, tile.position.y * unit.y};
    if (choices.exchange) std::swap(position.x, position.y);
    positions.push_back({sign_x * position.x, sign_y * position.y});
  }
  return positions;
}

MosaicOptions mosaic_options_of(const MosaicChoices& choices) {
  MosaicOptions options;
  options.positions_known = !positions_unknown(choices);
  if (choices.max_error) options.max_error = *choices.max_error;
  options.motion = motion_of(choices);
  options.estimate_distortion = !choices.no_distortion;
  if (choices.min_confidence) options.min_confidence = *choices.min_confidence;
  return options;
}

}  // namespace warpalign::program
