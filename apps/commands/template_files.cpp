// The images or volumes of `template`, read from their files one by one.
#include "commands/template_files.hpp"

#include "io/array_file.hpp"
#include "io/image_name.hpp"
#include "io/luminance.hpp"
#include "io/mosaic/volume_tiles.hpp"
#include "io/nifti.hpp"
#include "io/registrable_image.hpp"
#include "io/transform_file.hpp"
#include "io/usage_error.hpp"
#include "options/volume_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::int64_t min_volume_side = 8;
// Headers of NIfTI are in single precision, and scanners round.
constexpr double spacing_tolerance = 1e-3;

/// An image with its luminance, which may refer to it.
struct GrayImage {
  explicit GrayImage(const std::string& name) : image(load_registrable(name)), gray(image) {}
  LoadedImage image;
  Luminance gray;
};

TemplatePixels load_gray(const std::string& name) {
  auto loaded = std::make_shared<const GrayImage>(name);
  const HostImage view = view_of(loaded->gray.image());
  return {view, std::move(loaded)};
}

HostVolume view_of_volume(const Array& volume) {
  return {volume.bytes.data(), volume.type, volume.shape()};
}

TemplateVoxels voxels_of(VolumeSide side) {
  auto kept = std::make_shared<const VolumeSide>(std::move(side));
  const HostVolume view = view_of_volume(kept->file.voxels);
  return {view, std::move(kept)};
}

Array plane_of(const LoadedImage& gray) {
  return to_float({{gray.height, gray.width}, gray.type, gray.pixels});
}

bool is_volume(const std::string& name) {
  return is_volume_format(image_name(name).file) && is_volume_tile(name);
}

bool is_near(double a, double b) { return std::abs(a - b) <= spacing_tolerance * std::max(a, b); }

void check_sides(const std::string& name, const Shape& shape) {
  const auto [least, most] = std::minmax({shape.width, shape.height, shape.depth});
  if (least >= min_volume_side && most <= max_side) return;
  throw UsageError(fmt::format("{}: is {} voxels; registration needs sides of {} to {}", name,
                               to_string(shape), min_volume_side, max_side));
}

}  // namespace

Array middle_plane(const Array& volume) {
  const std::int64_t plane = volume.extents[1] * volume.extents[2];
  const auto bytes =
      static_cast<std::ptrdiff_t>(plane) * static_cast<std::ptrdiff_t>(size_of(volume.type));
  const auto first = volume.bytes.begin() + bytes * (volume.extents[0] / 2);
  return to_float({{volume.extents[1], volume.extents[2]}, volume.type, {first, first + bytes}});
}

TemplateFiles::TemplateFiles(std::vector<std::string> names, std::optional<std::string> initial,
                             const std::optional<std::string>& spacing)
    : names_(std::move(names)), initial_(std::move(initial)), are_volumes_(is_volume(names_[0])) {
  if (!spacing) return;
  if (!are_volumes_) throw UsageError("--spacing: is for volumes, but these are images; omit it");
  const auto along = parse_spacing("--spacing", *spacing);
  given_spacing_ = {along[0], along[1], along[2]};
}

void TemplateFiles::check_kind(const std::string& name) const {
  if (is_volume(name) == are_volumes_) return;
  throw UsageError(fmt::format("{}: is {}, but {} is {}; a template is made of one kind", name,
                               are_volumes_ ? "no volume" : "a volume", names_[0],
                               are_volumes_ ? "a volume" : "an image"));
}

void TemplateFiles::check(const SeePlane& see) {
  for (const std::string& name : names_) check_kind(name);
  if (initial_) check_kind(*initial_);
  if (!are_volumes_) {
    const TemplatePixels first = load_gray(grid_name());
    extents_ = {first.image.height, first.image.width};
    for (const std::string& name : names_) check_image(name, see);
    return;
  }
  grid_ = load_side(grid_name(), std::nullopt, std::nullopt, std::nullopt);
  check_sides(grid_name(), grid_.file.voxels.shape());
  extents_ = grid_.file.voxels.extents;
  grid_.file.voxels.bytes = {};
  grid_spacing_ = spacing_of(grid_.file);
  for (std::size_t i = 0; i < names_.size(); ++i) check_volume(i, see);
}

