// Which format a file has, and its reader and writer.
#include "transform_files.hpp"

#include "formats.hpp"
#include "itk.hpp"
#include "npy_array.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace warpalign::transform_files {
namespace {

constexpr std::array<std::string_view, 11> names{"itk",           "itk-matlab", "flirt", "lta",
                                                 "afni",          "elastix",    "bdv",   "turboreg",
                                                 "multistackreg", "npy",        "mgz"};
// The first bytes of a warp of FreeSurfer, of an inverse one, and of an image.
constexpr std::string_view mgz_warp("\0\0\3\1", 4), mgz_inverse_warp("\0\0\4\1", 4),
    mgz_image("\0\0\0\1", 4);

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return c == '\t' || c == '\n' || c == '\r' || static_cast<unsigned char>(c) >= ' ';
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_mgz_name(std::string_view lower_name) {
  return lower_name.ends_with(".mgz") || lower_name.ends_with(".mgh") ||
         lower_name.ends_with(".mgh.gz");
}

/// What the format maps.
Coordinates coordinates_of(Format format) {
  switch (format) {
    case Format::itk:
    case Format::itk_matlab:
    case Format::lta:
    case Format::afni:
    case Format::elastix:
      return Coordinates::world;
    default:
      return Coordinates::pixels;
  }
}

bool is_of_itk(Format format) { return format == Format::itk || format == Format::itk_matlab; }

/// The transform for the format's coordinates.
Transform converted(Format format, const Transform& transform, const Geometry& geometry) {
  const Coordinates coordinates = coordinates_of(format);
  if (transform.coordinates() == coordinates) return transform;
  if (is_of_itk(format) && !geometry.reference && !geometry.moving) {
    return transform.in_coordinates(Coordinates::world, plain_grid, plain_grid);
  }
  if (!geometry.reference || !geometry.moving) {
    refuse(coordinates == Coordinates::world
               ? "the format maps millimetres, and the transform pixels: give the reference and "
                 "the moving image"
               : "the format maps pixels, and the transform millimetres: give the reference and "
                 "the moving image");
  }
  return transform.in_coordinates(coordinates, *geometry.reference, *geometry.moving);
}

}  // namespace

std::span<const std::string_view> format_names() { return names; }

std::optional<Format> format_named(std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Format>(found - names.begin());
}

std::optional<Format> format_of(std::string_view name, std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  if (start.starts_with(npy_magic)) return Format::npy;
  if (start.starts_with(mgz_warp) || start.starts_with(mgz_inverse_warp) ||
      (start.starts_with(mgz_image) && is_mgz_name(lower(name)))) {
    return Format::mgz;
  }
  if (!is_text(start)) {
    if (lower(name).ends_with(".mat")) return Format::itk_matlab;
    return std::nullopt;
  }
  if (start.starts_with("#Insight Transform File")) return Format::itk;
  if (start.starts_with("MultiStackReg")) return Format::multistackreg;
  if (start.find("(Transform \"") != std::string_view::npos) return Format::elastix;
  if (start.find("<SpimData") != std::string_view::npos ||
      start.find("<ViewRegistration") != std::string_view::npos) {
    return Format::bdv;
  }
  if (start.find("Source size") != std::string_view::npos) return Format::turboreg;
  if (start.find("nxforms") != std::string_view::npos) return Format::lta;
  // Both are numbers and nothing else.
  if (lower(name).ends_with(".mat")) return Format::flirt;
  if (format_of_name(name) == Format::afni) return Format::afni;
  return std::nullopt;
}

std::optional<Format> format_of_name(std::string_view name) {
  const std::string text = lower(name);
  if (text.ends_with(".tfm") || text.ends_with(".txt")) return Format::itk;
  if (text.ends_with(".lta")) return Format::lta;
  if (text.ends_with(".1d")) return Format::afni;
  if (text.ends_with(".xml")) return Format::bdv;
  if (text.ends_with(".npy")) return Format::npy;
  if (is_mgz_name(text)) return Format::mgz;
  return std::nullopt;
}

TransformFile read(Format format, std::string_view bytes, const Geometry& geometry) {
  switch (format) {
    case Format::itk:
      return {.transforms = {read_itk_text(bytes)}};
    case Format::itk_matlab:
      return {.transforms = {read_itk_matlab(bytes)}};
    case Format::flirt:
      return read_flirt(bytes, geometry);
    case Format::lta:
      return read_lta(bytes);
    case Format::afni:
      return read_afni(bytes, geometry);
    case Format::elastix:
      return read_elastix(bytes);
    case Format::bdv:
      return read_bdv(bytes);
    case Format::turboreg:
      return read_turboreg(bytes);
    case Format::multistackreg:
      return read_multistackreg(bytes);
    case Format::npy:
      return read_npy(bytes);
    case Format::mgz:
      return read_mgz(bytes, geometry);
  }
  refuse("unknown format");
}

std::string write(Format format, std::span<const Transform> transforms, const Geometry& geometry) {
  std::vector<Transform> all;
  for (const Transform& transform : transforms) {
    all.push_back(converted(format, transform, geometry));
  }
  const bool several = format == Format::afni || format == Format::bdv ||
                       format == Format::multistackreg || format == Format::npy;
  if (all.empty() || (all.size() > 1 && !several)) {
    refuse("the format " + std::string(names[static_cast<std::size_t>(format)]) +
           " holds one transform, not " + std::to_string(all.size()));
  }
  switch (format) {
    case Format::itk:
      return write_itk_text(all.front(), transforms.front().coordinates() == Coordinates::pixels &&
                                             !geometry.reference && !geometry.moving);
    case Format::itk_matlab:
      return write_itk_matlab(all.front());
    case Format::flirt:
      return write_flirt(all.front(), geometry);
    case Format::lta:
      return write_lta(all.front(), geometry);
    case Format::afni:
      return write_afni(all, geometry);
    case Format::elastix:
      return write_elastix(all.front(), geometry);
    case Format::bdv:
      return write_bdv(all);
    case Format::turboreg:
      return write_turboreg(all.front(), geometry);
    case Format::multistackreg:
      return write_multistackreg(all);
    case Format::npy:
      return write_npy(all, geometry);
    case Format::mgz:
      return write_mgz(all.front(), geometry);
  }
  refuse("unknown format");
}

}  // namespace warpalign::transform_files
