// Builds templates: rounds of registrations to the template, and of means.
#include <warpalign/template.hpp>

#include "device/check.hpp"
#include "registration/checked_options.hpp"
#include "registration/volume/deformation_options.hpp"
#include "templates/equal_images.hpp"
#include "templates/mean_image.hpp"
#include "templates/mean_shape.hpp"
#include "templates/stage_name.hpp"

#include <warpalign/error.hpp>

#include <memory>
#include <string>
#include <utility>

namespace warpalign {

namespace {

using detail::ArrayLimits;
using detail::ArrayWarper;
using detail::EqualImages;
using detail::FloatArray;
using detail::MeanImage;
using detail::MeanShape;
using detail::SourceArray;
using detail::template_stage;

constexpr int max_rounds = 100;
constexpr ArrayLimits image_limits{2, 16};
constexpr ArrayLimits volume_limits{3, 8};

HostImage view_for(const Registrar& /*registrar*/, const FloatArray& array) {
  return {array.samples.data(), PixelType::f32, array.shape.width, array.shape.height, 0};
}
HostVolume view_for(const VolumeRegistrar& /*registrar*/, const FloatArray& array) {
  return {array.samples.data(), PixelType::f32, array.shape};
}

Transform transform_of(const RegistrationResult& found) {
  // Rounding may leave a matrix further from its model than a Transform allows.
  return found.deformation ? found.deformation->transform : Transform::affine(found.matrix);
}
Transform transform_of(const VolumeRegistration& found) {
  return found.deformation ? found.deformation->transform
                           : Transform::of_matrix(TransformKind::affine, 3, found.matrix);
}

void check_arguments(std::size_t count, Motion motion, const TemplateOptions& options) {
  if (motion != Motion::rigid && motion != Motion::similarity && motion != Motion::affine &&
      motion != Motion::deformable) {
    detail::refuse(template_stage,
                   "invalid motion for a template (choose from: rigid, similarity, affine, "
                   "deformable)");
  }
  if (options.rounds < 1 || options.rounds > max_rounds) {
    detail::refuse(template_stage, "rounds must be from 1 to " + std::to_string(max_rounds) +
                                       ", not " + std::to_string(options.rounds));
  }
  if (count < 2) {
    detail::refuse(template_stage,
                   "a template needs at least 2 images, not " + std::to_string(count));
  }
}

void check_spacings(const VolumeRegistrationOptions& options, bool has_initial) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  if (has_initial || (r.x == m.x && r.y == m.y && r.z == m.z)) return;
  detail::refuse(template_stage,
                 "without an initial volume, reference_spacing and moving_spacing must be equal");
}

/// `mask`: optional, of an image or a volume.
template <class View>
SourceArray source_array(const View& image, const std::optional<View>& mask,
                         std::shared_ptr<const void> owner) {
  SourceArray array{detail::view_of(image), {}, std::move(owner)};
  if (mask) array.mask = detail::view_of(*mask);
  return array;
}

/// `initial`: empty for the first of the images.
template <class View>
FloatArray first_template(const std::optional<View>& initial, const EqualImages& images,
                          const ArrayLimits& limits) {
  if (!initial) return images[0];
  const detail::ArrayView view = detail::view_of(*initial);
  detail::check_template_array(view, limits, "the initial image");
  return detail::floats_of(view);
}

/// The rounds of a template. `AnyRegistrar`: Registrar or VolumeRegistrar.
template <class AnyRegistrar>
class Rounds {
 public:
  Rounds(const Device& device, AnyRegistrar& registrar, const EqualImages& images,
         const TemplateOptions& options, FloatArray first, int dimensions)
      : registrar_(registrar),
        images_(images),
        options_(options),
        current_(std::move(first)),
        dimensions_(dimensions),
        warper_(device, current_.shape, dimensions) {}

  Template run() {
    for (int round = 1; round <= options_.rounds; ++round) {
      register_all(round);
      move_to_mean_shape();
      take_mean_image();
    }
    result_.shape = current_.shape;
    result_.pixels = std::move(current_.samples);
    return std::move(result_);
  }

