// The images or volumes of `template`, read from their files one by one.
#include "commands/template_files.hpp"

#include "io/array_file.hpp"
#include "io/image_name.hpp"
#include "io/luminance.hpp"
#include "io/mosaic/volume_tiles.hpp"
#include "io/nifti.hpp"
#include "io/nodata_mask.hpp"
#include "io/registrable_image.hpp"
#include "io/transform_file.hpp"
#include "io/usage_error.hpp"
#include "options/volume_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <regex>
#include <span>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::int64_t min_volume_side = 8;
// Headers of NIfTI are in single precision, and scanners round.
constexpr double spacing_tolerance = 1e-3;

/// An image with its luminance, which may refer to it, and the mask of the pixels that count.
struct GrayImage {
  GrayImage(const std::string& name, const std::optional<std::string>& mask_name,
            std::optional<double> nodata)
      : image(load_registrable(name)), gray(image) {
    if (mask_name) mask = load_mask(*mask_name, image.shape(), name);
    if (!nodata) return;
    check_nodata(*nodata, image.type);
    mask_missing(image, *nodata, name, mask);
  }
  LoadedImage image;
  Luminance gray;
  std::optional<LoadedImage> mask;
};

HostVolume view_of_volume(const Array& volume) {
  return {volume.bytes.data(), volume.type, volume.shape()};
}

