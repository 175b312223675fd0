// Templates: the mean of several images or volumes in shape and intensity.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/transform.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace warpalign {

/// An image of which a template is made.
struct TemplatePixels {
  HostImage image;  ///< any type but c32
  /// An owner of the pixels and the mask, kept while they are in use; null if the caller keeps them
  /// alive.
  std::shared_ptr<const void> owner{};
  /// u8, of the image's shape: 0 where a pixel does not count, as if it were NaN.
  std::optional<HostImage> mask{};
};

/// A volume of which a template is made.
struct TemplateVoxels {
  HostVolume volume;  ///< any type but c32
  /// An owner of the voxels and the mask, kept while they are in use; null if the caller keeps them
  /// alive.
  std::shared_ptr<const void> owner{};
  /// u8, of the volume's shape: 0 where a voxel does not count, as if it were NaN.
  std::optional<HostVolume> mask{};
};

/// Returns the image with the given number, from 0. It is called from the calling thread, once for
/// each image at first and then twice in each round, and must return the same pixels and the same
/// mask each time. One image is in use at a time.
using TemplateSource = std::function<TemplatePixels(std::size_t image)>;
/// The same for volumes.
using VolumeTemplateSource = std::function<TemplateVoxels(std::size_t volume)>;

/// Receives progress: how many of how many registrations are done. What it throws ends the work.
using TemplateProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Options of build_template() besides those of the registration.
struct TemplateOptions {
  int rounds = 4;               ///< how often the images are registered to the template, 1 to 100
  TemplateProgress progress{};  ///< may be empty
};

/// The mean of several images or volumes in shape and intensity.
struct Template {
  Shape shape;  ///< that of the initial template, in pixels
  /// The template: dense f32. NaN where no image lies, or all that do are missing or masked.
  std::vector<float> pixels;
  /// For each image, the transform from pixels of the template to those of the image. The mean of
  /// those that are used is the identity, except for what sampling the inverse of the mean changes.
  /// Empty for an image that the last round did not use.
  std::vector<std::optional<Transform>> transforms;
  /// The confidence of each image's registration in the last round, 0 to 1.
  std::vector<double> confidences;
  /// For each round, the root mean square displacement in pixels by which it moved the template
  /// towards the mean shape.
  std::vector<double> changes;
};

/// The options with which build_template() registers images by default: those of
/// Motion::deformable. Never throws Error.
[[nodiscard]] WARPALIGN_API RegistrationOptions template_registration();
/// The same for volumes. Never throws Error.
[[nodiscard]] WARPALIGN_API VolumeRegistrationOptions volume_template_registration();

/// Builds the template of `count` images: their mean shape and mean intensities (Guimond et al.
/// 2000, Avants & Gee 2004).
///
/// A gain and an offset give all images the same mean and standard deviation of intensity, the
/// averages of theirs. Each round registers all images to the template and makes the next one from
/// them. The transforms map pixels of the template to those of the images. With their mean m, the
/// next template is the mean of the images, each warped by its transform after the inverse of m.
/// The mean of these transforms is the identity, so the template does not keep the shape of the
/// image that it began with. Each image is interpolated once in each round, by its cubic spline. An
/// image whose registration is not reliable in a round is left out of that round.
///
/// Missing pixels (NaN or infinite) and masked ones count neither for the mean and the deviation of
/// an image, nor for its registration, nor for the template.
///
/// `registration`: with Motion::rigid, similarity, affine or deformable. `initial`: the image that
/// the first round registers to, and whose grid the template has; by default, the first image. It
/// has no mask: set its pixels that do not count to NaN. Images may differ in size and type; each
/// side must be 16 to 16384 pixels.
///
/// Throws Error(invalid_argument) for fewer than 2 images, for options that are out of range, for
/// images and masks of a wrong size or type, and for masks with RegistrationOptions::fast, before
/// anything is registered. Throws Error(invalid_image) for an image that is constant, or of which
/// all pixels are missing or masked, if fewer than 2 images register reliably in a round, and if
/// the mean of the transforms has no inverse. Throws what `source` and `progress` throw, and device
/// errors as Registrar does.
[[nodiscard]] WARPALIGN_API Template
build_template(const Device& device, std::size_t count, const TemplateSource& source,
               const RegistrationOptions& registration = template_registration(),
               const TemplateOptions& options = {}, const std::optional<HostImage>& initial = {});

/// The same for volumes, of 8 to 16384 voxels a side. VolumeRegistrationOptions::reference_spacing
/// is that of the initial volume, and `moving_spacing` that of all volumes. Throws as
/// build_template() does, and Error(invalid_argument) if they differ without an initial volume.
[[nodiscard]] WARPALIGN_API Template build_volume_template(
    const Device& device, std::size_t count, const VolumeTemplateSource& source,
    const VolumeRegistrationOptions& registration = volume_template_registration(),
    const TemplateOptions& options = {}, const std::optional<HostVolume>& initial = {});

}  // namespace warpalign
