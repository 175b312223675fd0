// The transforms of the program's and the Python package's JSON.
#include "io/drift_file.hpp"
#include "io/transform_file.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpalign::program {
namespace {

using nlohmann::json;
using transform_files::TransformFile;

constexpr std::size_t max_transforms = 1000000;

[[noreturn]] void refuse_json_transform(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, what);
}

constexpr std::array<const char*, 5> kinds{"translation", "rigid", "similarity", "affine",
                                           "homography"};

/// "kind" of a saved transform, or "motion" of a registration.
TransformKind kind_of(const json& record, const HomogeneousMatrix& matrix) {
  std::string name = record.value("kind", record.value("motion", std::string()));
  if (name == "rotation") name = "rigid";
  const auto* const found = std::find(kinds.begin(), kinds.end(), name);
  if (found != kinds.end()) return static_cast<TransformKind>(found - kinds.begin());
  return matrix.is_affine() ? TransformKind::affine : TransformKind::homography;
}

Transform transform_of(const json& record) {
  if (!record.is_object() || !record.contains("matrix"))
    refuse_json_transform("it has no member 'matrix'");
  const auto rows = record.at("matrix").get<std::vector<std::vector<double>>>();
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  const bool complete =
      std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == columns; });
  if (!complete || (columns != 3 && columns != 4) ||
      (rows.size() != columns && rows.size() + 1 != columns)) {
    refuse_json_transform("its matrix has not 2 or 3 rows of 3 numbers, or 3 or 4 rows of 4");
  }
  HomogeneousMatrix matrix;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t row = i + 1 == columns ? 3 : i;
      matrix.m[4 * row + (j + 1 == columns ? 3 : j)] = rows[i][j];
    }
  }
  const std::string coordinates = record.value("coordinates", std::string("pixels"));
  if (coordinates != "pixels" && coordinates != "world")
    refuse_json_transform("its coordinates are unknown");
  return Transform::of_matrix(kind_of(record, matrix), static_cast<int>(columns) - 1, matrix,
                              coordinates == "world" ? Coordinates::world : Coordinates::pixels);
}

/// "reference" or "moving" of a saved transform: shape (slowest axis first), spacing, origin and
/// direction.
std::optional<PointGrid> grid_of(const json& record, const char* name) {
  const auto found = record.find(name);
  if (found == record.end() || !found->is_object()) return std::nullopt;
  const auto shape = found->at("shape").get<std::vector<std::int64_t>>();
  const auto spacing = found->at("spacing").get<std::vector<double>>();
  const auto origin = found->at("origin").get<std::vector<double>>();
  const auto direction = found->at("direction").get<std::vector<std::vector<double>>>();
  const std::size_t d = shape.size();
  const bool fits = (d == 2 || d == 3) && spacing.size() == d && origin.size() == d &&
                    direction.size() == d &&
                    std::all_of(direction.begin(), direction.end(),
                                [&](const auto& row) { return row.size() == d; });
  if (!fits) refuse_json_transform(fmt::format("its '{}' is not the geometry of an image", name));
  PointGrid grid;
  grid.shape = {shape[d - 1], shape[d - 2], d == 3 ? shape[0] : 1};
  grid.spacing = {spacing[0], spacing[1], d == 3 ? spacing[2] : 1};
  grid.origin = {origin[0], origin[1], d == 3 ? origin[2] : 0};
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) grid.direction[3 * i + j] = direction[i][j];
  }
  return grid;
}

TransformFile file_of(const json& record) {
  TransformFile file;
  for (const char* const list : {"frames", "volumes", "transforms"}) {
    if (!record.is_object() || !record.contains(list)) continue;
    const json& all = record.at(list);
    if (!all.is_array() || all.empty() || all.size() > max_transforms) {
      refuse_json_transform(fmt::format("its '{}' are no list of transforms", list));
    }
    for (const json& one : all) {
      if (!one.is_object() || !one.contains("matrix")) {
        refuse_json_transform(
            fmt::format("entry {} of its '{}' has no matrix", file.transforms.size(), list));
      }
      file.transforms.push_back(transform_of(one));
    }
    return file;
  }
  file.transforms.push_back(transform_of(record));
  file.geometry = {grid_of(record, "reference"), grid_of(record, "moving")};
  return file;
}

double number_or(const json& record, const char* name, double usual) {
  const auto found = record.find(name);
  return found == record.end() || !found->is_number() ? usual : found->get<double>();
}

