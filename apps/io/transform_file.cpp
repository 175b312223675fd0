// Reads and writes transforms: the program's JSON, and the files of other tools.
#include "io/transform_file.hpp"

#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"
#include "io/gzip.hpp"
#include "io/nifti.hpp"
#include "io/nifti_field.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>

namespace warpalign::program {
namespace {

using transform_files::Format;
using transform_files::TransformFile;

// Of texts, and of arrays and warps. A field for 256^3 voxels has 384 MiB in double precision.
constexpr std::size_t max_text_bytes = std::size_t{256} << 20;
constexpr std::size_t max_transform_bytes = std::size_t{2} << 30;

std::string shown_name(const std::string& name) { return name == "-" ? "standard input" : name; }

std::string read_standard_input() {
  std::string bytes(std::size_t{1} << 16, '\0');
  std::size_t filled = 0;
  while (const std::size_t got =
             std::fread(bytes.data() + filled, 1, bytes.size() - filled, stdin)) {
    filled += got;
    if (filled > max_transform_bytes) throw FileError("standard input: is larger than 2 GiB");
    if (filled == bytes.size()) bytes.resize(2 * filled);
  }
  bytes.resize(filled);
  if (bytes.empty()) throw FileError("standard input: is empty");
  return bytes;
}

/// What the bytes of a compressed file stand for; others are returned as they are.
std::string decompressed(std::string bytes, const std::string& name) {
  const auto file = std::as_bytes(std::span(bytes));
  if (!is_gzip(file)) return bytes;
  try {
    GzipReader reader(file);
    std::string all;
    std::string piece(std::size_t{1} << 20, '\0');
    while (const std::size_t got = reader.read(std::as_writable_bytes(std::span(piece)))) {
      if (all.size() + got > max_transform_bytes) throw FileError("is larger than 2 GiB");
      all.append(piece, 0, got);
    }
    if (!reader.ended()) throw FileError("is truncated: its checksum is missing");
    return all;
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", shown_name(name), error.what()));
  }
}

bool is_json(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (bytes[first] == '{' || bytes[first] == '[');
}

/// Throws FileError for what only the Python package reads, with the way out.
void refuse_hdf5(const std::string& name, const std::optional<std::string>& format,
                 const std::string& bytes) {
  if (format != hdf5_format && !bytes.starts_with("\x89HDF")) return;
  throw FileError(
      fmt::format("{}: is HDF5, which only the Python package reads. Convert it with python3 -c "
                  "\"import warpalign; warpalign.Transform.load('{}').save('transform.npz')\"",
                  shown_name(name), name == "-" ? "transform.h5" : name));
}

void check_text_size(const std::string& name, const std::string& bytes) {
  if (bytes.size() <= max_text_bytes) return;
  throw FileError(fmt::format("{}: is larger than 256 MiB", shown_name(name)));
}

Format chosen_format(const std::string& name, const std::optional<std::string>& format,
                     const std::string& bytes) {
  if (format) {
    if (const auto found = transform_files::format_named(*format)) return *found;
    throw UsageError(fmt::format("invalid value '{}' for --from (choose from: {})", *format,
                                 fmt::join(transform_format_names(), ", ")));
  }
  if (const auto found = transform_files::format_of(name, bytes)) return *found;
  throw FileError(fmt::format("{}: its format is not recognized; name it with --from ({})",
                              shown_name(name), fmt::join(transform_format_names(), ", ")));
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

/// Whether a file is a field in NIfTI. Those of standard input are in `bytes`.
bool is_field(const std::string& name, const std::optional<std::string>& format,
              const std::string& bytes) {
  if (format) return transform_files::field_format_named(*format).has_value();
  if (name == "-") return is_nifti(std::as_bytes(std::span(bytes)));
  return is_nifti_name(name);
}

/// Reads a field in NIfTI from a file, or from the bytes of standard input.
transform_files::FieldImage load_field_image(const std::string& name, const std::string& bytes) {
  try {
    if (name == "-") return read_field_image(std::as_bytes(std::span(bytes)));
    return read_field_image(std::filesystem::path(name));
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", shown_name(name), error.what()));
  }
}

TransformFile load_field(const std::string& name, const std::optional<std::string>& format,
                         const transform_files::Geometry& geometry, const std::string& bytes) {
  const transform_files::FieldImage image = load_field_image(name, bytes);
  const auto chosen = format ? *transform_files::field_format_named(*format)
                             : transform_files::field_format_of(image.intent);
  return transform_files::read_field(chosen, image, geometry);
}

TransformFile load_text(const std::string& name, const std::optional<std::string>& format,
                        const transform_files::Geometry& geometry, const std::string& bytes) {
  if (format == "json" || (!format && is_json(bytes))) {
    check_text_size(name, bytes);
    return parse_transform_json(bytes);
  }
  if (format == npz_format || (!format && transform_files::is_npz(bytes))) {
    return transform_files::read_npz(bytes);
  }
  refuse_hdf5(name, format, bytes);
  const auto found = chosen_format(name, format, bytes);
  if (found != Format::npy && found != Format::mgz) check_text_size(name, bytes);
  return read_file(name, bytes, found, geometry, 0);
}

}  // namespace

std::vector<std::string_view> transform_format_names() {
  std::vector<std::string_view> names{"json", npz_format};
  for (const auto list : {transform_files::format_names(), transform_files::field_format_names()}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  return names;
}

std::string read_bytes(const std::string& name) {
  if (name == "-") return read_standard_input();
  try {
    FileBytes file(name);
    const std::span<const std::byte> bytes = file.all();
    if (bytes.size() > max_transform_bytes) throw FileError("is larger than 2 GiB");
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
      // The grid of a series is that of its volumes, and that of a field has its vectors.
      return grid_of_nifti(NiftiReader(name, NiftiContents::vectors));
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
  // Fields in files are read piece by piece, and may be larger than texts.
  const bool stored_field = name != "-" && is_field(name, format, {});
  const std::string bytes = stored_field ? std::string() : decompressed(read_bytes(name), name);
  try {
    TransformFile file = is_field(name, format, bytes) ? load_field(name, format, geometry, bytes)
                                                       : load_text(name, format, geometry, bytes);
    if (geometry.reference) file.geometry.reference = geometry.reference;
    if (geometry.moving) file.geometry.moving = geometry.moving;
    return file;
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", shown_name(name), error.message()));
  }
}

}  // namespace warpalign::program
