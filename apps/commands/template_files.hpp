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

/// The files of a template, and how to read them.
struct TemplateInputs {
  std::vector<std::string> names;
  std::vector<std::string> masks;      ///< one for each image, or none
  std::optional<std::string> initial;  ///< of the initial template
  std::optional<std::string> spacing;  ///< the value of --spacing
  std::optional<double> nodata;        ///< the value of missing samples; NaN in any case
};

/// Files of one kind: volumes, if the first is NIfTI or a .npy array of three dimensions that is no
/// colour image, else images.
class TemplateFiles {
 public:
  /// Receives each image, or the middle plane of each volume, in f32. NaN where it is masked.
  using SeePlane = std::function<void(const Array& plane)>;

  /// Throws UsageError if the number of masks is wrong, and for a wrong spacing.
  explicit TemplateFiles(TemplateInputs inputs);

  /// Reads all files once. Throws FileError and UsageError, naming a file that cannot be used.
  void check(const SeePlane& see);

  [[nodiscard]] bool are_volumes() const noexcept { return are_volumes_; }
  [[nodiscard]] std::size_t size() const noexcept { return inputs_.names.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return inputs_.names; }
  /// The extents of the template, slowest axis first.
  [[nodiscard]] const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  /// The voxels of the template, with the header of its NIfTI file, but without values.
  [[nodiscard]] const VolumeFile& grid() const noexcept { return grid_.file; }
  /// The distances of the template's voxels, and of those of the volumes.
  [[nodiscard]] const Point3& grid_spacing() const noexcept { return grid_spacing_; }
  [[nodiscard]] const Point3& spacing() const noexcept { return spacing_; }

  /// One of the images with the mask of what does not count, or the initial one, which has NaN
  /// there. The axes of volumes are in the order of the template's.
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
  [[nodiscard]] std::optional<std::string> mask_of(std::size_t number) const;
  [[nodiscard]] VolumeSide load_like_grid(const std::string& name,
                                          const std::optional<std::string>& mask) const;
  void check_image(std::size_t number, const SeePlane& see);
  void check_volume(std::size_t number, const SeePlane& see);
  void check_kind(const std::string& name) const;
  [[nodiscard]] Point3 spacing_of(const VolumeFile& file) const;
  [[nodiscard]] const std::string& grid_name() const {
    return inputs_.initial ? *inputs_.initial : inputs_.names[0];
  }

  TemplateInputs inputs_;
  std::optional<Point3> given_spacing_;
  bool are_volumes_ = false;
  std::vector<std::int64_t> extents_;
  VolumeSide grid_;
  Point3 grid_spacing_{1, 1, 1}, spacing_{1, 1, 1};
  std::vector<HomogeneousMatrix> stored_indices_;  // of each volume
};

}  // namespace warpalign::program
