// `warpalign mosaic` of tiles that are volumes.
#include "commands/volume_mosaic.hpp"

#include "commands/mosaic_status.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/mosaic/ome_companion.hpp"
#include "io/mosaic/tile_names.hpp"
#include "io/mosaic/tile_positions.hpp"
#include "io/mosaic/volume_tiles.hpp"
#include "io/nifti.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/file_names.hpp"
#include "reports/volume_mosaic_report.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

void refuse_image_choices(const MosaicChoices& choices) {
  const std::array<std::pair<const char*, bool>, 13> given{
      {{"--unit", choices.unit != "px"},
       {"--pixel-size", choices.pixel_size.has_value()},
       {"--grid", choices.grid.has_value()},
       {"--exchange", choices.exchange},
       {"--reverse", !choices.reverse.empty()},
       {"--motion", motion_of(choices) != Motion::translation},
       {"--no-distortion", choices.no_distortion},
       {"--nodata", choices.nodata.has_value()},
       {"--flat-field", choices.flat_field || choices.dark},
       {"--skip-bad-tiles", choices.skip_bad_tiles},
       {"--located", choices.located.has_value()},
       {"--report", choices.page.has_value()},
       {"--resume", choices.resume}}};
  for (const auto& [option, is_given] : given) {
    if (is_given) {
      throw UsageError(fmt::format(
          "{}: serves mosaics of images, but these tiles are volumes; omit it", option));
    }
  }
}

void check_volume_choices(const MosaicChoices& choices) {
  refuse_image_choices(choices);
  if (choices.max_error && !(*choices.max_error > 0 && std::isfinite(*choices.max_error))) {
    throw UsageError(fmt::format("--max-error {}: must be above 0", *choices.max_error));
  }
  if (choices.min_confidence && !(*choices.min_confidence > 0 && *choices.min_confidence <= 1)) {
    throw UsageError(
        fmt::format("--min-confidence {}: must be above 0 and at most 1", *choices.min_confidence));
  }
  if (choices.output && !is_npy_name(*choices.output) &&
      Path(*choices.output).extension() != ".nii") {
    throw UsageError(
        fmt::format("--output {}: a mosaic of volumes is written as .nii or .npy; use such a name",
                    *choices.output));
  }
}

/// Throws if the volume would be nearly empty: then a position is wrong.
void refuse_scattered_volumes(const std::vector<VolumeMosaicTile>& tiles, const Shape& shape,
                              const std::string& source) {
  constexpr double max_ratio = 1000;
  const std::array sides{shape.width, shape.height, shape.depth};
  double voxels = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto at = [&](const VolumeMosaicTile& tile) {
      const Point3& p = tile.position;
      return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    };
    const auto [least, most] = std::minmax_element(
        tiles.begin(), tiles.end(),
        [&](const VolumeMosaicTile& a, const VolumeMosaicTile& b) { return at(a) < at(b); });
    voxels *= at(*most) - at(*least) + static_cast<double>(sides[axis]);
  }
  const double covered = static_cast<double>(shape.pixels()) * static_cast<double>(tiles.size());
  if (voxels <= max_ratio * covered) return;
  throw UsageError(
      fmt::format("{}: the mosaic would have {:.3g} voxels, most of them empty: check the "
                  "positions, and that their unit is voxels",
                  source, voxels));
}

VolumeMosaic locate_volumes(std::span<const Device> devices,
                            const std::vector<VolumeMosaicTile>& tiles, VolumeTiles& files,
                            const MosaicChoices& choices) {
  std::optional<Progress> progress;
  VolumeMosaicOptions options;
  if (choices.max_error) options.max_error = *choices.max_error;
  if (choices.min_confidence) options.min_confidence = *choices.min_confidence;
  options.progress = [&](std::size_t done, std::size_t total) {
    if (done == 1) progress.emplace(total);
    progress->next("registering pairs");
  };
  try {
    return locate_volume_tiles(
        devices, tiles, [&](std::size_t i) { return files.read(i); }, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_argument) throw;
    throw UsageError(
        fmt::format("{}: {}", *choices.positions, with_tile_names(error.message(), files.names())));
  }
}

