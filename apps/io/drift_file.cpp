// Reads the drift of a stack, as `stack --json` and `--csv` write it.
#include "io/drift_file.hpp"

#include "io/image_file.hpp"
#include "io/transform_file.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

[[noreturn]] void refuse_drift(const std::string& name, const std::string& why) {
  throw FileError(fmt::format("{}: {}", name == "-" ? "standard input" : name, why));
}

/// The fields of a line of CSV (RFC 4180). Lines within quotes are not supported: reasons, the only
/// texts of this program that are quoted, have none.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// A table with named columns.
class CsvTable {
 public:
  CsvTable(std::string name, const std::string& text) : name_(std::move(name)), lines_(text) {
    std::string line;
    std::getline(lines_, line);
    header_ = csv_fields(line);
  }

  [[nodiscard]] bool has(std::string_view column) const {
    return std::ranges::find(header_, column) != header_.end();
  }
  /// Reads the next line. Returns false after the last one.
  bool next() {
    std::string line;
    while (std::getline(lines_, line)) {
      ++number_;
      if (line.find_first_not_of(" \r") == std::string::npos) continue;
      fields_ = csv_fields(line);
      if (fields_.size() != header_.size()) {
        refuse_drift(name_, fmt::format("line {} has {} fields, and the header {}; it may be cut "
                                        "short",
                                        number_ + 1, fields_.size(), header_.size()));
      }
      return true;
    }
    return false;
  }
  [[nodiscard]] const std::string& text(std::string_view column) const {
    const auto found = std::ranges::find(header_, column);
    if (found == header_.end()) {
      refuse_drift(name_, fmt::format("has no column '{}', which `stack --csv` writes", column));
    }
    return fields_[static_cast<std::size_t>(found - header_.begin())];
  }
  [[nodiscard]] double number(std::string_view column) const {
    const std::string& field = text(column);
    double value = 0;
    const char* end = field.data() + field.size();
    const auto [stop, failed] = std::from_chars(field.data(), end, value);
    if (failed != std::errc{} || stop != end || !std::isfinite(value)) {
      refuse_drift(name_,
                   fmt::format("line {}: {} is '{}', not a number", number_ + 1, column, field));
    }
    return value;
  }

 private:
  std::string name_;
  std::istringstream lines_;
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
  std::size_t number_ = 0;
};

constexpr const char* local_motion =
    "holds local or deformable motion, of which it has only the mean or the affine step; write the "
    "displacements with --field, and apply that file";

/// The matrix of an affine transform of images in pixels.
Affine affine_of(const Transform& transform, const std::string& name) {
  const auto matrix = transform.matrix();
  if (transform.dimensions() != 2 || !matrix || !matrix->is_affine() ||
      transform.coordinates() != Coordinates::pixels) {
    refuse_drift(name, "holds a transform that is not an affine one of the pixels of images");
  }
  const auto& m = matrix->m;
  return {m[0], m[1], m[3], m[4], m[5], m[7]};
}

std::vector<Affine> affine_transforms(const std::string& name) {
  std::vector<Affine> found;
  for (const Transform& transform : load_transforms(name, {}, {}).transforms) {
    found.push_back(affine_of(transform, name));
  }
  return found;
}

bool is_drift_csv(const std::string& text) { return text.starts_with("frame,file,"); }

std::optional<DriftFile> drift_of_json(const std::string& name, const std::string& text) {
  try {
    return parse_drift_json(text);
  } catch (const Error& error) {
    refuse_drift(name, error.message());
  }
}

std::optional<VolumeDriftFile> volume_drift_of_json(const std::string& name,
                                                    const std::string& text) {
  try {
    return parse_volume_drift_json(text);
  } catch (const Error& error) {
    refuse_drift(name, error.message());
  }
}

/// The matrix of an affine transform of volumes in voxels.
HomogeneousMatrix voxel_matrix_of(const Transform& transform, const std::optional<PointGrid>& grid,
                                  const std::string& name) {
  const bool is_world = transform.coordinates() == Coordinates::world;
  if (transform.dimensions() != 3 || !transform.matrix() || !transform.matrix()->is_affine()) {
    refuse_drift(name, "holds a transform that is not an affine one of volumes");
  }
  if (!is_world) return *transform.matrix();
  if (!grid) {
    refuse_drift(name,
                 "holds transforms of millimetres, and the volumes have no NIfTI header with a "
                 "position");
  }
  return *transform.in_coordinates(Coordinates::pixels, *grid, *grid).matrix();
}

