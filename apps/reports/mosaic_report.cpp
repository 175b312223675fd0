// The report of a mosaic as text and JSON.
#include "reports/mosaic_report.hpp"

#include "reports/json.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace warpalign::program {
namespace {

Json point_json(const Point& point) { return {point.x, point.y}; }

Json tile_json(const MosaicReport& report, std::size_t i) {
  const LocatedTile& tile = report.mosaic.tiles[i];
  Json object;
  object["file"] = report.files[i];
  object["matrix"] = {{1.0, 0.0, tile.position.x}, {0.0, 1.0, tile.position.y}};
  object["nominal"] = report.positions_known ? point_json(report.nominal[i]) : Json();
  object["placed_by"] = tile.pairs > 0 ? "pairs" : report.positions_known ? "stage" : "none";
  object["pairs"] = tile.pairs;
  object["component"] = tile.component;
  return object;
}

Json pair_json(const MosaicReport& report, const MosaicPair& pair) {
  Json object;
  object["reference"] = report.files[pair.reference];
  object["moving"] = report.files[pair.moving];
  object["outcome"] = name_of(pair.outcome);
  object["used"] = pair.outcome == PairOutcome::used;
  object["reason"] = pair.reason.empty() ? Json() : Json(pair.reason);
  object["shift"] = point_json(pair.shift);
  object["uncertainty"] = pair.uncertainty.x > 0 ? point_json(pair.uncertainty) : Json();
  object["confidence"] = pair.confidence;
  object["correlation"] = pair.correlation;
  object["residual"] = point_json(pair.residual);
  return object;
}

Json components_json(const MosaicReport& report) {
  std::vector<std::vector<std::string>> components(report.mosaic.components);
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    components[report.mosaic.tiles[i].component].push_back(report.files[i]);
  }
  Json array = Json::array();
  for (std::vector<std::string>& files : components) array.push_back(Json(std::move(files)));
  return array;
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

/// Lines that name up to 20 of something, and say how many more there are.
class NamingLines {
 public:
  explicit NamingLines(const char* label) : label_(label) {}

  void add(const std::string& line) {
    constexpr std::size_t max_lines = 20;
    if (++count_ <= max_lines) {
      text_ += report_line(label_, line);
    } else {
      ++more_;
    }
  }
  [[nodiscard]] std::string text() const {
    if (more_ == 0) return text_;
    return text_ + report_line("", fmt::format("and {} more; --json lists all", more_));
  }

 private:
  const char* label_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t more_ = 0;
};

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

std::size_t used_pairs(const Mosaic& mosaic) {
  return static_cast<std::size_t>(
      std::count_if(mosaic.pairs.begin(), mosaic.pairs.end(),
                    [](const MosaicPair& pair) { return pair.outcome == PairOutcome::used; }));
}

/// The root mean square residual of the used pairs, in pixels; 0 without pairs.
double rms_residual(const Mosaic& mosaic) {
  double sum = 0;
  for (const MosaicPair& pair : mosaic.pairs) {
    if (pair.outcome != PairOutcome::used) continue;
    sum += pair.residual.x * pair.residual.x + pair.residual.y * pair.residual.y;
  }
  const std::size_t used = used_pairs(mosaic);
  return used > 0 ? std::sqrt(sum / static_cast<double>(used)) : 0;
}

std::string left_out_lines(const MosaicReport& report) {
  NamingLines lines("left out");
  for (const MosaicPair& pair : report.mosaic.pairs) {
    if (pair.outcome == PairOutcome::used) continue;
    lines.add(fmt::format("{} and {}: {}", report.files[pair.reference], report.files[pair.moving],
                          pair.reason));
  }
  return lines.text();
}

/// The tiles and parts of the mosaic that no pair connects.
std::string unconnected_lines(const MosaicReport& report) {
  const bool known = report.positions_known;
  std::string text;
  if (const std::size_t count = tiles_by_stage(report.mosaic); count > 0) {
    text += report_line(
        known ? "by stage" : "unplaced",
        fmt::format("{} {} no used pair and {}", count, count == 1 ? "tile has" : "tiles have",
                    count == 1 ? (known ? "follows the stage model" : "lies beside the others")
                               : (known ? "follow the stage model" : "lie beside the others")));
  }
  if (const std::size_t count = components_of_several(report.mosaic); count > 1) {
    text += report_line(
        "parts", fmt::format("no used pair connects {} parts of the mosaic; {}", count,
                             known ? "the stage model places them" : "they lie side by side"));
  }
  return text;
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

std::size_t tiles_by_stage(const Mosaic& mosaic) {
  return static_cast<std::size_t>(std::count_if(mosaic.tiles.begin(), mosaic.tiles.end(),
                                                [](const LocatedTile& t) { return t.pairs == 0; }));
}

std::size_t components_of_several(const Mosaic& mosaic) {
  std::map<std::size_t, std::size_t> sizes;
  for (const LocatedTile& tile : mosaic.tiles) ++sizes[tile.component];
  return static_cast<std::size_t>(
      std::count_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.second > 1; }));
}

std::string json_text(const MosaicReport& report) {
  const Mosaic& mosaic = report.mosaic;
  Json object;
  object["folder"] = report.folder;
  object["width"] = mosaic.shape.width;
  object["height"] = mosaic.shape.height;
  object["pixel_size_um"] = report.pixel_size ? Json(*report.pixel_size) : Json();
  Json tiles = Json::array();
  for (std::size_t i = 0; i < mosaic.tiles.size(); ++i) tiles.push_back(tile_json(report, i));
  object["tiles"] = tiles;
  Json pairs = Json::array();
  for (const MosaicPair& pair : mosaic.pairs) pairs.push_back(pair_json(report, pair));
  object["pairs"] = pairs;
  object["rms_residual"] = rms_residual(mosaic);
  object["components"] = components_json(report);
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
  text += unconnected_lines(report);
  text += left_out_lines(report);
  std::vector<WrittenFile> files;
  if (report.output) files.push_back({"mosaic", *report.output, "OME-TIFF"});
  if (report.json) files.push_back({"json", *report.json, "positions and pairs"});
  if (report.located) files.push_back({"located", *report.located, "positions"});
  if (report.page) files.push_back({"report", *report.page, "HTML"});
  return text + closing_lines(report.device, files, report.seconds, {});
}

}  // namespace warpalign::program
