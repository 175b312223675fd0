// What the commands of `warpalign transform` share.
#include "commands/transform/options.hpp"

#include "commands/transform/sampling.hpp"
#include "io/gzip.hpp"
#include "io/image_file.hpp"
#include "io/nifti_field.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "reports/transform_report.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <variant>
#include <vector>

namespace warpalign::program {
namespace {

using transform_files::FieldFormat;
using transform_files::Format;
using transform_files::TransformFile;

struct JsonFormat {};
struct NpzFormat {};
using AnyFormat = std::variant<JsonFormat, NpzFormat, Format, FieldFormat>;

std::optional<AnyFormat> format_by_name(const std::string& name) {
  if (name == "json") return JsonFormat{};
  if (name == npz_format) return NpzFormat{};
  if (const auto format = transform_files::format_named(name)) return *format;
  if (const auto format = transform_files::field_format_named(name)) return *format;
  return std::nullopt;
}

std::optional<AnyFormat> format_by_ending(const std::string& name) {
  if (name == "-" || name.ends_with(".json")) return JsonFormat{};
  if (name.ends_with(".npz")) return NpzFormat{};
  if (is_nifti_name(name)) return FieldFormat::itk_nifti;
  if (const auto format = transform_files::format_of_name(name)) return *format;
  return std::nullopt;
}

/// Throws UsageError for formats that only the Python package writes, with the way out.
void refuse_formats_of_python(const std::string& name, const std::optional<std::string>& to) {
  const bool hdf5 = to ? *to == hdf5_format : name.ends_with(".h5") || name.ends_with(".hdf5");
  const bool zarr = to ? *to == "ome-zarr" : name.ends_with(".zarr");
  if (!hdf5 && !zarr) return;
  throw UsageError(
      fmt::format("{}: only the Python package writes {}. Write transform.npz, and convert it with "
                  "python3 -c \"import warpalign; "
                  "warpalign.Transform.load('transform.npz').save('{}')\"",
                  name, hdf5 ? "HDF5" : "OME-Zarr", name));
}

AnyFormat chosen_format(const std::string& name, const std::optional<std::string>& to) {
  refuse_formats_of_python(name, to);
  if (const auto format = to ? format_by_name(*to) : format_by_ending(name)) return *format;
  const std::string all = fmt::format("{}", fmt::join(transform_format_names(), ", "));
  if (to) throw UsageError(fmt::format("invalid value '{}' for --to (choose from: {})", *to, all));
  throw UsageError(
      fmt::format("{}: the name does not tell a format; name it with --to ({})", name, all));
}

std::string shown_output(const std::string& name) { return name == "-" ? "standard output" : name; }

std::string encode_json(const std::string& name, const TransformFile& file) {
  for (const Transform& transform : file.transforms) {
    if (transform.matrix()) continue;
    throw FileError(fmt::format("{}: JSON holds matrices, no fields (choose --to itk-nifti)",
                                shown_output(name)));
  }
  return transform_json(file).text();
}

std::string encode_other(const std::string& name, Format format, const TransformFile& file) {
  std::string bytes = transform_files::write(format, file.transforms, file.geometry);
  if (format != Format::mgz || name.ends_with(".mgh")) return bytes;
  const std::vector<std::byte> packed = compress_gzip(std::as_bytes(std::span(bytes)));
  return {reinterpret_cast<const char*>(packed.data()), packed.size()};
}

std::string encode_field(const std::string& name, FieldFormat format, const TransformFile& file) {
  if (file.transforms.size() != 1) {
    throw FileError(
        fmt::format("{}: the format {} holds one transform, not {}", shown_output(name),
                    transform_files::field_format_names()[static_cast<std::size_t>(format)],
                    file.transforms.size()));
  }
  const Transform& transform = file.transforms.front();
  const auto image = transform_files::write_field(format, transform, file.geometry);
  remark_on_sampling(shown_output(name), transform, file.geometry);
  const std::vector<std::byte> bytes = write_field_image(image, name.ends_with(".gz"));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

transform_files::TransformFile TransformOptions::load(const std::string& name) const {
  return load_transforms(name, from, load_geometry(reference, moving));
}

void add_transform_options(CLI::App& command, TransformOptions& options) {
  add_option(command, "--from FORMAT", &options.from, "The format of the input [by its content]",
             suggesting(transform_formats));
  add_option(command, "--reference FILE", &options.reference,
             "The reference image, for its size and position");
  add_option(command, "--moving FILE", &options.moving,
             "The moving image, for its size and position");
}

std::string encode_transforms(const std::string& name, const std::optional<std::string>& to,
                              const TransformFile& file) {
  const AnyFormat format = chosen_format(name, to);
  try {
    if (const auto* const field = std::get_if<FieldFormat>(&format)) {
      return encode_field(name, *field, file);
    }
    if (const auto* const other = std::get_if<Format>(&format)) {
      return encode_other(name, *other, file);
    }
    if (std::holds_alternative<NpzFormat>(format)) return transform_files::write_npz(file);
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", shown_output(name), error.message()));
  }
  return encode_json(name, file);
}

Transform inverse_of(const Transform& transform, const std::string& name) {
  try {
    return transform.inverse();
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", name, error.message()));
  }
}

Transform in_pixels(const Transform& transform, const transform_files::Geometry& geometry,
                    const std::string& name) {
  if (transform.coordinates() == Coordinates::pixels) return transform;
  if (!geometry.reference || !geometry.moving) {
    throw UsageError(
        fmt::format("{}: maps millimetres; give --reference and --moving, the images whose pixels "
                    "it shall map",
                    name));
  }
  return transform.in_coordinates(Coordinates::pixels, *geometry.reference, *geometry.moving);
}

}  // namespace warpalign::program