bool can_warp(const HomogeneousMatrix& matrix) {
  const auto& m = matrix.m;
  const bool finite = std::ranges::all_of(m, [](double value) { return std::isfinite(value); });
  const double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) -
                             m[1] * (m[4] * m[10] - m[6] * m[8]) +
                             m[2] * (m[4] * m[9] - m[5] * m[8]);
  return finite && determinant > 0;
}

}  // namespace

DriftFile parse_drift_csv(const std::string& text, const std::string& name) {
  CsvTable table(name, text);
  if (table.has("spread")) refuse_drift(name, local_motion);
  DriftFile drift;
  while (table.next()) {
    KnownFrame frame;
    frame.usable = table.text("status") != "failed";
    if (frame.usable) {
      frame.reliable = table.text("reliable") == "true";
      frame.confidence = table.number("confidence");
      frame.correlation = table.number("correlation");
      frame.overlap = table.text("overlap").empty() ? 1 : table.number("overlap");
      frame.significance = table.number("significance");
      frame.similarity = {table.number("rotation_deg"),
                          table.number("scale"),
                          {table.number("translation_x"), table.number("translation_y")}};
    }
    drift.frames.push_back(frame);
  }
  return drift;
}

bool is_drift(const std::string& name) {
  const std::string text = read_bytes(name);
  return is_drift_csv(text) || drift_of_json(name, text);
}

DriftFile load_drift(const std::string& name) {
  const std::string text = read_bytes(name);
  DriftFile drift;
  if (is_drift_csv(text)) {
    drift = parse_drift_csv(text, name);
  } else if (std::optional<DriftFile> of_stack = drift_of_json(name, text)) {
    drift = *std::move(of_stack);
  } else {
    for (const Affine& matrix : affine_transforms(name)) {
      KnownFrame frame;
      frame.matrix = matrix;
      drift.frames.push_back(frame);
    }
  }
  if (drift.frames.empty()) refuse_drift(name, "holds no frames");
  return drift;
}

VolumeDriftFile load_volume_drift(const std::string& name, const std::optional<PointGrid>& grid) {
  const std::string text = read_bytes(name);
  if (text.starts_with("volume,status,") || text.starts_with("volume\tstatus\t")) {
    refuse_drift(name, "is a table of parameters, without the matrices; use the JSON of that run");
  }
  if (is_drift_csv(text) || drift_of_json(name, text)) {
    refuse_drift(name, "holds the transforms of images, and these are volumes");
  }
  VolumeDriftFile drift;
  if (std::optional<VolumeDriftFile> of_stack = volume_drift_of_json(name, text)) {
    drift = *std::move(of_stack);
  } else {
    transform_files::Geometry geometry;
    if (grid) geometry = {*grid, *grid};
    for (const Transform& transform : load_transforms(name, {}, geometry).transforms) {
      KnownVolume volume;
      volume.matrix = voxel_matrix_of(transform, grid, name);
      drift.volumes.push_back(volume);
    }
  }
  if (drift.volumes.empty()) refuse_drift(name, "holds no volumes");
  if (drift.motion == "deformable") {
    refuse_drift(name,
                 "holds the affine steps of deformations; write the transforms with --transforms, "
                 "and apply them by 'warpalign transform apply'");
  }
  for (std::size_t i = 0; i < drift.volumes.size(); ++i) {
    if (!drift.volumes[i].usable || can_warp(drift.volumes[i].matrix)) continue;
    refuse_drift(name, fmt::format("its transform {} is singular or mirrors", i));
  }
  return drift;
}

bool is_volume_drift(const std::string& name) {
  return volume_drift_of_json(name, read_bytes(name)).has_value();
}

ChannelMatrices load_channel_matrices(const std::string& name) {
  if (const auto drift = drift_of_json(name, read_bytes(name))) {
    if (drift->channels.empty()) {
      refuse_drift(name, "holds no transforms of channels; write it with --align-channels");
    }
    return drift->channels;
  }
  return affine_transforms(name);
}

}  // namespace warpalign::program
