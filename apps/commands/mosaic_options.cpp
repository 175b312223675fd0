// The options of `mosaic`, and the tiles that they name.
#include "commands/mosaic_options.hpp"

#include "io/frames/input_files.hpp"
#include "io/image_file.hpp"
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
  add_option(command, "FOLDER", &choices.folder, "The folder of the tiles", required);
  begin_group(command, "Positions");
  add_option(command, "--positions FILE", &choices.positions,
             "CSV file with the columns file, x and y: where each tile's first pixel lies");
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
  begin_group(command, "Search");
  add_option(command, "--max-error N", &choices.max_error,
             "Largest error of a position relative to its neighbour, in pixels [a twentieth of the "
             "tile's larger side, at least 16]");
  add_option(command, "--min-confidence N", &choices.min_confidence,
             "Smallest confidence of a pair that is used, above 0 to 1 [0.5]");
  begin_group(command, "Outputs");
  add_option(command, "--output FILE", &choices.output,
             "Write the mosaic as tiled OME-TIFF with reduced levels");
  add_option(command, "--json FILE", &choices.json,
             "Write positions, pairs and the stage model as one JSON object");
  add_device_options(command, choices.device);
  add_limit_options(command);
}

void check_mosaic_choices(const MosaicChoices& choices) {
  if (choices.positions.has_value() == choices.grid.has_value()) {
    throw UsageError(choices.grid ? "--positions and --grid: give one of them, not both"
                                  : "no positions given: use --positions FILE, or --grid "
                                    "ROWSxCOLUMNS with --overlap PERCENT");
  }
  if (choices.grid) {
    (void)grid_of(*choices.grid);
    (void)order_of(choices.order);
    if (!choices.overlap) throw UsageError("--grid: needs --overlap PERCENT, such as --overlap 10");
    if (!(*choices.overlap > 0) || !(*choices.overlap < 100)) {
      throw UsageError(
          fmt::format("--overlap {}: must be above 0 and below 100 per cent", *choices.overlap));
    }
    if (choices.unit != "px") throw UsageError("--unit: applies to --positions only; omit it");
  } else {
    if (choices.overlap) throw UsageError("--overlap: applies to --grid only; omit it");
    if (choices.order != "row") throw UsageError("--order: applies to --grid only; omit it");
  }
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
  if (choices.min_confidence && *choices.min_confidence > 1) {
    throw UsageError(
        fmt::format("--min-confidence {}: must be above 0 and at most 1", *choices.min_confidence));
  }
  if (choices.output) check_output_name(*choices.output);
  std::vector<std::string> inputs;
  if (choices.positions) inputs.push_back(*choices.positions);
  check_outputs({{"--output", choices.output}, {"--json", choices.json}}, inputs);
}

std::vector<TilePosition> tiles_of(const MosaicChoices& choices) {
  std::error_code failed;
  if (!std::filesystem::is_directory(choices.folder, failed)) {
    throw FileError(
        fmt::format("{}: is not a folder; give the folder of the tiles", choices.folder));
  }
  if (choices.positions) {
    std::vector<TilePosition> tiles = read_tile_positions(*choices.positions);
    if (tiles.size() < 2) {
      throw FileError(fmt::format("{}: has {} tiles; a mosaic needs at least 2", *choices.positions,
                                  tiles.size()));
    }
    return tiles;
  }
  const Grid grid = grid_of(*choices.grid);
  std::vector<std::string> files = input_files({choices.folder});
  const auto is_output = [&](const std::string& file) {
    return choices.output && std::filesystem::equivalent(file, *choices.output, failed);
  };
  std::erase_if(files, is_output);
  const std::int64_t expected = grid.rows * grid.columns;
  if (static_cast<std::int64_t>(files.size()) != expected) {
    throw FileError(fmt::format("{}: has {} images, but --grid {} needs {}", choices.folder,
                                files.size(), *choices.grid, expected));
  }
  const double step = 1 - *choices.overlap / 100;
  std::vector<TilePosition> tiles;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const GridCell cell =
        grid_cell(static_cast<std::int64_t>(i), grid.rows, grid.columns, order_of(choices.order));
    tiles.push_back(
        {Path(files[i]).filename().string(),
         {step * static_cast<double>(cell.column), step * static_cast<double>(cell.row)}});
  }
  return tiles;
}

std::vector<Point> positions_in_pixels(const MosaicChoices& choices,
                                       const std::vector<TilePosition>& tiles, const Shape& shape) {
  const double unit = choices.unit == "um" ? 1 / *choices.pixel_size : 1;
  const double x = choices.grid ? static_cast<double>(shape.width) : unit;
  const double y = choices.grid ? static_cast<double>(shape.height) : unit;
  std::vector<Point> positions;
  for (const TilePosition& tile : tiles) {
    positions.push_back({tile.position.x * x, tile.position.y * y});
  }
  return positions;
}

MosaicOptions mosaic_options_of(const MosaicChoices& choices) {
  MosaicOptions options;
  if (choices.max_error) options.max_error = *choices.max_error;
  if (choices.min_confidence) options.min_confidence = *choices.min_confidence;
  return options;
}

}  // namespace warpalign::program
