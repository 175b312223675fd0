// The registrar of volumes: checks its arguments, and registers by the modality asked for, or by
// each.
#include <warpalign/volume_registrar.hpp>

#include "device/check.hpp"
#include "registration/resources/converted_pixels.hpp"
#include "registration/resources/foreign_use.hpp"
#include "registration/volume/volume_memory.hpp"
#include "registration/volume/volume_pipeline.hpp"

#include <warpalign/error.hpp>
#include <warpalign/interop.hpp>
#include <warpalign/motion_limits.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace warpalign {

namespace {

using detail::shape_of;
using detail::type_of;

constexpr const char* stage = "register_volume";
constexpr std::int64_t min_side = 8;

// Voxels of one volume that are longer than those of the other, or along one axis than along
// another, by more than this come from a header that is not right.
constexpr double max_spacing_ratio = 1000;

void check_spacings(const VolumeRegistrationOptions& options) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  const auto [least, most] = std::minmax({r.x, r.y, r.z, m.x, m.y, m.z});
  for (const double spacing : {r.x, r.y, r.z, m.x, m.y, m.z}) {
    if (!std::isfinite(spacing) || !(spacing > 0)) {
      detail::refuse(stage, "the spacing from voxel to voxel must be above 0 along each axis");
    }
  }
  if (most > max_spacing_ratio * least) {
    detail::refuse(stage, "the spacings from voxel to voxel differ by a factor of more than 1000");
  }
}

void check_motion(const VolumeRegistrationOptions& options) {
  if (options.motion != Motion::translation && options.motion != Motion::rigid &&
      options.motion != Motion::similarity && options.motion != Motion::affine) {
    detail::refuse(stage, "the motion of volumes is translation, rigid, similarity or affine");
  }
  if (!(options.max_rotation > 0) || !(options.max_rotation <= 180)) {
    detail::refuse(stage, "max_rotation must be above 0, and at most 180 degrees");
  }
  if (keeps_angle(options.motion) &&
      options.max_rotation != VolumeRegistrationOptions{}.max_rotation) {
    detail::refuse(stage, "the motion translation keeps the angle at 0: max_rotation has no use");
  }
}

void check_modality(const VolumeRegistrationOptions& options) {
  if (options.modality != Modality::same && options.modality != Modality::other &&
      options.modality != Modality::automatic) {
    detail::refuse(stage, "the modality of volumes is same, other or automatic");
  }
}

VolumeRegistrationOptions checked(const VolumeRegistrationOptions& options) {
  check_motion(options);
  check_modality(options);
  check_spacings(options);
  for (const double limit : {options.max_shift.x, options.max_shift.y, options.max_shift.z}) {
    if (!std::isfinite(limit) || limit < 0) {
      detail::refuse(stage, "max_shift must be 0 or more along each axis");
    }
  }
  return options;
}

void check_registrable(const char* what, PixelType type, const Shape& shape) {
  detail::check_real(stage, what, type);
  for (const std::int64_t side : {shape.width, shape.height, shape.depth}) {
    if (side < min_side || side > detail::max_side) {
      detail::refuse(stage, std::string(what) + " is " + to_string(shape) + "; each side must be " +
                                std::to_string(min_side) + " to " +
                                std::to_string(detail::max_side) + " voxels");
    }
  }
}

void check_pixels(const char* what, const Device& device, const Image& volume) {
  detail::check_same_device(stage, what, device, volume.device());
}
void check_pixels(const char* what, const Device& /*device*/, const HostVolume& volume) {
  if (volume.data == nullptr) detail::refuse(stage, std::string(what) + " has no voxels");
}

/// A volume and its mask, which there may not be.
template <class Voxels>
struct Masked {
  const Voxels& voxels;
  const Voxels* mask = nullptr;
  const char* name = "";
  const char* mask_name = "";
};

