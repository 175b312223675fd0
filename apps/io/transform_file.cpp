// Reads and writes transforms: the program's JSON, and the files of other tools.
#include "io/transform_file.hpp"

#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"
#include "io/nifti.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace warpalign::program {
namespace {

using transform_files::Format;
using transform_files::TransformFile;

constexpr std::size_t max_transform_bytes = std::size_t{256} << 20;

std::string shown_name(const std::string& name) { return name == "-" ? "standard input" : name; }

std::string read_standard_input() {
  std::string bytes(std::size_t{1} << 16, '\0');
  std::size_t filled = 0;
  while (const std::size_t got =
             std::fread(bytes.data() + filled, 1, bytes.size() - filled, stdin)) {
    filled += got;
    if (filled > max_transform_bytes) throw FileError("standard input: is larger than 256 MiB");
    if (filled == bytes.size()) bytes.resize(2 * filled);
  }
  bytes.resize(filled);
  if (bytes.empty()) throw FileError("standard input: is empty");
  return bytes;
}

/// The grid of a matrix from indices to RAS millimetres.
PointGrid grid_of(const Shape& shape, const HomogeneousMatrix& index_to_world) {
  const auto& ras = index_to_world.m;
  PointGrid grid{.shape = shape, .origin = {-ras[3], -ras[7], ras[11]}};
  std::array<double, 3> spacing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    spacing[axis] = std::hypot(ras[axis], ras[4 + axis], ras[8 + axis]);
    if (!(spacing[axis] > 0) || !std::isfinite(spacing[axis])) {
      throw FileError("its header gives voxels without an extent");
    }
    for (std::size_t row = 0; row < 3; ++row) {
      const double sign = row < 2 ? -1 : 1;  // LPS
      grid.direction[3 * row + axis] = sign * ras[4 * row + axis] / spacing[axis];
    }
  }
  grid.spacing = {spacing[0], spacing[1], spacing[2]};
  return grid;
}

bool is_json(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (bytes[first] == '{' || bytes[first] == '[');
}

Format chosen_format(const std::string& name, const std::optional<std::string>& format,
                     const std::string& bytes) {
  if (format) {
    if (const auto found = transform_files::format_named(*format)) return *found;
    throw UsageError(fmt::format("invalid value '{}' for --from (choose from: json, {})", *format,
                                 fmt::join(transform_files::format_names(), ", ")));
  }
  if (const auto found = transform_files::format_of(name, bytes)) return *found;
  throw FileError(fmt::format("{}: its format is not recognized; name it with --from (json, {})",
                              shown_name(name), fmt::join(transform_files::format_names(), ", ")));
}

/// Reads the file, and for elastix those that it names.
TransformFile read_file(const std::string& name, const std::string& bytes, Format format,
                        const transform_files::Geometry& geometry, int depth) {
  TransformFile file = transform_files::read(format, bytes, geometry);
  if (file.initial.empty()) return file;
  if (depth == 20) {
    throw FileError("too many files name another one as their initial transform");
  }
  const std::filesystem::path initial =
      std::filesystem::path(name).parent_path() / std::filesystem::path(file.initial).filename();
  const TransformFile first =
      read_file(initial.string(), read_bytes(initial.string()), format, geometry, depth + 1);
  file.transforms.front() = file.transforms.front() * first.transforms.front();
  return file;
}

}  // namespace

std::string read_bytes(const std::string& name) {
  if (name == "-") return read_standard_input();
  try {
    FileBytes file(name);
    const std::span<const std::byte> bytes = file.all();
    if (bytes.size() > max_transform_bytes) throw FileError("is larger than 256 MiB");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", name, error.what()));
  }
}

void write_bytes(const std::string& name, const std::string& bytes) {
  if (name == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);  // main() checks the stream
    return;
  }
  AtomicFile file(name);
  file.write(std::as_bytes(std::span(bytes)));
  file.commit();
}

PointGrid load_grid(const std::string& name) {
  if (is_nifti_name(name)) {
    try {
      const NiftiReader reader(name);
      const std::vector<std::int64_t>& extents = reader.extents();
      return grid_of({extents[2], extents[1], extents[0]},
                     nifti_geometry(reader.header()).index_to_world);
    } catch (const FileError& error) {
      throw FileError(fmt::format("{}: {}", name, error.what()));
    }
  }
  return {.shape = load_array_file(name).first().shape()};
}

transform_files::Geometry load_geometry(const std::optional<std::string>& reference,
                                        const std::optional<std::string>& moving) {
  transform_files::Geometry geometry;
  if (reference) geometry.reference = load_grid(*reference);
  if (moving) geometry.moving = load_grid(*moving);
  return geometry;
}

TransformFile load_transforms(const std::string& name, const std::optional<std::string>& format,
                              const transform_files::Geometry& geometry) {
  const std::string bytes = read_bytes(name);
  try {
    TransformFile file =
        format == "json" || (!format && is_json(bytes))
            ? parse_transform_json(bytes)
            : read_file(name, bytes, chosen_format(name, format, bytes), geometry, 0);
    if (geometry.reference) file.geometry.reference = geometry.reference;
    if (geometry.moving) file.geometry.moving = geometry.moving;
    return file;
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", shown_name(name), error.message()));
  }
}

}  // namespace warpalign::program
