// Mosaics: positions of tiles, and the fused picture.
#include "arrays.hpp"
#include "bindings.hpp"
#include "interruptible.hpp"
#include "kept_array.hpp"
#include "opened_device.hpp"

#include <warpalign/mosaic.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

/// Calls source(tile), which returns an array.
TilePixels pixels_from(const nb::callable& source, std::size_t tile) {
  const nb::gil_scoped_acquire acquired;
  auto owner = std::make_shared<KeptArray>(nb::cast<InputArray>(source(tile)));
  const HostImage image = host_image(owner->array);
  return {image, std::move(owner)};
}

TileVoxels voxels_from(const nb::callable& source, std::size_t tile) {
  const nb::gil_scoped_acquire acquired;
  auto owner = std::make_shared<KeptArray>(nb::cast<InputArray>(source(tile)));
  const HostVolume volume = host_volume(owner->array);
  return {volume, std::move(owner)};
}

/// (depth, height, width) and (x, y, z) of each volume tile.
std::vector<VolumeMosaicTile> tiles_of(const std::vector<std::array<std::int64_t, 3>>& shapes,
                                       const std::vector<std::array<double, 3>>& positions) {
  if (shapes.size() != positions.size()) refuse("there must be one position for each tile");
  std::vector<VolumeMosaicTile> tiles;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [depth, height, width] = shapes[i];
    const auto& [x, y, z] = positions[i];
    tiles.push_back({{width, height, depth}, {x, y, z}});
  }
  return tiles;
}

/// (height, width) and (x, y) of each tile.
std::vector<MosaicTile> tiles_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                                 const std::vector<std::pair<double, double>>& positions) {
  if (shapes.size() != positions.size()) refuse("there must be one position for each tile");
  std::vector<MosaicTile> tiles;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    tiles.push_back(
        {{shapes[i].second, shapes[i].first, 1}, {positions[i].first, positions[i].second}});
  }
  return tiles;
}

/// The center (x, y), the radius, and the terms along x and y; None without a distortion.
nb::object object_of(const TileDistortion& distortion) {
  if (distortion.is_zero()) return nb::none();
  nb::list x;
  nb::list y;
  for (std::size_t i = 0; i < TileDistortion::terms; ++i) {
    x.append(distortion.x[i]);
    y.append(distortion.y[i]);
  }
  return nb::make_tuple(distortion.center.x, distortion.center.y, distortion.radius, x, y);
}

/// What object_of() makes, as numbers: the center, the radius and the terms; empty for None.
TileDistortion distortion_of(const std::vector<double>& numbers) {
  TileDistortion distortion;
  if (numbers.empty()) return distortion;
  if (numbers.size() != 3 + 2 * TileDistortion::terms) refuse("the distortion needs 17 numbers");
  distortion.center = {numbers[0], numbers[1]};
  distortion.radius = numbers[2];
  for (std::size_t i = 0; i < TileDistortion::terms; ++i) {
    distortion.x[i] = numbers[3 + i];
    distortion.y[i] = numbers[3 + TileDistortion::terms + i];
  }
  return distortion;
}

/// The elements row by row.
nb::tuple tuple_of(const Homography& matrix) {
  const auto& h = matrix.h;
  return nb::make_tuple(h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]);
}

/// The kinds of motion that tiles may have.
Motion tile_motion_of(const std::string& name) {
  if (name == "translation") return Motion::translation;
  if (name == "rigid") return Motion::rigid;
  if (name == "similarity") return Motion::similarity;
  if (name == "homography") return Motion::homography;
  refuse("motion must be 'translation', 'rigid', 'similarity' or 'homography'");
}

nb::tuple tuple_of(const Point& point) { return nb::make_tuple(point.x, point.y); }
nb::tuple tuple_of(const Point3& point) { return nb::make_tuple(point.x, point.y, point.z); }

/// The linear part of the stage's matrix, row by row.
nb::tuple tuple_of(const StageModel& stage) {
  const Affine& m = stage.matrix;
  return nb::make_tuple(m.a, m.b, m.d, m.e);
}
nb::tuple tuple_of(const VolumeStageModel& stage) {
  const auto& m = stage.matrix.m;
  return nb::make_tuple(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]);
}

/// What mosaics of images and volumes have in common. Points are (x, y) or (x, y, z).
template <class Found>
nb::dict dict_of(const Found& mosaic) {
  nb::list positions;
  nb::list components;
  nb::list counts;
  for (const auto& tile : mosaic.tiles) {
    positions.append(tuple_of(tile.position));
    components.append(tile.component);
    counts.append(tile.pairs);
  }
  nb::list pairs;
  for (const auto& pair : mosaic.pairs) {
    pairs.append(nb::make_tuple(pair.reference, pair.moving, name_of(pair.outcome), pair.reason,
                                tuple_of(pair.shift), tuple_of(pair.uncertainty), pair.confidence,
                                pair.correlation, tuple_of(pair.residual)));
  }
  nb::dict found;
  found["positions"] = positions;
  found["components"] = components;
  found["counts"] = counts;
  found["pairs"] = pairs;
  found["stage_matrix"] = tuple_of(mosaic.stage);
  found["backlash"] = tuple_of(mosaic.stage.backlash);
  found["deviation"] = mosaic.stage.deviation;
  return found;
}

