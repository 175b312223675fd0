// The report of a mosaic as text and JSON.
#include "reports/mosaic_report.hpp"

#include "reports/json.hpp"
#include "reports/mosaic_lines.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace warpalign::program {
namespace {

/// Two rows, or three of a homography.
Json matrix_json(const Homography& matrix, Motion motion) {
  const auto& h = matrix.h;
  if (motion == Motion::homography) {
    return {{h[0], h[1], h[2]}, {h[3], h[4], h[5]}, {h[6], h[7], h[8]}};
  }
  return {{h[0], h[1], h[2]}, {h[3], h[4], h[5]}};
}

Json tile_json(const MosaicReport& report, std::size_t i) {
  const LocatedTile& tile = report.mosaic.tiles[i];
  Json object;
  object["file"] = report.files[i];
  object["matrix"] = matrix_json(tile.matrix, report.motion);
  object["nominal"] = report.positions_known ? point_json(report.nominal[i]) : Json();
  object["placed_by"] = tile.pairs > 0 ? "pairs" : report.positions_known ? "stage" : "none";
  object["pairs"] = tile.pairs;
  object["component"] = tile.component;
  return object;
}

/// The camera's angle, counter-clockwise as displayed, as the stage model has it.
double angle_deg(const StageModel& stage) {
  return std::atan2(stage.matrix.b - stage.matrix.d, stage.matrix.a + stage.matrix.e) * 180 /
         std::numbers::pi;
}

Json stage_json(const StageModel& stage) {
  const Affine& m = stage.matrix;
  return Json::object({{"matrix", {{m.a, m.b}, {m.d, m.e}}},
                       {"angle_deg", angle_deg(stage)},
                       {"backlash", point_json(stage.backlash)},
                       {"deviation", stage.deviation}});
}

Json distortion_json(const TileDistortion& distortion) {
  if (distortion.is_zero()) return {};
  const auto numbers = [](const std::array<double, TileDistortion::terms>& values) {
    Json array = Json::array();
    for (const double value : values) array.push_back(Json(value));
    return array;
  };
  Json object;
  object["center"] = point_json(distortion.center);
  object["radius"] = distortion.radius;
  object["x"] = numbers(distortion.x);
  object["y"] = numbers(distortion.y);
  return object;
}

Json skipped_json(const std::vector<SkippedTile>& skipped) {
  Json array = Json::array();
  for (const SkippedTile& tile : skipped) {
    array.push_back(Json::object({{"file", Json(tile.file)}, {"reason", Json(tile.reason)}}));
  }
  return array;
}

std::string skipped_lines(const MosaicReport& report) {
  NamingLines lines("skipped");
  for (const SkippedTile& tile : report.skipped) lines.add(tile.reason);
  return lines.text();
}

Json flat_field_json(const std::optional<FlatFieldReport>& field) {
  if (!field) return {};
  return Json::object({{"source", Json(field->source)},
                       {"dark", field->dark ? Json(*field->dark) : Json()},
                       {"least", field->least},
                       {"largest", field->largest}});
}

/// The largest displacement at an edge of a tile, in pixels.
double largest_displacement(const MosaicReport& report) {
  constexpr int steps = 16;
  const auto right = static_cast<double>(report.tile.width - 1);
  const auto bottom = static_cast<double>(report.tile.height - 1);
  double largest = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = right * i / steps;
    const double y = bottom * i / steps;
    for (const Point& p : {Point{x, 0}, Point{x, bottom}, Point{0, y}, Point{right, y}}) {
      const Point d = report.mosaic.distortion.displacement(p);
      largest = std::max(largest, std::hypot(d.x, d.y));
    }
  }
  return largest;
}

const char* motion_words(Motion motion) {
  switch (motion) {
    case Motion::rigid:
      return "rigid";
    case Motion::similarity:
      return "similarity";
    case Motion::homography:
      return "homography";
    default:
      return "translation";
  }
}

/// How far the tiles with pairs are rotated and scaled at their middles.
std::string turn_text(const MosaicReport& report) {
  const Point middle{static_cast<double>(report.tile.width) / 2,
                     static_cast<double>(report.tile.height) / 2};
  double angle = 0;
  double least = 1;
  double largest = 1;
  for (const LocatedTile& tile : report.mosaic.tiles) {
    if (tile.pairs == 0) continue;
    const Affine m = tile.matrix.affine_at(middle);
    angle = std::max(angle, std::abs(std::atan2(m.d - m.b, m.a + m.e)) * 180 / std::numbers::pi);
    const double scale = std::sqrt(std::abs(m.a * m.e - m.b * m.d));
    least = std::min(least, scale);
    largest = std::max(largest, scale);
  }
  std::string text = fmt::format("{}: tiles are rotated by up to {:.3f} degrees",
                                 motion_words(report.motion), angle);
  if (report.motion != Motion::rigid)
    text += fmt::format(", scaled {:.4f} to {:.4f}", least, largest);
  return text;
}

