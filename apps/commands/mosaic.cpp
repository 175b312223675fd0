// `warpalign mosaic`: locates overlapping tiles, and fuses them into one picture.
#include "commands/commands.hpp"
#include "commands/mosaic_options.hpp"
#include "commands/mosaic_resume.hpp"
#include "commands/mosaic_status.hpp"
#include "commands/volume_mosaic.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/mosaic/ome_tiff.hpp"
#include "io/mosaic/position_file.hpp"
#include "io/mosaic/tile_files.hpp"
#include "io/mosaic/tile_names.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "reports/mosaic_page.hpp"
#include "reports/mosaic_report.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <vector>

namespace warpalign::program {
namespace {

/// Adds the options to a message of the library that says with which exchange of the axes, or
/// multiplied by which factor, the positions would fit.
std::string with_options(std::string message, const MosaicChoices& choices) {
  static const std::regex factor("multiplied by ([0-9.e+]+) \\(another unit\\?\\)");
  std::smatch match;
  if (choices.grid) {
    if (!std::regex_search(message, match, factor)) return message;
    const double overlap = 100 - std::stod(match[1]) * (100 - *choices.overlap);
    if (overlap > 0) {
      message.replace(static_cast<std::size_t>(match.position()),
                      static_cast<std::size_t>(match.length()),
                      fmt::format("with --overlap {:.3g}", overlap));
    }
    return message;
  }
  if (choices.positions && choices.unit == "px" && std::regex_search(message, match, factor)) {
    return message + fmt::format("; if they are in micrometres, add --unit um --pixel-size {:.3g}",
                                 1 / std::stod(match[1]));
  }
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (choices.exchange || !choices.reverse.empty()) return message;
  std::string options = says("with x and y exchanged") ? " --exchange" : "";
  if (says("signs of x and y reversed") || says("both signs reversed")) {
    options += " --reverse xy";
  } else if (says("sign of x reversed")) {
    options += " --reverse x";
  } else if (says("sign of y reversed")) {
    options += " --reverse y";
  }
  return options.empty() ? message : message + "; add" + options;
}

Mosaic locate(std::span<const Device> devices, const std::vector<MosaicTile>& tiles,
              TileFiles& files, const MosaicChoices& choices, const std::string& source,
              MosaicJournal* journal) {
  std::optional<Progress> progress;
  MosaicOptions options = mosaic_options_of(choices);
  options.progress = [&](std::size_t done, std::size_t total) {
    if (done == 1) progress.emplace(total);
    progress->next("registering pairs");
  };
  if (journal != nullptr) {
    options.records = journal->records();
    options.keep_pair = [&](const PairRecord& record) { journal->append(record); };
    options.keep_distortion = [&](const TileDistortion& found) { journal->append(found); };
  }
  try {
    return locate_tiles(
        devices, tiles, [&](std::size_t i) { return files.gray(i); }, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_argument) throw;
    // Only a run with other options can succeed.
    if (journal != nullptr) journal->remove();
    throw UsageError(fmt::format(
        "{}: {}", source, with_options(with_tile_names(error.message(), files.names()), choices)));
  }
}

/// Throws if the picture would be nearly empty: then a position is wrong.
void refuse_scattered(const std::vector<MosaicTile>& tiles, const TileFiles& files,
                      const std::string& source) {
  constexpr double max_ratio = 1000;
  const auto width = static_cast<double>(files.shape().width);
  const auto height = static_cast<double>(files.shape().height);
  std::vector<double> x;
  std::vector<double> y;
  for (const MosaicTile& tile : tiles) {
    x.push_back(tile.position.x);
    y.push_back(tile.position.y);
  }
  const auto extent = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values.back() - values.front();
  };
  const double columns = extent(x) + width;
  const double rows = extent(y) + height;
  if (columns * rows <= max_ratio * width * height * static_cast<double>(tiles.size())) return;
  const Point middle{x[x.size() / 2], y[y.size() / 2]};
  const auto distance = [&](const MosaicTile& tile) {
    return std::hypot(tile.position.x - middle.x, tile.position.y - middle.y);
  };
  const auto farthest = std::max_element(
      tiles.begin(), tiles.end(),
      [&](const MosaicTile& a, const MosaicTile& b) { return distance(a) < distance(b); });
  throw UsageError(fmt::format(
      "{}: the mosaic would have {:.0f} x {:.0f} pixels, most of them empty; {} lies {:.0f} pixels "
      "from the middle of the tiles: check its position and the unit",
      source, columns, rows, files.name(static_cast<std::size_t>(farthest - tiles.begin())),
      distance(*farthest)));
}

void write_picture(const std::string& path, const Device& device,
                   const std::vector<MosaicTile>& tiles, TileFiles& files,
                   std::optional<double> nodata, const MosaicReport& report) {
  const Mosaic& mosaic = report.mosaic;
  OmeTiffWriter writer(path, {mosaic.shape.width, mosaic.shape.height, files.channels(),
                              files.type(), report.pixel_size});
  constexpr std::int64_t rows = OmeTiffWriter::strip_rows;
  Progress progress(static_cast<std::size_t>((mosaic.shape.height + rows - 1) / rows));
  const FusionSpec spec{mosaic.shape, files.type(),      files.channels(),
                        rows,         mosaic.distortion, nodata};
  const auto source = [&](std::size_t i, int c) { return files.channel(i, c); };
  const auto sink = [&](std::int64_t /*first_row*/, std::span<const HostImage> channels) {
    progress.next("fusing");
    writer.write(channels);
  };
  if (report.motion == Motion::translation) {
    std::vector<Point> positions;
    for (const LocatedTile& tile : mosaic.tiles) positions.push_back(tile.position);
    fuse_tiles(device, tiles, positions, source, spec, sink);
  } else {
    std::vector<Homography> matrices;
    for (const LocatedTile& tile : mosaic.tiles) matrices.push_back(tile.matrix);
    fuse_tiles(device, tiles, matrices, source, spec, sink);
  }
  writer.commit();
}

void write_text(AtomicFile& file, const std::string& text) {
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string located_text(const MosaicReport& report, const TileFiles& files,
                         const std::filesystem::path& folder) {
  std::vector<TilePosition> tiles;
  std::vector<Homography> matrices;
  for (std::size_t i = 0; i < files.size(); ++i) {
    tiles.push_back({files.name(i), report.mosaic.tiles[i].position});
    matrices.push_back(report.mosaic.tiles[i].matrix);
  }
  return position_text(*report.located, {folder, tiles, matrices, files.shape(), files.channels(),
                                         files.stored_type(), report.pixel_size});
}

/// Reads or estimates the flat field of the tiles, and describes it.
std::optional<FlatFieldReport> divide_by_flat_field(const MosaicChoices& choices,
                                                    TileFiles& files) {
  if (!choices.flat_field) return {};
  if (estimates_flat_field(choices)) {
    Progress progress(files.size());
    const auto read = [&](std::size_t i) {
      progress.next("estimating the illumination");
      return files.usable(i);
    };
    files.divide_by(TileFlatFields::estimated(files.size(), read, choices.dark, files.kind()));
  } else {
    files.divide_by(TileFlatFields::from_files(*choices.flat_field, choices.dark, files.kind()));
  }
  const TileFlatFields& fields = *files.flat_fields();
  return FlatFieldReport{*choices.flat_field, choices.dark, fields.least(), fields.largest()};
}

/// Refuses a mosaic of which most tiles are bad, for example because a disk has disappeared.
void refuse_mostly_skipped(const TileFiles& files, const std::string& source) {
  const std::vector<SkippedTile> skipped = files.skipped();
  if (2 * skipped.size() <= files.size()) return;
  throw FileError(fmt::format("{}: {} of {} tiles cannot be used, the first because: {}", source,
                              skipped.size(), files.size(), skipped.front().reason));
}

ExitStatus status_of(const MosaicReport& report) {
  return report.skipped.empty() ? mosaic_status(report.mosaic) : ExitStatus::unreliable;
}

ExitStatus run(const MosaicChoices& choices) {
  if (are_volume_tiles(choices)) return run_volume_mosaic(choices);
  const auto start = std::chrono::steady_clock::now();
  check_mosaic_choices(choices);
  check_mosaic_resumable(choices);
  const Config config = config_of(choices.device.config);
  const NominalTiles given = tiles_of(choices);
  std::vector<std::string> names;
  for (const TilePosition& tile : given.tiles) names.push_back(tile.file);
  TileFiles files(given.folder, names,
                  {choices.skip_bad_tiles ? BadTiles::skip : BadTiles::refuse, choices.nodata});
  if (choices.located) check_tiles_for(*choices.located, given.tiles, files.stored_type());
  std::optional<AtomicFile> json;
  std::optional<AtomicFile> located;
  std::optional<AtomicFile> page;
  if (choices.json) json.emplace(*choices.json);
  if (choices.page) page.emplace(*choices.page);
  if (choices.located) located.emplace(*choices.located);
  if (choices.output) AtomicFile writable(*choices.output);

  MosaicReport report;
  report.folder = choices.folder;
  report.files = names;
  report.description = files.description();
  report.tile = files.shape();
  report.pixel_size = given.pixel_size;
  report.nominal = positions_in_pixels(choices, given, files.shape());
  report.positions_known = !positions_unknown(choices);
  report.motion = motion_of(choices);
  report.output = choices.output;
  report.json = choices.json;
  report.located = choices.located;
  report.page = choices.page;
  std::vector<MosaicTile> tiles;
  for (const Point& position : report.nominal) tiles.push_back({files.shape(), position});

  if (choices.output) refuse_scattered(tiles, files, given.source);
  const auto journal = open_mosaic_journal(choices, files, report.nominal);
  if (journal) report.resumed_pairs = journal->records().pairs.size();
  report.flat_field = divide_by_flat_field(choices, files);

  const std::vector<Device> devices = open_each_chosen(choices.device, config);
  report.device = devices.front().info();
  report.mosaic = locate(devices, tiles, files, choices, given.source, journal.get());
  refuse_mostly_skipped(files, given.source);
  if (choices.output) {
    write_picture(*choices.output, devices.front(), tiles, files, choices.nodata, report);
  }
  refuse_mostly_skipped(files, given.source);
  report.skipped = files.skipped();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (json) write_text(*json, json_text(report));
  if (located) write_text(*located, located_text(report, files, given.folder));
  if (page) write_text(*page, mosaic_page(report, files));
  if (journal) journal->remove();
  program::report(human_text(report));
  return status_of(report);
}

constexpr const char* footer =
    "The tiles are images of one size and type, gray or colour; types other than 8 and 16 bits\n"
    "become 32-bit float. Each side has 16 pixels or more. --positions names a CSV file whose\n"
    "first line has the columns file (relative to FOLDER), x and y, or Fiji's\n"
    "TileConfiguration.txt. Without --positions and --grid, the OME metadata of the tiles say "
    "where\n"
    "they are. The order of the tiles is that in which they were taken, from which the backlash "
    "of\n"
    "the stage is estimated. --positions none searches for the tiles that overlap.\n"
    "\n"
    "The command registers the overlaps of neighbours, verifies each pair, and finds the\n"
    "positions by robust least squares. Pairs that contradict the others are left out, and the\n"
    "report names them. Tiles without a used pair follow the stage model: the camera's angle and\n"
    "scale, and the backlash, as all pairs determine them. A distortion that all tiles have in\n"
    "common is estimated from the overlaps, and removed. With --motion rigid, similarity or\n"
    "homography, each tile has its own rotation, scale or tilt instead. --flat-field divides\n"
    "tiles by their uneven illumination, for the registration and in the mosaic. Pixels that are\n"
    "NaN, infinite or equal to --nodata are neither registered nor blended.\n"
    "\n"
    "--json has for each tile its file and matrix, which maps pixels (x, y) of the tile to pixels\n"
    "of the mosaic. --output blends tiles linearly by the distance to their edges. With --resume,\n"
    "the same command goes on after an interruption: pairs are not registered again, and the\n"
    "picture is fused again from the positions.\n"
    "\n"
    "Tiles may be volumes: NIfTI, .npy, or TIFF of 8 pages or more, with --positions naming a CSV\n"
    "file that has a column z, too, all in voxels. Of the other options, --max-error,\n"
    "--min-confidence, --output, --json and --device apply to them.\n"
    "\n"
    "Exit status: 0 all tiles located, those without texture by the stage model; 1 no pair was "
    "used,\n"
    "no used pair connects parts of the mosaic, or tiles were skipped; 2 wrong usage or input;\n"
    "3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign mosaic scan --positions stage.csv --output mosaic.ome.tif --json mosaic.json\n"
    "  warpalign mosaic scan --positions stage.csv --unit um --pixel-size 0.65 --json mosaic.json\n"
    "  warpalign mosaic scan --grid 4x6 --overlap 10 --order snake-row --output mosaic.ome.tif\n"
    "  warpalign mosaic scan.ome.tif --report mosaic.html --located positions.xml\n"
    "  warpalign mosaic photos --positions none --output mosaic.ome.tif\n"
    "  warpalign mosaic blocks --positions stage.csv --output mosaic.nii --json mosaic.json\n";

}  // namespace

void add_mosaic_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "mosaic", "Join overlapping tiles into one picture", "Registration");
  auto choices = std::make_shared<MosaicChoices>();
  add_mosaic_options(command, *choices);
  set_footer(command, footer);
  set_action(command, chosen, [choices] { return run(*choices); });
}

}  // namespace warpalign::program