std::vector<Device> devices_of(const std::vector<OpenedDevice*>& opened) {
  std::vector<Device> devices;
  for (const OpenedDevice* device : opened) devices.push_back(device->device);
  return devices;
}

/// Calls progress(done, total), unless work is to end.
MosaicProgress progress_of(const nb::callable& progress, const std::atomic<bool>& go_on) {
  return [&](std::size_t done, std::size_t total) {
    if (!go_on) throw Interrupted();
    const nb::gil_scoped_acquire acquired;
    progress(done, total);
  };
}

/// Copies rows or planes of a fused array, unless work is to end.
void copy_fused(const std::atomic<bool>& go_on, const void* from, std::size_t bytes,
                std::byte* to) {
  if (!go_on) throw Interrupted();
  std::memcpy(to, from, bytes);
}

/// `source(i)` returns the pixels of tile i; `progress(done, total)` is called for each pair.
nb::dict locate(const std::vector<OpenedDevice*>& opened,
                const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                const std::vector<std::pair<double, double>>& positions, const nb::callable& source,
                const nb::callable& progress, double max_error, double min_confidence, int streams,
                bool estimate_distortion, bool positions_known, const std::string& motion) {
  const std::vector<Device> devices = devices_of(opened);
  const std::vector<MosaicTile> tiles = tiles_of(shapes, positions);
  std::atomic<bool> go_on{true};
  MosaicOptions options;
  options.positions_known = positions_known;
  options.max_error = max_error;
  options.min_confidence = min_confidence;
  options.batch.streams_per_device = streams;
  options.estimate_distortion = estimate_distortion;
  options.motion = tile_motion_of(motion);
  options.progress = progress_of(progress, go_on);
  Mosaic mosaic;
  run_interruptibly(go_on, [&] {
    mosaic = locate_tiles(
        devices, tiles, [&](std::size_t i) { return pixels_from(source, i); }, options);
  });
  nb::dict found = dict_of(mosaic);
  found["shape"] = nb::make_tuple(mosaic.shape.height, mosaic.shape.width);
  found["distortion"] = object_of(mosaic.distortion);
  nb::list matrices;
  for (const LocatedTile& tile : mosaic.tiles) matrices.append(tuple_of(tile.matrix));
  found["matrices"] = matrices;
  nb::list pair_matrices;
  for (const MosaicPair& pair : mosaic.pairs) pair_matrices.append(tuple_of(pair.matrix));
  found["pair_matrices"] = pair_matrices;
  return found;
}

/// The same for volumes.
nb::dict locate_volumes(const std::vector<OpenedDevice*>& opened,
                        const std::vector<std::array<std::int64_t, 3>>& shapes,
                        const std::vector<std::array<double, 3>>& positions,
                        const nb::callable& source, const nb::callable& progress, double max_error,
                        double min_confidence, int streams) {
  const std::vector<Device> devices = devices_of(opened);
  const std::vector<VolumeMosaicTile> tiles = tiles_of(shapes, positions);
  std::atomic<bool> go_on{true};
  VolumeMosaicOptions options;
  options.max_error = max_error;
  options.min_confidence = min_confidence;
  options.batch.streams_per_device = streams;
  options.progress = progress_of(progress, go_on);
  VolumeMosaic mosaic;
  run_interruptibly(go_on, [&] {
    mosaic = locate_volume_tiles(
        devices, tiles, [&](std::size_t i) { return voxels_from(source, i); }, options);
  });
  nb::dict found = dict_of(mosaic);
  found["shape"] = nb::make_tuple(mosaic.shape.depth, mosaic.shape.height, mosaic.shape.width);
  return found;
}

/// Writes the fused picture to `output`, of the tiles' type. `places`: positions or matrices.
template <class Place>
void fuse_at(const OpenedDevice& opened, const std::vector<MosaicTile>& tiles,
             const std::vector<Place>& places, const nb::callable& source,
             const OutputArray& output, const TileDistortion& distortion,
             std::optional<double> nodata) {
  if (output.ndim() != 2) refuse("the picture must have two dimensions");
  FusionSpec spec;
  spec.picture = shape_of(output, 2);
  spec.type = pixel_type_of(output.dtype());
  spec.distortion = distortion;
  spec.nodata = nodata;
  auto* pixels = static_cast<std::byte*>(output.data());
  const std::size_t row = static_cast<std::size_t>(spec.picture.width) * size_of(spec.type);
  std::atomic<bool> go_on{true};
  run_interruptibly(go_on, [&] {
    fuse_tiles(
        opened.device, tiles, places,
        [&](std::size_t i, int /*channel*/) { return pixels_from(source, i); }, spec,
        [&](std::int64_t first_row, std::span<const HostImage> channels) {
          const HostImage& rows = channels.front();
          copy_fused(go_on, rows.data, row * static_cast<std::size_t>(rows.height),
                     pixels + static_cast<std::size_t>(first_row) * row);
        });
  });
}