/// Sets the samples to NaN whose mark is 0.
template <class Mark>
void hide_masked(std::span<const Mark> marks, Array& array) {
  const auto samples = array.samples<float>();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] == Mark{0}) samples[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

/// In f32, with NaN where it is masked.
Array plane_of(const GrayImage& loaded) {
  const LoadedImage& gray = loaded.gray.image();
  Array plane = to_float({{gray.height, gray.width}, gray.type, gray.pixels});
  if (loaded.mask) hide_masked(loaded.mask->samples<std::uint8_t>(), plane);
  return plane;
}

/// The same of the middle plane of a volume.
Array plane_of(const VolumeSide& side) {
  Array plane = middle_plane(side.file.voxels);
  if (!side.mask) return plane;
  const Array marks = middle_plane(*side.mask);
  hide_masked(marks.samples<float>(), plane);
  return plane;
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

TemplateFiles::TemplateFiles(TemplateInputs inputs)
    : inputs_(std::move(inputs)), are_volumes_(is_volume(inputs_.names[0])) {
  const std::size_t masks = inputs_.masks.size();
  if (masks > 0 && masks != size()) {
    throw UsageError(
        fmt::format("--masks: names {} file{}, but there are {} images; give one mask for each "
                    "image, in the order of the images",
                    masks, masks == 1 ? "" : "s", size()));
  }
  if (!inputs_.spacing) return;
  if (!are_volumes_) throw UsageError("--spacing: is for volumes, but these are images; omit it");
  const auto along = parse_spacing("--spacing", *inputs_.spacing);
  given_spacing_ = {along[0], along[1], along[2]};
}

std::optional<std::string> TemplateFiles::mask_of(std::size_t number) const {
  if (inputs_.masks.empty()) return std::nullopt;
  return inputs_.masks[number];
}

void TemplateFiles::check_kind(const std::string& name) const {
  if (is_volume(name) == are_volumes_) return;
  throw UsageError(fmt::format("{}: is {}, but {} is {}; a template is made of one kind", name,
                               are_volumes_ ? "no volume" : "a volume", names()[0],
                               are_volumes_ ? "a volume" : "an image"));
}

void TemplateFiles::check(const SeePlane& see) {
  for (const std::string& name : names()) check_kind(name);
  if (inputs_.initial) check_kind(*inputs_.initial);
  if (!are_volumes_) {
    const GrayImage first(grid_name(), std::nullopt, inputs_.nodata);
    extents_ = {first.image.height, first.image.width};
    for (std::size_t i = 0; i < size(); ++i) check_image(i, see);
    return;
  }
  grid_ = load_side(grid_name(), std::nullopt, std::nullopt, inputs_.nodata);
  grid_.mask.reset();
  check_sides(grid_name(), grid_.file.voxels.shape());
  extents_ = grid_.file.voxels.extents;
  grid_.file.voxels.bytes = {};
  grid_spacing_ = spacing_of(grid_.file);
  for (std::size_t i = 0; i < size(); ++i) check_volume(i, see);
}

void TemplateFiles::check_image(std::size_t number, const SeePlane& see) {
  see(plane_of(GrayImage(names()[number], mask_of(number), inputs_.nodata)));
}

void TemplateFiles::check_volume(std::size_t number, const SeePlane& see) {
  const std::string& name = names()[number];
  const VolumeSide side = load_like_grid(name, mask_of(number));
  check_sides(name, side.file.voxels.shape());
  stored_indices_.push_back(side.stored_indices);
  const Point3 found = spacing_of(side.file);
  if (number == 0) spacing_ = found;
  if (!is_near(found.x, spacing_.x) || !is_near(found.y, spacing_.y) ||
      !is_near(found.z, spacing_.z)) {
    throw UsageError(fmt::format(
        "{}: has voxels of {:.4g} x {:.4g} x {:.4g} mm, but those of {} are {:.4g} x {:.4g} x "
        "{:.4g} mm; resample it first, or give the size of all with --spacing",
        name, found.x, found.y, found.z, names()[0], spacing_.x, spacing_.y, spacing_.z));
  }
  see(plane_of(side));
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

VolumeSide TemplateFiles::load_like_grid(const std::string& name,
                                         const std::optional<std::string>& mask) const {
  VolumeSide side = load_side(name, mask, std::nullopt, inputs_.nodata);
  reorder_like(grid_, side);
  return side;
}

TemplatePixels TemplateFiles::image(std::size_t number) const {
  auto loaded = std::make_shared<const GrayImage>(names()[number], mask_of(number), inputs_.nodata);
  TemplatePixels pixels{view_of(loaded->gray.image())};
  if (loaded->mask) pixels.mask = view_of(*loaded->mask);
  pixels.owner = std::move(loaded);
  return pixels;
}

TemplateVoxels TemplateFiles::volume(std::size_t number) const {
  auto side = std::make_shared<const VolumeSide>(load_like_grid(names()[number], mask_of(number)));
  TemplateVoxels voxels{view_of_volume(side->file.voxels)};
  if (side->mask) voxels.mask = view_of_volume(*side->mask);
  voxels.owner = std::move(side);
  return voxels;
}

std::optional<TemplatePixels> TemplateFiles::initial_image() const {
  if (!inputs_.initial) return std::nullopt;
  auto plane = std::make_shared<const Array>(
      plane_of(GrayImage(*inputs_.initial, std::nullopt, inputs_.nodata)));
  const HostImage view{plane->bytes.data(), plane->type, extents_[1], extents_[0], 0};
  return TemplatePixels{view, std::move(plane)};
}

std::optional<TemplateVoxels> TemplateFiles::initial_volume() const {
  if (!inputs_.initial) return std::nullopt;
  const VolumeSide side = load_like_grid(*inputs_.initial, std::nullopt);
  auto voxels = std::make_shared<Array>(to_float(side.file.voxels));
  if (side.mask) hide_masked(side.mask->samples<std::uint8_t>(), *voxels);
  const HostVolume view = view_of_volume(*voxels);
  return TemplateVoxels{view, std::move(voxels)};
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
  if (is_nifti_name(names()[number])) file.geometry.moving = load_grid(names()[number]);
  return file;
}

std::string TemplateFiles::with_names(const std::string& message) const {
  static const std::regex numbered("^image (\\d+) ");
  std::smatch match;
  if (!std::regex_search(message, match, numbered)) {
    constexpr std::string_view initial = "the initial image ";
    return inputs_.initial && message.starts_with(initial)
               ? *inputs_.initial + ": " + message.substr(initial.size())
               : message;
  }
  const auto number = static_cast<std::size_t>(std::stoul(match[1].str()));
  return names().at(number) + ": " + match.suffix().str();
}

}  // namespace warpalign::program
