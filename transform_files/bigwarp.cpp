// BigWarp's landmarks: lines of "name","active",moving coordinates,fixed coordinates, in the units
// of the images.
#include "text.hpp"
#include "transform_files.hpp"

#include <cstddef>

namespace warpalign::transform_files {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t end = line.find(',');
    std::string_view cell = trimmed(line.substr(0, end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell = trimmed(cell.substr(1, cell.size() - 2));
    }
    cells.push_back(cell);
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

bool is_missing(std::string_view cell) {
  return cell.empty() || cell == "Infinity" || cell == "-Infinity" || cell == "NaN";
}

}  // namespace

Landmarks read_bigwarp(std::string_view text) {
  Landmarks landmarks;
  std::size_t columns = 0;
  Lines lines(text);
  while (const auto line = lines.next()) {
    const std::vector<std::string_view> cells = cells_of(*line);
    if (columns == 0) columns = cells.size();
    if (cells.size() != columns || (columns != 6 && columns != 8)) {
      refuse("a line has " + std::to_string(cells.size()) + " values; a landmark has 6 " +
             "(name, active, 2 moving and 2 fixed coordinates), or 8 in three dimensions");
    }
    if (cells[1] == "false") continue;
    if (cells[1] != "true") refuse("a landmark's second value is neither true nor false");
    const std::size_t d = (columns - 2) / 2;
    bool complete = true;
    for (std::size_t i = 2; i < columns; ++i) complete = complete && !is_missing(cells[i]);
    if (!complete) continue;
    for (std::size_t i = 0; i < d; ++i) {
      landmarks.moving.push_back(number_of(cells[2 + i], "a landmark"));
      landmarks.reference.push_back(number_of(cells[2 + d + i], "a landmark"));
    }
  }
  if (landmarks.moving.empty()) refuse("it has no complete pair of points");
  landmarks.dimensions = columns == 6 ? 2 : 3;
  return landmarks;
}

std::string write_bigwarp(const Landmarks& landmarks) {
  const auto d = static_cast<std::size_t>(landmarks.dimensions);
  std::string text;
  for (std::size_t i = 0; i < landmarks.moving.size(); i += d) {
    const auto cells = [&](const std::vector<double>& values) {
      return "\"" + text_of(std::span(values).subspan(i, d), "\",\"") + "\"";
    };
    text += "\"Pt-" + std::to_string(i / d) + "\",\"true\"," + cells(landmarks.moving) + "," +
            cells(landmarks.reference) + "\n";
  }
  return text;
}

}  // namespace warpalign::transform_files