void fuse(const OpenedDevice& opened,
          const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
          const std::vector<std::pair<double, double>>& positions, const nb::callable& source,
          const OutputArray& output, const std::vector<double>& distortion,
          std::optional<double> nodata) {
  const std::vector<MosaicTile> tiles = tiles_of(shapes, positions);
  std::vector<Point> points;
  for (const MosaicTile& tile : tiles) points.push_back(tile.position);
  fuse_at(opened, tiles, points, source, output, distortion_of(distortion), nodata);
}

/// The same for rotated tiles, by the matrices for (x, y), row by row.
void fuse_rotated(const OpenedDevice& opened,
                  const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                  const std::vector<std::array<double, 9>>& rows, const nb::callable& source,
                  const OutputArray& output, std::optional<double> nodata) {
  std::vector<MosaicTile> tiles;
  for (const auto& [height, width] : shapes) tiles.push_back({{width, height, 1}, {}});
  const std::vector<Homography> matrices(rows.begin(), rows.end());
  fuse_at(opened, tiles, matrices, source, output, {}, nodata);
}

/// The same for volumes.
void fuse_volumes(const OpenedDevice& opened,
                  const std::vector<std::array<std::int64_t, 3>>& shapes,
                  const std::vector<std::array<double, 3>>& positions, const nb::callable& source,
                  const OutputArray& output, std::optional<double> nodata) {
  if (output.ndim() != 3) refuse("the fused volume must have three dimensions");
  const std::vector<VolumeMosaicTile> tiles = tiles_of(shapes, positions);
  std::vector<Point3> points;
  for (const VolumeMosaicTile& tile : tiles) points.push_back(tile.position);
  VolumeFusionSpec spec;
  spec.volume = shape_of(output, 3);
  spec.type = pixel_type_of(output.dtype());
  spec.nodata = nodata;
  auto* voxels = static_cast<std::byte*>(output.data());
  const std::size_t plane = static_cast<std::size_t>(spec.volume.plane()) * size_of(spec.type);
  std::atomic<bool> go_on{true};
  run_interruptibly(go_on, [&] {
    fuse_volume_tiles(
        opened.device, tiles, points, [&](std::size_t i) { return voxels_from(source, i); }, spec,
        [&](std::int64_t first_plane, const HostVolume& planes) {
          copy_fused(go_on, planes.data, plane * static_cast<std::size_t>(planes.shape.depth),
                     voxels + static_cast<std::size_t>(first_plane) * plane);
        });
  });
}

}  // namespace

void bind_mosaic(nb::module_& module) {
  module.def("locate_tiles", &locate, nb::arg("devices"), nb::arg("shapes"), nb::arg("positions"),
             nb::arg("source"), nb::arg("progress"), nb::arg("max_error"),
             nb::arg("min_confidence"), nb::arg("streams"), nb::arg("estimate_distortion"),
             nb::arg("positions_known"), nb::arg("motion"),
             "Locate the tiles of a mosaic; see :func:`warpalign.mosaic`. Positions are (x, y).");
  module.def("fuse_tiles", &fuse, nb::arg("device"), nb::arg("shapes"), nb::arg("positions"),
             nb::arg("source"), nb::arg("output"), nb::arg("distortion"), nb::arg("nodata").none(),
             "Fuse tiles to one picture; see :meth:`warpalign.Mosaic.fuse`.");
  module.def("fuse_rotated_tiles", &fuse_rotated, nb::arg("device"), nb::arg("shapes"),
             nb::arg("matrices"), nb::arg("source"), nb::arg("output"), nb::arg("nodata").none(),
             "Fuse rotated tiles to one picture, by their matrices for (x, y), row by row; see "
             ":meth:`warpalign.Mosaic.fuse`.");
  module.def("locate_volume_tiles", &locate_volumes, nb::arg("devices"), nb::arg("shapes"),
             nb::arg("positions"), nb::arg("source"), nb::arg("progress"), nb::arg("max_error"),
             nb::arg("min_confidence"), nb::arg("streams"),
             "Locate volume tiles; see :func:`warpalign.mosaic`. Positions are (x, y, z).");
  module.def("fuse_volume_tiles", &fuse_volumes, nb::arg("device"), nb::arg("shapes"),
             nb::arg("positions"), nb::arg("source"), nb::arg("output"), nb::arg("nodata").none(),
             "Fuse volume tiles to one volume; see :meth:`warpalign.Mosaic.fuse`.");
}

}  // namespace warpalign::python