 private:
  void register_all(int round) {
    registrar_.set_reference(view_for(registrar_, current_));
    result_.transforms.clear();
    result_.confidences.clear();
    std::size_t used = 0;
    for (std::size_t i = 0; i < images_.count(); ++i) {
      const FloatArray image = images_[i];
      const auto found = registrar_.align(view_for(registrar_, image));
      result_.confidences.push_back(found.confidence);
      result_.transforms.emplace_back();
      if (found.reliable) {
        result_.transforms.back() = transform_of(found);
        ++used;
      }
      ++done_;
      const auto total = images_.count() * static_cast<std::size_t>(options_.rounds);
      if (options_.progress) options_.progress(done_, total);
    }
    if (used < 2) refuse_few(used, round);
  }

  [[noreturn]] void refuse_few(std::size_t used, int round) const {
    throw Error(ErrorKind::invalid_image,
                "only " + std::to_string(used) + " of " + std::to_string(images_.count()) +
                    " images register reliably to the template in round " + std::to_string(round) +
                    "; give another initial image",
                {.stage = template_stage});
  }

  void move_to_mean_shape() {
    const MeanShape mean = detail::mean_shape(result_.transforms, current_.shape, dimensions_);
    for (auto& transform : result_.transforms) {
      if (transform) transform = *transform * mean.towards;
    }
    result_.changes.push_back(mean.change);
  }

  void take_mean_image() {
    MeanImage mean(current_.shape);
    for (std::size_t i = 0; i < images_.count(); ++i) {
      const auto& transform = result_.transforms[i];
      if (transform) mean.add(warper_.warp(images_[i], *transform));
    }
    current_ = mean.mean();
  }

  AnyRegistrar& registrar_;
  const EqualImages& images_;
  const TemplateOptions& options_;
  FloatArray current_;  // the template
  int dimensions_;
  ArrayWarper warper_;
  Template result_;
  std::size_t done_ = 0;
};

}  // namespace

RegistrationOptions template_registration() {
  RegistrationOptions options;
  options.motion = Motion::deformable;
  return options;
}

VolumeRegistrationOptions volume_template_registration() {
  VolumeRegistrationOptions options;
  options.motion = Motion::deformable;
  return options;
}

Template build_template(const Device& device, std::size_t count, const TemplateSource& source,
                        const RegistrationOptions& registration, const TemplateOptions& options,
                        const std::optional<HostImage>& initial) {
  check_arguments(count, registration.motion, options);
  Registrar registrar(device, detail::with_default_grid(registration));
  const auto read = [&](std::size_t i) {
    TemplatePixels pixels = source(i);
    if (registration.fast && pixels.mask) {
      detail::refuse(template_stage, "the fast pipeline does not support masks");
    }
    return source_array(pixels.image, pixels.mask, std::move(pixels.owner));
  };
  const EqualImages images(count, read, image_limits);
  return Rounds<Registrar>(device, registrar, images, options,
                           first_template(initial, images, image_limits), image_limits.dimensions)
      .run();
}

Template build_volume_template(const Device& device, std::size_t count,
                               const VolumeTemplateSource& source,
                               const VolumeRegistrationOptions& registration,
                               const TemplateOptions& options,
                               const std::optional<HostVolume>& initial) {
  check_arguments(count, registration.motion, options);
  check_spacings(registration, initial.has_value());
  VolumeRegistrar registrar(device, detail::with_default_grid(registration));
  const auto read = [&](std::size_t i) {
    TemplateVoxels voxels = source(i);
    return source_array(voxels.volume, voxels.mask, std::move(voxels.owner));
  };
  const EqualImages images(count, read, volume_limits);
  return Rounds<VolumeRegistrar>(device, registrar, images, options,
                                 first_template(initial, images, volume_limits),
                                 volume_limits.dimensions)
      .run();
}

}  // namespace warpalign