std::string stage_text(const StageModel& stage) {
  const double x = std::hypot(stage.matrix.a, stage.matrix.d);
  const double y = std::hypot(stage.matrix.b, stage.matrix.e);
  std::string text = fmt::format(
      "camera angle {:.3f} degrees, scale {:.5f} x {:.5f}, deviation "
      "{:.2f} px",
      angle_deg(stage), x, y, stage.deviation);
  if (stage.backlash.x != 0 || stage.backlash.y != 0) {
    text += fmt::format(", backlash {:.2f}, {:.2f} px", stage.backlash.x, stage.backlash.y);
  }
  return text;
}

}  // namespace

std::string json_text(const MosaicReport& report) {
  const Mosaic& mosaic = report.mosaic;
  Json object;
  object["folder"] = report.folder;
  object["width"] = mosaic.shape.width;
  object["height"] = mosaic.shape.height;
  object["motion"] = motion_words(report.motion);
  object["pixel_size_um"] = report.pixel_size ? Json(*report.pixel_size) : Json();
  Json tiles = Json::array();
  for (std::size_t i = 0; i < mosaic.tiles.size(); ++i) tiles.push_back(tile_json(report, i));
  object["tiles"] = tiles;
  Json pairs = Json::array();
  for (const MosaicPair& pair : mosaic.pairs) {
    Json described = pair_json(report.files, pair);
    if (report.motion != Motion::translation) {
      described["matrix"] = matrix_json(pair.matrix, report.motion);
    }
    pairs.push_back(described);
  }
  object["pairs"] = pairs;
  object["rms_residual"] = rms_residual(mosaic);
  object["components"] = components_json(report.files, mosaic);
  object["stage"] = report.positions_known ? stage_json(mosaic.stage) : Json();
  object["distortion"] = distortion_json(mosaic.distortion);
  object["skipped"] = skipped_json(report.skipped);
  object["flat_field"] = flat_field_json(report.flat_field);
  object["output"] = report.output ? Json(*report.output) : Json();
  object["device"] = report.device.id;
  object["seconds"] = report.seconds;
  return object.text();
}

std::string human_text(const MosaicReport& report) {
  const Mosaic& mosaic = report.mosaic;
  std::string text =
      fmt::format("\n  {} tiles of {} make a mosaic of {} x {}\n", mosaic.tiles.size(),
                  report.description, mosaic.shape.width, mosaic.shape.height);
  text +=
      report_line("pairs", fmt::format("{} of {} used, residual {:.3f} px rms", used_pairs(mosaic),
                                       mosaic.pairs.size(), rms_residual(mosaic)));
  if (report.resumed_pairs > 0) {
    text += report_line(
        "resumed",
        fmt::format("{} registrations from the journal of an earlier run", report.resumed_pairs));
  }
  if (report.motion != Motion::translation) {
    text += report_line("motion", turn_text(report));
  }
  if (report.positions_known) text += report_line("stage", stage_text(mosaic.stage));
  if (!mosaic.distortion.is_zero()) {
    text += report_line("distortion", fmt::format("common to all tiles, up to {:.2f} px; removed",
                                                  largest_displacement(report)));
  }
  if (report.flat_field) {
    text += report_line("flat field",
                        fmt::format("{}, {:.3f} to {:.3f} of its mean; divided by",
                                    report.flat_field->source == "auto" ? "estimated from the tiles"
                                                                        : report.flat_field->source,
                                    report.flat_field->least, report.flat_field->largest));
  }
  text += skipped_lines(report);
  text += unconnected_lines(mosaic, report.positions_known);
  text += left_out_lines(report.files, mosaic);
  std::vector<WrittenFile> files;
  if (report.output) files.push_back({"mosaic", *report.output, "OME-TIFF"});
  if (report.json) files.push_back({"json", *report.json, "positions and pairs"});
  if (report.located) files.push_back({"located", *report.located, "positions"});
  if (report.page) files.push_back({"report", *report.page, "HTML"});
  return text + closing_lines(report.device, files, report.seconds, {});
}

}  // namespace warpalign::program