/// The bytes before the voxels.
std::vector<std::byte> start_of_file(const std::string& path, const Shape& shape,
                                     const VolumeTiles& files) {
  const std::vector<std::int64_t> extents{shape.depth, shape.height, shape.width};
  if (is_npy_name(path)) return npy_header(extents, files.type());
  const NiftiHeader header =
      plain_nifti_header(files.spacing().value_or(std::array{1.0, 1.0, 1.0}));
  try {
    return nifti_file_start(extents, files.type(), header);
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path, error.what()));
  }
}

void write_volume(const std::string& path, const Device& device,
                  const std::vector<VolumeMosaicTile>& tiles, VolumeTiles& files,
                  const VolumeMosaic& mosaic) {
  AtomicFile file(path);
  file.write(start_of_file(path, mosaic.shape, files));
  std::vector<Point3> positions;
  for (const LocatedVolumeTile& tile : mosaic.tiles) positions.push_back(tile.position);
  VolumeFusionSpec spec;
  spec.volume = mosaic.shape;
  spec.type = files.type();
  Progress progress(static_cast<std::size_t>((mosaic.shape.depth + spec.planes - 1) / spec.planes));
  fuse_volume_tiles(
      device, tiles, positions, [&](std::size_t i) { return files.read(i); }, spec,
      [&](std::int64_t /*first_plane*/, const HostVolume& planes) {
        progress.next("fusing");
        const auto* bytes = static_cast<const std::byte*>(planes.data);
        file.write({bytes, static_cast<std::size_t>(planes.shape.pixels()) * size_of(planes.type)});
      });
  file.commit();
}

}  // namespace

bool are_volume_tiles(const MosaicChoices& choices) {
  if (!choices.positions || positions_unknown(choices)) return false;
  const Path source = *choices.positions;
  if (source.extension() == ".txt" || is_ome_companion(source)) return false;
  bool has_z = false;
  Path first;
  try {
    has_z = has_column_z(source);
    const std::vector<TilePosition> tiles = read_tile_positions(source);
    if (tiles.empty()) return false;
    first = Path(choices.folder) / tiles.front().file;
  } catch (const FileError&) {
    return false;  // reported by what reads the files
  }
  if (!is_volume_tile(first)) return false;
  // The first page of a TIFF file may be the tile.
  if (!has_z && is_volume_format(first)) {
    throw UsageError(fmt::format(
        "{}: has no column z, but {} is a volume; add where its first plane lies, in voxels",
        source.string(), first.string()));
  }
  return has_z;
}

ExitStatus run_volume_mosaic(const MosaicChoices& choices) {
  const auto start = std::chrono::steady_clock::now();
  check_volume_choices(choices);
  const Config config = config_of(choices.device.config);
  VolumeMosaicReport report;
  report.folder = choices.folder;
  std::vector<VolumeMosaicTile> tiles;
  for (const VolumeTilePosition& tile : read_volume_positions(*choices.positions)) {
    report.files.push_back(tile.file);
    report.nominal.push_back(tile.position);
  }
  std::vector<std::string> inputs{*choices.positions};
  for (const std::string& file : report.files) {
    inputs.push_back((Path(choices.folder) / file).string());
  }
  check_outputs({{"--output", choices.output}, {"--json", choices.json}}, inputs);
  VolumeTiles files(choices.folder, report.files);
  for (const Point3& position : report.nominal) tiles.push_back({files.shape(), position});
  if (choices.output) refuse_scattered_volumes(tiles, files.shape(), *choices.positions);
  report.tile = files.shape();
  report.type = files.type();
  report.output = choices.output;
  report.json = choices.json;
  std::optional<AtomicFile> json;
  if (choices.json) json.emplace(*choices.json);
  if (choices.output) AtomicFile writable(*choices.output);
  const std::vector<Device> devices = open_each_chosen(choices.device, config);
  report.device = devices.front().info();
  report.mosaic = locate_volumes(devices, tiles, files, choices);
  if (choices.output) {
    write_volume(*choices.output, devices.front(), tiles, files, report.mosaic);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (json) {
    const std::string text = json_text(report);
    json->write(std::as_bytes(std::span(text)));
    json->commit();
  }
  program::report(human_text(report));
  return mosaic_status(report.mosaic);
}

}  // namespace warpalign::program
