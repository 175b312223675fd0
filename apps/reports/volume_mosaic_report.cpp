// The report of a mosaic of volumes as text and JSON.
#include "reports/volume_mosaic_report.hpp"

#include "reports/json.hpp"
#include "reports/mosaic_lines.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

Json volume_tile_json(const VolumeMosaicReport& report, std::size_t i) {
  const LocatedVolumeTile& tile = report.mosaic.tiles[i];
  const auto& [x, y, z] = tile.position;
  Json object;
  object["file"] = report.files[i];
  object["matrix"] = {{1.0, 0.0, 0.0, x}, {0.0, 1.0, 0.0, y}, {0.0, 0.0, 1.0, z}};
  object["nominal"] = point_json(report.nominal[i]);
  object["placed_by"] = tile.pairs > 0 ? "pairs" : "stage";
  object["pairs"] = tile.pairs;
  object["component"] = tile.component;
  return object;
}

Json volume_stage_json(const VolumeStageModel& stage) {
  const auto& m = stage.matrix.m;
  return Json::object({{"matrix", {{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}},
                       {"backlash", point_json(stage.backlash)},
                       {"deviation", stage.deviation}});
}

}  // namespace

std::string json_text(const VolumeMosaicReport& report) {
  const VolumeMosaic& mosaic = report.mosaic;
  Json object;
  object["folder"] = report.folder;
  object["width"] = mosaic.shape.width;
  object["height"] = mosaic.shape.height;
  object["depth"] = mosaic.shape.depth;
  Json tiles = Json::array();
  for (std::size_t i = 0; i < mosaic.tiles.size(); ++i) {
    tiles.push_back(volume_tile_json(report, i));
  }
  object["tiles"] = tiles;
  Json pairs = Json::array();
  for (const VolumeMosaicPair& pair : mosaic.pairs) {
    pairs.push_back(pair_json(report.files, pair));
  }
  object["pairs"] = pairs;
  object["rms_residual"] = rms_residual(mosaic);
  object["components"] = components_json(report.files, mosaic);
  object["stage"] = volume_stage_json(mosaic.stage);
  object["output"] = report.output ? Json(*report.output) : Json();
  object["device"] = report.device.id;
  object["seconds"] = report.seconds;
  return object.text();
}

std::string human_text(const VolumeMosaicReport& report) {
  const VolumeMosaic& mosaic = report.mosaic;
  std::string text =
      fmt::format("\n  {} tiles of {} voxels, {}, make a mosaic of {}\n", mosaic.tiles.size(),
                  to_string(report.tile), name_of(report.type), to_string(mosaic.shape));
  text += report_line("pairs",
                      fmt::format("{} of {} used, residual {:.3f} voxels rms", used_pairs(mosaic),
                                  mosaic.pairs.size(), rms_residual(mosaic)));
  text += report_line("stage", fmt::format("deviation {:.2f} voxels", mosaic.stage.deviation));
  text += unconnected_lines(mosaic, true);
  text += left_out_lines(report.files, mosaic);
  std::vector<WrittenFile> files;
  if (report.output) files.push_back({"mosaic", *report.output, "a volume"});
  if (report.json) files.push_back({"json", *report.json, "positions and pairs"});
  return text + closing_lines(report.device, files, report.seconds, {});
}

}  // namespace warpalign::program