template <class Voxels>
void check_mask(const Device& device, const Masked<Voxels>& volume) {
  if (volume.mask == nullptr) return;
  const char* what = volume.mask_name;
  if (type_of(*volume.mask) != PixelType::u8) {
    detail::refuse(stage, std::string(what) + " must be u8, 0 where a voxel does not count");
  }
  if (shape_of(*volume.mask) != shape_of(volume.voxels)) {
    detail::refuse(stage, std::string(what) + " is " + to_string(shape_of(*volume.mask)) +
                              ", but its volume is " + to_string(shape_of(volume.voxels)));
  }
  check_pixels(what, device, *volume.mask);
}

template <class Voxels>
void check_registrable(const Device& device, const Masked<Voxels>& volume) {
  check_registrable(volume.name, type_of(volume.voxels), shape_of(volume.voxels));
  check_pixels(volume.name, device, volume.voxels);
  check_mask(device, volume);
}

VolumeRegistrationOptions with_modality(VolumeRegistrationOptions options, Modality modality) {
  options.modality = modality;
  return options;
}

// automatic begins with grey levels.
VolumeRegistrationOptions first_of(const VolumeRegistrationOptions& options) {
  return options.modality == Modality::automatic ? with_modality(options, Modality::same) : options;
}

std::size_t modalities_of(const VolumeRegistrationOptions& options) {
  return options.modality == Modality::automatic ? 2 : 1;
}

/// Calls `use` with the volume as the kernels load it.
template <class Voxels, class Use>
void with_grey(Stream& stream, detail::StageClock& clock, detail::ConvertedPixels& converted,
               const Masked<Voxels>& volume, const Use& use) {
  if (detail::is_grey(type_of(volume.voxels))) {
    return use(detail::MaskedVolume<Voxels, Voxels>{volume.voxels, volume.mask, volume.name});
  }
  const Image& grey = converted.convert(stream, clock, volume.voxels);
  use(detail::MaskedVolume<Image, Voxels>{grey, volume.mask, volume.name});
}

/// Whether `work` finds that its volume can be registered.
template <class Work>
bool unless_invalid(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image) throw;
    return false;
  }
}

}  // namespace

struct VolumeRegistrar::State {
  State(const Device& device_, const VolumeRegistrationOptions& options_)
      : device(device_),
        stream(device.make_stream(options_.collect_timings)),
        clock(stream),
        converted_reference(device),
        converted_moving(device),
        pipeline(device, first_of(options_), modalities_of(options_)) {
    if (options_.modality == Modality::automatic) {
      by_edges.emplace(device, with_modality(options_, Modality::other), modalities_of(options_));
    }
  }

  template <class Voxels>
  void set_reference(const Voxels& voxels, const Voxels* mask);
  template <class Voxels>
  VolumeRegistration align(const Voxels& voxels, const Voxels* mask);

  template <class Volume>
  void take_reference(const Volume& volume);
  template <class Volume>
  VolumeRegistration register_moving(const Volume& volume);
  [[nodiscard]] std::size_t modalities() const { return by_edges ? 2 : 1; }

  Device device;
  Stream stream;
  detail::StageClock clock;
  detail::ConvertedPixels converted_reference;
  detail::ConvertedPixels converted_moving;
  detail::VolumePipeline pipeline;                 // by the modality asked for, or grey levels
  std::optional<detail::VolumePipeline> by_edges;  // for Modality::automatic
};

template <class Volume>
void VolumeRegistrar::State::take_reference(const Volume& volume) {
  pipeline.set_reference(stream, clock, volume);
  if (!by_edges) return;
  // A volume without edges is registered by its grey levels alone.
  (void)unless_invalid([&] { by_edges->set_reference(stream, clock, volume); });
}

template <class Voxels>
void VolumeRegistrar::State::set_reference(const Voxels& voxels, const Voxels* mask) {
  pipeline.forget_reference();
  if (by_edges) by_edges->forget_reference();
  const detail::StageClock::Call call(clock);
  const Masked<Voxels> volume{voxels, mask, "the reference volume", "the reference's mask"};
  check_registrable(device, volume);
  const Shape shape = shape_of(voxels);
  detail::check_volume_memory(device, shape, shape, {mask != nullptr, modalities()});
  with_grey(stream, clock, converted_reference, volume,
            [&](const auto& grey) { take_reference(grey); });
}

