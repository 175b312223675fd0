// The images or volumes of `template`, read from their files one by one.
#pragma once

#include "commands/volume_sides.hpp"
#include "io/npy.hpp"

#include "transform_files/transform_files.hpp"

#include <warpalign/template.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The plane in the middle of the slowest axis, f32.
[[nodiscard]] Array middle_plane(const Array& volume);

/// Files of one kind: volumes, if the first is NIfTI or a .npy array of three dimensions that is no
/// colour image, else images.
class TemplateFiles {
 public:
  /// Receives each image, or the middle plane of each volume, in f32.
  using SeePlane = std::function<void(const Array& plane)>;

  /// `initial`: the file of the initial template. `spacing`: the value of --spacing.
  TemplateFiles(std::vector<std::string> names, std::optional<std::string> initial,
                const std::optional<std::string>& spacing);

  /// Reads all files once. Throws FileError and UsageError, naming a file that cannot be used.
  void check(const SeePlane& see);

  [[nodiscard]] bool are_volumes() const noexcept { return are_volumes_; }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// The extents of the template, slowest axis first.
  [[nodiscard]] const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  /// The voxels of the template, with the header of its NIfTI file, but without values.
  [[nodiscard]] const VolumeFile& grid() const noexcept { return grid_.file; }
  /// The distances of the template's voxels, and of those of the volumes.
  [[nodiscard]] const Point3& grid_spacing() const noexcept { return grid_spacing_; }
  [[nodiscard]] const Point3& spacing() const noexcept { return spacing_; }

  /// One of the images, or the initial one. The axes of volumes are in the order of the template's.
  [[nodiscard]] TemplatePixels image(std::size_t number) const;
  [[nodiscard]] TemplateVoxels volume(std::size_t number) const;
  [[nodiscard]] std::optional<TemplatePixels> initial_image() const;
  [[nodiscard]] std::optional<TemplateVoxels> initial_volume() const;

  /// A transform to the pixels of an image as its file stores them, with the geometry of NIfTI.
  [[nodiscard]] transform_files::TransformFile stored_transform(const Transform& transform,
                                                                std::size_t number) const;
  /// The error of the library with the name of the file in place of "image 7".
  [[nodiscard]] std::string with_names(const std::string& message) const;

 private:
  [[nodiscard]] VolumeSide load_like_grid(const std::string& name) const;
  void check_image(const std::string& name, const SeePlane& see);
  void check_volume(std::size_t number, const SeePlane& see);
  void check_kind(const std::string& name) const;
  [[nodiscard]] Point3 spacing_of(const VolumeFile& file) const;
  [[nodiscard]] const std::string& grid_name() const { return initial_ ? *initial_ : names_[0]; }

  std::vector<std::string> names_;
  std::optional<std::string> initial_;
  std::optional<Point3> given_spacing_;
  bool are_volumes_ = false;
  std::vector<std::int64_t> extents_;
  VolumeSide grid_;
  Point3 grid_spacing_{1, 1, 1}, spacing_{1, 1, 1};
  std::vector<HomogeneousMatrix> stored_indices_;  // of each volume
};

}  // namespace warpalign::program
