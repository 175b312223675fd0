// The C interface: registration of volumes.
#include "c_interface/call.hpp"
#include "c_interface/images.hpp"
#include "c_interface/options.hpp"

#include <warpalign/transform.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>

namespace warpalign::c_interface {

namespace {

/// A registrar with a mutex, so that several threads can use it.
struct SharedVolumeRegistrar {
  SharedVolumeRegistrar(const Device& device, const VolumeRegistrationOptions& options)
      : registrar(device, options) {}
  std::mutex mutex;
  VolumeRegistrar registrar;
};

constexpr const char* no_volume_registrar = "the registrar of volumes is null or was destroyed";

Point3 point_of(const double (&xyz)[3]) { return {xyz[0], xyz[1], xyz[2]}; }

void write(const Point3& point, double (&xyz)[3]) {
  xyz[0] = point.x;
  xyz[1] = point.y;
  xyz[2] = point.z;
}

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

void check_result(const warpalign_volume_registration* result) {
  check_size(required(result, "result"), "result");
}

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

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::Device;
using warpalign::HostVolume;
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
  return call([&] {
    warpalign_volume_registrar& target = required(registrar, "registrar");
    target.id = 0;
    const auto opened = object_of<Device>(device.id, no_device);
    target.id = handles<SharedVolumeRegistrar>().insert(
        std::make_shared<SharedVolumeRegistrar>(*opened, options_of(options)));
  });
}

warpalign_status warpalign_set_reference_volume(warpalign_volume_registrar registrar,
                                                const warpalign_image* reference,
                                                const warpalign_image* mask) {
  return call([&] {
    const auto shared = object_of<SharedVolumeRegistrar>(registrar.id, no_volume_registrar);
    const HostVolume volume = host_volume(reference, "the reference");
    const std::lock_guard lock(shared->mutex);
    if (mask == nullptr) return shared->registrar.set_reference(volume);
    shared->registrar.set_reference(volume, host_volume(mask, "the reference's mask"));
  });
}

warpalign_status warpalign_set_initial_matrix(warpalign_volume_registrar registrar,
                                              const double* matrix) {
  return call([&] {
    const auto shared = object_of<SharedVolumeRegistrar>(registrar.id, no_volume_registrar);
    const std::lock_guard lock(shared->mutex);
    if (matrix == nullptr) return shared->registrar.clear_initial();
    warpalign::HomogeneousMatrix initial;
    std::copy_n(matrix, initial.m.size(), initial.m.begin());
    shared->registrar.set_initial(initial);
  });
}

warpalign_status warpalign_align_volume(warpalign_volume_registrar registrar,
                                        const warpalign_image* moving, const warpalign_image* mask,
                                        warpalign_volume_registration* result,
                                        warpalign_transform* transform) {
  return call([&] {
    clear(transform);
    const auto shared = object_of<SharedVolumeRegistrar>(registrar.id, no_volume_registrar);
    check_result(result);
    const HostVolume volume = host_volume(moving, "the moving volume");
    const std::lock_guard lock(shared->mutex);
    if (mask == nullptr) return give(shared->registrar.align(volume), *result, transform);
    give(shared->registrar.align(volume, host_volume(mask, "the moving volume's mask")), *result,
         transform);
  });
}

warpalign_status warpalign_destroy_volume_registrar(warpalign_volume_registrar registrar) {
  return call([&] {
    if (!handles<SharedVolumeRegistrar>().remove(registrar.id))
      throw InvalidHandle{no_volume_registrar};
  });
}