void read_scores(const json& record, KnownResult& result) {
  result.confidence = number_or(record, "confidence", 1);
  result.correlation = number_or(record, "correlation", 1);
  result.overlap = number_or(record, "overlap", 1);
}

Affine affine_of_rows(const json& record) {
  const auto rows = record.at("matrix").get<std::vector<std::vector<double>>>();
  const bool complete = rows.size() == 2 && rows[0].size() == 3 && rows[1].size() == 3;
  if (!complete) refuse_json_transform("a matrix in it has not 2 rows of 3 numbers");
  return {rows[0][0], rows[0][1], rows[0][2], rows[1][0], rows[1][1], rows[1][2]};
}

KnownFrame known_frame(const json& record) {
  KnownFrame frame;
  frame.usable = record.at("status").get<std::string>() != "failed";
  if (!frame.usable) return frame;
  if (record.contains("spread")) {
    refuse_json_transform(
        "holds local or deformable motion, of which it has only the mean or the affine step; write "
        "the displacements with --field, and apply that file");
  }
  frame.matrix = affine_of_rows(record);
  frame.reliable = record.at("reliable").get<bool>();
  read_scores(record, frame);
  frame.significance = number_or(record, "significance", 0);
  return frame;
}

KnownVolume known_volume(const json& record) {
  KnownVolume volume;
  const auto status = record.at("status").get<std::string>();
  volume.usable = status != "failed";
  if (!volume.usable) return volume;
  const auto rows = record.at("matrix").get<std::vector<std::vector<double>>>();
  const bool complete = rows.size() == 3 &&
                        std::ranges::all_of(rows, [](const auto& row) { return row.size() == 4; });
  if (!complete) refuse_json_transform("a matrix in it has not 3 rows of 4 numbers");
  for (std::size_t i = 0; i < 3; ++i) {
    std::ranges::copy(rows[i], volume.matrix.m.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  volume.reliable = status == "ok";
  read_scores(record, volume);
  return volume;
}

/// The list of this name in a report that is not cut short.
const json& whole_list(const json& stack, const char* name) {
  const json& list = stack.at(name);
  if (!list.is_array() || list.size() > max_transforms) {
    refuse_json_transform(fmt::format("its '{}' are no list", name));
  }
  if (!stack.contains("ok")) refuse_json_transform("it is cut short");
  return list;
}

/// Reads JSON that has both members by `read`; returns nothing for other texts.
template <class Read>
auto report_of(const std::string& text, const char* member, const char* other, const Read& read)
    -> std::optional<decltype(read(json()))> {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return {};
  try {
    const json stack = json::parse(text);
    if (!stack.contains(member) || !stack.contains(other)) return {};
    return read(stack);
  } catch (const json::exception&) {
    refuse_json_transform("it is not the JSON of a stack; it may be cut short");
  }
}

VolumeDriftFile volume_drift_of(const json& stack) {
  VolumeDriftFile drift;
  if (stack.contains("width")) {
    drift.shape =
        Shape{stack.at("width").get<std::int64_t>(), stack.at("height").get<std::int64_t>(),
              stack.at("depth").get<std::int64_t>()};
  }
  drift.motion = stack.at("motion").get<std::string>();
  for (const json& volume : whole_list(stack, "volumes")) {
    drift.volumes.push_back(known_volume(volume));
  }
  return drift;
}

DriftFile drift_of(const json& stack) {
  DriftFile drift;
  drift.shape =
      Shape{stack.at("width").get<std::int64_t>(), stack.at("height").get<std::int64_t>(), 1};
  for (const json& frame : whole_list(stack, "frames")) drift.frames.push_back(known_frame(frame));
  if (const auto channels = stack.find("channels"); channels != stack.end()) {
    for (const json& channel : *channels) drift.channels.push_back(affine_of_rows(channel));
  }
  return drift;
}

}  // namespace

std::optional<DriftFile> parse_drift_json(const std::string& text) {
  return report_of(text, "frames", "width", drift_of);
}

std::optional<VolumeDriftFile> parse_volume_drift_json(const std::string& text) {
  return report_of(text, "volumes", "series", volume_drift_of);
}

TransformFile parse_transform_json(const std::string& text) {
  try {
    return file_of(json::parse(text));
  } catch (const json::exception&) {
    refuse_json_transform(
        "it is not the JSON of a registration or of a transform; it may be cut short");
  }
}

}  // namespace warpalign::program
