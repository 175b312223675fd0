// What the reports of mosaics of images and of volumes have in common.
#pragma once

#include "reports/json.hpp"
#include "reports/report_lines.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/mosaic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program {

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

[[nodiscard]] inline Json point_json(const Point& point) { return {point.x, point.y}; }
[[nodiscard]] inline Json point_json(const Point3& point) { return {point.x, point.y, point.z}; }

/// `files`: of the tiles.
template <class Pair>
[[nodiscard]] Json pair_json(const std::vector<std::string>& files, const Pair& pair) {
  Json object;
  object["reference"] = files[pair.reference];
  object["moving"] = files[pair.moving];
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

/// The files of each component. M: Mosaic or VolumeMosaic.
template <class M>
[[nodiscard]] Json components_json(const std::vector<std::string>& files, const M& mosaic) {
  std::vector<std::vector<std::string>> components(mosaic.components);
  for (std::size_t i = 0; i < files.size(); ++i) {
    components[mosaic.tiles[i].component].push_back(files[i]);
  }
  Json array = Json::array();
  for (std::vector<std::string>& names : components) array.push_back(Json(std::move(names)));
  return array;
}

template <class M>
[[nodiscard]] std::size_t used_pairs(const M& mosaic) {
  return static_cast<std::size_t>(
      std::count_if(mosaic.pairs.begin(), mosaic.pairs.end(),
                    [](const auto& pair) { return pair.outcome == PairOutcome::used; }));
}

[[nodiscard]] inline double squared_length(const Point& p) { return p.x * p.x + p.y * p.y; }
[[nodiscard]] inline double squared_length(const Point3& p) {
  return p.x * p.x + p.y * p.y + p.z * p.z;
}

/// The root mean square residual of the used pairs, in pixels; 0 without pairs.
template <class M>
[[nodiscard]] double rms_residual(const M& mosaic) {
  double sum = 0;
  for (const auto& pair : mosaic.pairs) {
    if (pair.outcome == PairOutcome::used) sum += squared_length(pair.residual);
  }
  const std::size_t used = used_pairs(mosaic);
  return used > 0 ? std::sqrt(sum / static_cast<double>(used)) : 0;
}

/// The tiles that no pair places: the stage model does, if the positions are known.
template <class M>
[[nodiscard]] std::size_t tiles_by_stage(const M& mosaic) {
  return static_cast<std::size_t>(std::count_if(mosaic.tiles.begin(), mosaic.tiles.end(),
                                                [](const auto& tile) { return tile.pairs == 0; }));
}

/// The number of components with several tiles.
template <class M>
[[nodiscard]] std::size_t components_of_several(const M& mosaic) {
  std::map<std::size_t, std::size_t> sizes;
  for (const auto& tile : mosaic.tiles) ++sizes[tile.component];
  return static_cast<std::size_t>(
      std::count_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.second > 1; }));
}

/// The pairs that are left out.
template <class M>
[[nodiscard]] std::string left_out_lines(const std::vector<std::string>& files, const M& mosaic) {
  NamingLines lines("left out");
  for (const auto& pair : mosaic.pairs) {
    if (pair.outcome == PairOutcome::used) continue;
    lines.add(fmt::format("{} and {}: {}", files[pair.reference], files[pair.moving], pair.reason));
  }
  return lines.text();
}

/// The tiles and parts of the mosaic that no pair connects. `known`: whether the positions are.
template <class M>
[[nodiscard]] std::string unconnected_lines(const M& mosaic, bool known) {
  std::string text;
  if (const std::size_t count = tiles_by_stage(mosaic); count > 0) {
    text += report_line(
        known ? "by stage" : "unplaced",
        fmt::format("{} {} no used pair and {}", count, count == 1 ? "tile has" : "tiles have",
                    count == 1 ? (known ? "follows the stage model" : "lies beside the others")
                               : (known ? "follow the stage model" : "lie beside the others")));
  }
  if (const std::size_t count = components_of_several(mosaic); count > 1) {
    text += report_line(
        "parts", fmt::format("no used pair connects {} parts of the mosaic; {}", count,
                             known ? "the stage model places them" : "they lie side by side"));
  }
  return text;
}

}  // namespace warpalign::program