// Of two answers the one counts with more confidence: that is the one with the larger significance
// in units of what a confidence of one half needs.
template <class Volume>
VolumeRegistration VolumeRegistrar::State::register_moving(const Volume& volume) {
  VolumeRegistration result = pipeline.align(stream, clock, volume);
  if (result.reliable || !by_edges || !by_edges->has_reference()) return result;
  VolumeRegistration other;
  const bool found = unless_invalid([&] { other = by_edges->align(stream, clock, volume); });
  return found && other.confidence > result.confidence ? other : result;
}

template <class Voxels>
VolumeRegistration VolumeRegistrar::State::align(const Voxels& voxels, const Voxels* mask) {
  if (!pipeline.has_reference()) {
    detail::refuse(stage, "set_reference must be called before align");
  }
  const detail::StageClock::Call call(clock);
  const Masked<Voxels> volume{voxels, mask, "the moving volume", "the moving volume's mask"};
  check_registrable(device, volume);
  const detail::VolumeSource& reference = pipeline.reference();
  detail::check_volume_memory(device, reference.shape(), shape_of(voxels),
                              {reference.masked() || mask != nullptr, modalities()});
  VolumeRegistration result;
  with_grey(stream, clock, converted_moving, volume,
            [&](const auto& grey) { result = register_moving(grey); });
  result.timings = clock.take();
  return result;
}

VolumeRegistrar::VolumeRegistrar(const Device& device, const VolumeRegistrationOptions& options)
    : state_(std::make_unique<State>(device, checked(options))) {}
VolumeRegistrar::VolumeRegistrar(VolumeRegistrar&&) noexcept = default;
VolumeRegistrar& VolumeRegistrar::operator=(VolumeRegistrar&&) noexcept = default;
VolumeRegistrar::~VolumeRegistrar() = default;

void VolumeRegistrar::set_reference(const HostVolume& volume) {
  state_->set_reference<HostVolume>(volume, nullptr);
}
void VolumeRegistrar::set_reference(const HostVolume& volume, const HostVolume& mask) {
  state_->set_reference(volume, &mask);
}
void VolumeRegistrar::set_reference(const Image& volume) {
  const detail::ForeignUse use(state_->stream, volume);
  state_->set_reference<Image>(volume, nullptr);
}
void VolumeRegistrar::set_reference(const Image& volume, const Image& mask) {
  const detail::ForeignUse use(state_->stream, volume);
  const detail::ForeignUse use_of_mask(state_->stream, mask);
  state_->set_reference(volume, &mask);
}
VolumeRegistration VolumeRegistrar::align(const HostVolume& volume) {
  return state_->align<HostVolume>(volume, nullptr);
}
VolumeRegistration VolumeRegistrar::align(const HostVolume& volume, const HostVolume& mask) {
  return state_->align(volume, &mask);
}
VolumeRegistration VolumeRegistrar::align(const Image& volume) {
  const detail::ForeignUse use(state_->stream, volume);
  return state_->align<Image>(volume, nullptr);
}
VolumeRegistration VolumeRegistrar::align(const Image& volume, const Image& mask) {
  const detail::ForeignUse use(state_->stream, volume);
  const detail::ForeignUse use_of_mask(state_->stream, mask);
  return state_->align(volume, &mask);
}

void VolumeRegistrar::wait_for(const Event& event) { event.wait(state_->stream); }

VolumeRegistration register_volumes(const Device& device, const HostVolume& reference,
                                    const HostVolume& moving,
                                    const VolumeRegistrationOptions& options) {
  VolumeRegistrar registrar(device, options);
  registrar.set_reference(reference);
  return registrar.align(moving);
}

}  // namespace warpalign