void TemplateFiles::check_image(const std::string& name, const SeePlane& see) {
  const GrayImage loaded(name);
  see(plane_of(loaded.gray.image()));
}

void TemplateFiles::check_volume(std::size_t number, const SeePlane& see) {
  const std::string& name = names_[number];
  const VolumeSide side = load_like_grid(name);
  check_sides(name, side.file.voxels.shape());
  stored_indices_.push_back(side.stored_indices);
  const Point3 found = spacing_of(side.file);
  if (number == 0) spacing_ = found;
  if (!is_near(found.x, spacing_.x) || !is_near(found.y, spacing_.y) ||
      !is_near(found.z, spacing_.z)) {
    throw UsageError(fmt::format(
        "{}: has voxels of {:.4g} x {:.4g} x {:.4g} mm, but those of {} are {:.4g} x {:.4g} x "
        "{:.4g} mm; resample it first, or give the size of all with --spacing",
        name, found.x, found.y, found.z, names_[0], spacing_.x, spacing_.y, spacing_.z));
  }
  see(middle_plane(side.file.voxels));
}

Point3 TemplateFiles::spacing_of(const VolumeFile& file) const {
  if (given_spacing_) return *given_spacing_;
  const bool has_size = file.spacing.has_value();
  if (has_size != grid_.file.spacing.has_value()) {
    throw UsageError(
        fmt::format("{}: has {} voxel size, but {} has {}; give the size of all with --spacing",
                    file.name, has_size ? "a" : "no", grid_name(), has_size ? "none" : "one"));
  }
  const auto along = file.spacing.value_or(std::array{1.0, 1.0, 1.0});
  for (const double distance : along) {
    if (std::isfinite(distance) && distance > 0) continue;
    throw UsageError(fmt::format(
        "{}: its header gives voxels of {} x {} x {} mm, which is not valid; give their size with "
        "--spacing",
        file.name, along[0], along[1], along[2]));
  }
  return {along[0], along[1], along[2]};
}

VolumeSide TemplateFiles::load_like_grid(const std::string& name) const {
  VolumeSide side = load_side(name, std::nullopt, std::nullopt, std::nullopt);
  reorder_like(grid_, side);
  return side;
}

TemplatePixels TemplateFiles::image(std::size_t number) const { return load_gray(names_[number]); }

TemplateVoxels TemplateFiles::volume(std::size_t number) const {
  return voxels_of(load_like_grid(names_[number]));
}

std::optional<TemplatePixels> TemplateFiles::initial_image() const {
  if (!initial_) return std::nullopt;
  return load_gray(*initial_);
}

std::optional<TemplateVoxels> TemplateFiles::initial_volume() const {
  if (!initial_) return std::nullopt;
  return voxels_of(load_like_grid(*initial_));
}

transform_files::TransformFile TemplateFiles::stored_transform(const Transform& transform,
                                                               std::size_t number) const {
  transform_files::TransformFile file{{transform}, {}, {}};
  if (!are_volumes_) return file;
  const HomogeneousMatrix& stored = stored_indices_[number];
  if (stored.m != HomogeneousMatrix{}.m) {
    file.transforms[0] = Transform::of_matrix(TransformKind::affine, 3, stored) * transform;
  }
  if (is_nifti_name(grid_name())) file.geometry.reference = load_grid(grid_name());
  if (is_nifti_name(names_[number])) file.geometry.moving = load_grid(names_[number]);
  return file;
}

std::string TemplateFiles::with_names(const std::string& message) const {
  static const std::regex numbered("^image (\\d+) ");
  std::smatch match;
  if (!std::regex_search(message, match, numbered)) {
    constexpr std::string_view initial = "the initial image ";
    return initial_ && message.starts_with(initial)
               ? *initial_ + ": " + message.substr(initial.size())
               : message;
  }
  const auto number = static_cast<std::size_t>(std::stoul(match[1].str()));
  return names_.at(number) + ": " + match.suffix().str();
}

}  // namespace warpalign::program
