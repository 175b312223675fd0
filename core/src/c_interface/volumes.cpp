// The C interface: registration of volumes.
#include "c_interface/call.hpp"
#include "c_interface/images.hpp"
#include "c_interface/options.hpp"
#include "c_interface/shared_registrar.hpp"

#include <warpalign/transform.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

namespace warpalign::c_interface {

namespace {

Point3 point_of(const double (&xyz)[3]) { return {xyz[0], xyz[1], xyz[2]}; }

void write(const Point3& point, double (&xyz)[3]) {
  xyz[0] = point.x;
  xyz[1] = point.y;
  xyz[2] = point.z;
}

}  // namespace

VolumeRegistrationOptions options_of(const warpalign_volume_options* given) {
  VolumeRegistrationOptions options;
  if (given == nullptr) return options;
  check_size(*given, "options");
  options.motion = motion_of(given->motion);
  options.modality = modality_of(given->modality);
  options.refine = flag(given->refine, "refine");
  options.max_rotation = given->max_rotation;
  options.reference_spacing = point_of(given->reference_spacing);
  options.moving_spacing = point_of(given->moving_spacing);
  options.max_shift = point_of(given->max_shift);
  if (given->grid_spacing != 0) options.grid_spacing = given->grid_spacing;
  options.bending_weight = given->bending_weight;
  return options;
}

namespace {

void describe_deformation(const VolumeRegistration& found, warpalign_volume_registration& result) {
  result.deformed = found.deformation ? 1 : 0;
  Deformation measures;
  measures.min_jacobian = measures.max_jacobian = 0;
  if (found.deformation) measures = *found.deformation;
  result.window_correlation_before = measures.correlation_before;
  result.window_correlation = measures.correlation;
  result.min_jacobian = measures.min_jacobian;
  result.max_jacobian = measures.max_jacobian;
  result.extreme_jacobians = measures.extreme_jacobians;
}

void describe(const VolumeRegistration& found, warpalign_volume_registration& result) {
  std::copy(found.matrix.m.begin(), found.matrix.m.end(), std::begin(result.matrix));
  write(found.translation, result.translation);
  result.rotation_deg = found.rotation_deg;
  write(found.rotation_axis, result.rotation_axis);
  result.scale = found.scale;
  result.confidence = found.confidence;
  result.correlation = found.correlation;
  result.significance = found.significance;
  result.overlap = found.overlap;
  result.reliable = found.reliable ? 1 : 0;
  result.refined = found.refined ? 1 : 0;
  result.motion = number_of(found.motion);
  result.modality = number_of(found.modality);
  result.missing_reference = found.missing.reference;
  result.missing_moving = found.missing.moving;
  describe_deformation(found, result);
}

/// From voxels of the reference to voxels of the moving volume.
Transform transform_of(const VolumeRegistration& found) {
  if (found.deformation) return found.deformation->transform;
  return Transform::of_matrix(TransformKind::affine, 3, found.matrix);
}

/// `transform` may be null.
void give(const VolumeRegistration& found, warpalign_volume_registration& result,
          warpalign_transform* transform) {
  if (transform != nullptr && found.reliable) {
    transform->id = handles<Transform>().insert(std::make_shared<Transform>(transform_of(found)));
  }
  describe(found, result);
}

void clear(warpalign_transform* transform) {
  if (transform != nullptr) transform->id = 0;
}

/// Registrars of volumes, for SharedRegistrar.
struct VolumeKind {
  using Registrar = VolumeRegistrar;
  using Options = VolumeRegistrationOptions;
  using View = HostVolume;
  using Initial = HomogeneousMatrix;
  static constexpr const char* no_registrar = "the registrar of volumes is null or was destroyed";
  static constexpr const char* moving_mask = "the moving volume's mask";

  static View view(const warpalign_image* volume, const char* what) {
    return host_volume(volume, what);
  }
  static Shape shape_of(const View& volume) { return volume.shape; }
  static Options options_of(const warpalign_volume_options* options) {
    return c_interface::options_of(options);
  }
  static Initial initial_of(const double* matrix) {
    HomogeneousMatrix initial;
    std::copy_n(matrix, initial.m.size(), initial.m.begin());
    return initial;
  }
};

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::Device;
using warpalign::HostVolume;
using warpalign::Shape;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

warpalign_status warpalign_default_volume_options(warpalign_volume_options* options,
                                                  size_t struct_size) {
  return call([&] {
    check_size<warpalign_volume_options>(struct_size, "options");
    warpalign_volume_options& target = required(options, "options");
    const VolumeRegistrationOptions defaults;
    target = {};
    target.struct_size = sizeof target;
    target.motion = WARPALIGN_TRANSLATION;
    target.modality = WARPALIGN_MODALITY_SAME;
    target.refine = defaults.refine ? 1 : 0;
    target.max_rotation = defaults.max_rotation;
    write(defaults.reference_spacing, target.reference_spacing);
    write(defaults.moving_spacing, target.moving_spacing);
    write(defaults.max_shift, target.max_shift);
    target.bending_weight = defaults.bending_weight;
  });
}

warpalign_status warpalign_register_volumes(warpalign_device device,
                                            const warpalign_image* reference,
                                            const warpalign_image* moving,
                                            const warpalign_volume_options* options,
                                            warpalign_volume_registration* result,
                                            warpalign_transform* transform) {
  return call([&] {
    clear(transform);
    const auto opened = object_of<Device>(device.id, no_device);
    check_result(result);
    const HostVolume first = host_volume(reference, "the reference");
    const HostVolume second = host_volume(moving, "the moving volume");
    give(warpalign::register_volumes(*opened, first, second, options_of(options)), *result,
         transform);
  });
}

warpalign_status warpalign_make_volume_registrar(warpalign_device device,
                                                 const warpalign_volume_options* options,
                                                 warpalign_volume_registrar* registrar) {
  return make_registrar<VolumeKind>(device, options, registrar);
}

warpalign_status warpalign_set_reference_volume(warpalign_volume_registrar registrar,
                                                const warpalign_image* reference,
                                                const warpalign_image* mask) {
  return set_reference<VolumeKind>(registrar, reference, mask);
}

warpalign_status warpalign_set_initial_matrix(warpalign_volume_registrar registrar,
                                              const double* matrix) {
  return set_initial<VolumeKind>(registrar, matrix);
}

warpalign_status warpalign_align_volume(warpalign_volume_registrar registrar,
                                        const warpalign_image* moving, const warpalign_image* mask,
                                        warpalign_volume_registration* result,
                                        warpalign_transform* transform) {
  return call([&] {
    clear(transform);
    const auto shared = registrar_of<VolumeKind>(registrar);
    check_result(result);
    shared->align(
        host_volume(moving, "the moving volume"), mask,
        [&](const VolumeRegistration& found, const Shape&) { give(found, *result, transform); });
  });
}

warpalign_status warpalign_destroy_volume_registrar(warpalign_volume_registrar registrar) {
  return destroy_registrar<VolumeKind>(registrar);
}
