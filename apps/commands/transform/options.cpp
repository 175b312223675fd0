// What the commands of `warpalign transform` share.
#include "commands/transform/options.hpp"

#include "io/image_file.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "reports/transform_report.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpalign::program {
namespace {

/// Nothing stands for JSON.
std::optional<transform_files::Format> chosen_format(const std::string& name,
                                                     const std::optional<std::string>& to) {
  if (to == "json" || (!to && (name == "-" || name.ends_with(".json")))) return std::nullopt;
  const auto format =
      to ? transform_files::format_named(*to) : transform_files::format_of_name(name);
  if (format) return format;
  const std::string all = fmt::format("{}", fmt::join(transform_files::format_names(), ", "));
  if (to) {
    throw UsageError(fmt::format("invalid value '{}' for --to (choose from: json, {})", *to, all));
  }
  throw UsageError(
      fmt::format("{}: the name does not tell a format; name it with --to (json, {})", name, all));
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
                              const transform_files::TransformFile& file) {
  const auto format = chosen_format(name, to);
  if (!format) {
    for (const Transform& transform : file.transforms) {
      if (transform.matrix()) continue;
      throw FileError(fmt::format("{}: JSON holds matrices, no fields (choose --to itk)",
                                  name == "-" ? "standard output" : name));
    }
    return transform_json(file).text();
  }
  try {
    return transform_files::write(*format, file.transforms, file.geometry);
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", name == "-" ? "standard output" : name, error.message()));
  }
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
