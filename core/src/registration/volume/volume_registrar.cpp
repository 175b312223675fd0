// The registrar of volumes: checks its arguments, and registers with the chosen modality, or tries
// both for Modality::automatic.
#include <warpalign/volume_registrar.hpp>

#include "device/check.hpp"
#include "registration/deformation/deformable_fit.hpp"
#include "registration/deformation/judgement/deformation_confidence.hpp"
#include "registration/deformation/deformation_source.hpp"
#include "registration/resources/converted_pixels.hpp"
#include "registration/resources/unowned_memory_guard.hpp"
#include "registration/volume/deformation_options.hpp"
#include "registration/volume/initial_transform.hpp"
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

// A larger ratio between spacings, of one volume or of both, indicates a wrong file header.
constexpr double max_spacing_ratio = 1000;

void check_spacings(const VolumeRegistrationOptions& options) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  const auto [least, most] = std::minmax({r.x, r.y, r.z, m.x, m.y, m.z});
  for (const double spacing : {r.x, r.y, r.z, m.x, m.y, m.z}) {
    if (!std::isfinite(spacing) || !(spacing > 0)) {
      detail::refuse(stage, "the voxel spacing must be finite and above 0 along each axis");
    }
  }
  if (most > max_spacing_ratio * least) {
    detail::refuse(stage, "the voxel spacings differ by a factor of more than 1000; check them");
  }
}

void check_motion(const VolumeRegistrationOptions& options) {
  if (options.motion != Motion::translation && options.motion != Motion::rigid &&
      options.motion != Motion::similarity && options.motion != Motion::affine &&
      options.motion != Motion::deformable) {
    detail::refuse(stage,
                   "invalid motion for volumes (choose from: translation, rigid, similarity, "
                   "affine, deformable)");
  }
  if (options.motion == Motion::deformable && !options.refine) {
    detail::refuse(stage, "the motion deformable needs refine");
  }
  if (!(options.max_rotation > 0) || !(options.max_rotation <= 180)) {
    detail::refuse(stage, "max_rotation must be above 0 and at most 180 degrees");
  }
  if (fixes_rotation(options.motion) &&
      options.max_rotation != VolumeRegistrationOptions{}.max_rotation) {
    detail::refuse(stage, "the motion translation keeps the angle at 0; do not set max_rotation");
  }
}

void check_modality(const VolumeRegistrationOptions& options) {
  if (options.modality != Modality::same && options.modality != Modality::other &&
      options.modality != Modality::automatic) {
    detail::refuse(stage, "invalid modality for volumes (choose from: same, other, automatic)");
  }
}

VolumeRegistrationOptions checked(const VolumeRegistrationOptions& options) {
  check_motion(options);
  check_modality(options);
  check_spacings(options);
  detail::check_deformation(options);
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

/// A volume and its optional mask.
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
    detail::refuse(stage, std::string(what) + " must be u8, with 0 where a voxel is ignored");
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

// Modality::automatic begins with the intensities.
VolumeRegistrationOptions first_of(const VolumeRegistrationOptions& options) {
  return options.modality == Modality::automatic ? with_modality(options, Modality::same) : options;
}

std::size_t modalities_of(const VolumeRegistrationOptions& options) {
  return options.modality == Modality::automatic ? 2 : 1;
}

/// Calls `use` with the volume, converted if its type is not one that the kernels load.
template <class Voxels, class Use>
void with_loadable(Stream& stream, detail::StageClock& clock, detail::ConvertedPixels& converted,
                   const Masked<Voxels>& volume, const Use& use) {
  if (detail::is_grey(type_of(volume.voxels))) {
    return use(detail::MaskedVolume<Voxels, Voxels>{volume.voxels, volume.mask, volume.name});
  }
  const Image& grey = converted.convert(stream, clock, volume.voxels);
  use(detail::MaskedVolume<Image, Voxels>{grey, volume.mask, volume.name});
}

/// Calls `work`. Returns false if it throws Error(invalid_image).
template <class Work>
bool try_registration(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image) throw;
    return false;
  }
}

/// The search before a deformation finds an affine transform.
VolumeRegistrationOptions searched(VolumeRegistrationOptions options) {
  if (options.motion == Motion::deformable) options.motion = Motion::affine;
  return options;
}

}  // namespace

struct VolumeRegistrar::State {
  State(const Device& device_, const VolumeRegistrationOptions& chosen)
      : State(device_, searched(chosen), chosen.motion == Motion::deformable) {}

  State(const Device& device_, const VolumeRegistrationOptions& options_, bool deforms)
      : deformable(deforms),
        device(device_),
        options(options_),
        stream(device.make_stream(options_.collect_timings)),
        clock(stream),
        converted_reference(device),
        converted_moving(device),
        pipeline(device, first_of(options_), modalities_of(options_)) {
    if (deforms && options_.modality == Modality::other) {
      reference_intensities.emplace(device);
      moving_intensities.emplace(device);
    }
    if (options_.modality == Modality::automatic) {
      edge_pipeline.emplace(device, with_modality(options_, Modality::other),
                            modalities_of(options_));
    }
  }

  template <class Voxels>
  void set_reference(const Voxels& voxels, const Voxels* mask);
  template <class Voxels>
  VolumeRegistration align(const Voxels& voxels, const Voxels* mask);

  template <class Volume>
  void take_reference(const Volume& volume);
  template <class Volume>
  VolumeRegistration without_deformation(const Volume& volume);
  template <class Volume>
  VolumeRegistration register_moving(const Volume& volume);
  void set_initial(const std::optional<detail::VoxelRows>& rows) {
    initial = rows;
    pipeline.set_initial(rows);
    if (edge_pipeline) edge_pipeline->set_initial(rows);
  }
  [[nodiscard]] VolumeRegistration describe_initial() const;
  void deform(VolumeRegistration& result, bool judged);
  [[nodiscard]] std::size_t modalities() const { return edge_pipeline ? 2 : 1; }

  bool deformable;
  Device device;
  VolumeRegistrationOptions options;
  Stream stream;
  detail::StageClock clock;
  detail::ConvertedPixels converted_reference;
  detail::ConvertedPixels converted_moving;
  detail::VolumePipeline pipeline;                      // for the chosen modality, or intensities
  std::optional<detail::VolumePipeline> edge_pipeline;  // for Modality::automatic
  std::optional<detail::VoxelRows> initial;
  std::optional<detail::DeformableFit> fit;
  std::optional<detail::DeformationSource> filled_reference, filled_moving;
  // For a deformation with Modality::other, whose pipeline has edges only.
  std::optional<detail::DeformationSource> reference_intensities, moving_intensities;
};

template <class Volume>
void VolumeRegistrar::State::take_reference(const Volume& volume) {
  pipeline.set_reference(stream, clock, volume);
  if (reference_intensities) {
    reference_intensities->take(stream, clock, volume.voxels, volume.mask,
                                pipeline.reference().missing() > 0);
  }
  if (!edge_pipeline) return;
  // A volume without edges is registered by its intensities alone.
  (void)try_registration([&] { edge_pipeline->set_reference(stream, clock, volume); });
}

template <class Voxels>
void VolumeRegistrar::State::set_reference(const Voxels& voxels, const Voxels* mask) {
  pipeline.forget_reference();
  if (edge_pipeline) edge_pipeline->forget_reference();
  const detail::StageClock::Call call(clock);
  const Masked<Voxels> volume{voxels, mask, "the reference volume", "the reference's mask"};
  check_registrable(device, volume);
  const Shape shape = shape_of(voxels);
  detail::check_grid_fits(options, shape);
  detail::check_volume_memory(device, shape, shape, {mask != nullptr, modalities()});
  with_loadable(stream, clock, converted_reference, volume,
                [&](const auto& grey) { take_reference(grey); });
}

VolumeRegistration VolumeRegistrar::State::describe_initial() const {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  const detail::VolumeGrid from{pipeline.reference().shape(), {r.x, r.y, r.z}, {}};
  const detail::VolumeGrid to{pipeline.moving().shape(), {m.x, m.y, m.z}, {}};
  VolumeRegistration result =
      detail::described(detail::spatial_transform_of(*initial, from, to), from, to);
  result.motion = options.motion;
  return result;
}

void VolumeRegistrar::State::deform(VolumeRegistration& result, bool judged) {
  const Shape reference = pipeline.reference().shape();
  const Shape moving = pipeline.moving().shape();
  const auto relation = detail::relation_of(result.modality);
  auto& prepared = detail::DeformableFit::of(fit, device, reference, options.reference_spacing,
                                             moving, options.moving_spacing,
                                             detail::deformable_settings(options), relation);
  if (reference_intensities) {
    result.deformation = prepared.run(
        stream, clock, {reference_intensities->values(), reference_intensities->known()},
        {moving_intensities->values(), moving_intensities->known()}, result.matrix, judged);
    return;
  }
  // Masked voxels are NaN.
  const auto completed = [&](const detail::VolumeSource& source,
                             std::optional<detail::DeformationSource>& filled) {
    if (!source.masked()) return detail::FitImage{source.values(), {}};
    if (!filled) filled.emplace(device);
    filled->take_values(stream, source.values());
    return detail::FitImage{filled->values(), filled->known()};
  };
  const detail::FitImage from = completed(pipeline.reference(), filled_reference);
  const detail::FitImage to = completed(pipeline.moving(), filled_moving);
  result.deformation = prepared.run(stream, clock, from, to, result.matrix, judged);
}

// Returns the result with the higher confidence if both modalities are tried. Significances cannot
// be compared directly, because each modality has another limit of acceptance.
template <class Volume>
VolumeRegistration VolumeRegistrar::State::without_deformation(const Volume& volume) {
  VolumeRegistration result = pipeline.align(stream, clock, volume);
  if (result.reliable || !edge_pipeline || !edge_pipeline->has_reference()) return result;
  VolumeRegistration other;
  const bool found = try_registration([&] { other = edge_pipeline->align(stream, clock, volume); });
  return found && other.confidence > result.confidence ? other : result;
}

template <class Volume>
VolumeRegistration VolumeRegistrar::State::register_moving(const Volume& volume) {
  // The correlation that a deformation reaches tells of the same modality only.
  if (deformable && initial && options.modality == Modality::same) {
    pipeline.take_moving(stream, clock, volume);
    VolumeRegistration result = describe_initial();
    deform(result, true);
    result.correlation = result.deformation->correlation;
    detail::judge_by_deformation(result, fit->structure(), pipeline.reference().shape());
    return result;
  }
  VolumeRegistration result = without_deformation(volume);
  if (!deformable) return result;
  if (result.reliable) {
    if (moving_intensities) {
      moving_intensities->take(stream, clock, volume.voxels, volume.mask,
                               pipeline.moving().missing() > 0);
    }
    deform(result, false);
  } else if (result.modality == Modality::same &&
             detail::is_nearly_aligned(result.rotation_deg, result.scale, result.translation,
                                       pipeline.reference().shape())) {
    deform(result, true);
    detail::judge_by_deformation(result, fit->structure(), pipeline.reference().shape());
  }
  return result;
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
  if (initial) detail::check_initial(*initial, options, reference.shape(), shape_of(voxels));
  detail::check_volume_memory(device, reference.shape(), shape_of(voxels),
                              {reference.masked() || mask != nullptr, modalities()});
  VolumeRegistration result;
  with_loadable(stream, clock, converted_moving, volume,
                [&](const auto& grey) { result = register_moving(grey); });
  result.missing = {pipeline.reference().missing(), pipeline.moving().missing()};
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
  const detail::UnownedMemoryGuard use(state_->stream, volume);
  state_->set_reference<Image>(volume, nullptr);
}
void VolumeRegistrar::set_reference(const Image& volume, const Image& mask) {
  const detail::UnownedMemoryGuard use(state_->stream, volume);
  const detail::UnownedMemoryGuard use_of_mask(state_->stream, mask);
  state_->set_reference(volume, &mask);
}
VolumeRegistration VolumeRegistrar::align(const HostVolume& volume) {
  return state_->align<HostVolume>(volume, nullptr);
}
VolumeRegistration VolumeRegistrar::align(const HostVolume& volume, const HostVolume& mask) {
  return state_->align(volume, &mask);
}
VolumeRegistration VolumeRegistrar::align(const Image& volume) {
  const detail::UnownedMemoryGuard use(state_->stream, volume);
  return state_->align<Image>(volume, nullptr);
}
VolumeRegistration VolumeRegistrar::align(const Image& volume, const Image& mask) {
  const detail::UnownedMemoryGuard use(state_->stream, volume);
  const detail::UnownedMemoryGuard use_of_mask(state_->stream, mask);
  return state_->align(volume, &mask);
}

void VolumeRegistrar::set_initial(const HomogeneousMatrix& initial) {
  state_->set_initial(detail::checked_initial(initial));
}
void VolumeRegistrar::clear_initial() noexcept { state_->set_initial({}); }

void VolumeRegistrar::wait_for(const Event& event) { event.wait(state_->stream); }

VolumeRegistration register_volumes(const Device& device, const HostVolume& reference,
                                    const HostVolume& moving,
                                    const VolumeRegistrationOptions& options) {
  VolumeRegistrar registrar(device, options);
  registrar.set_reference(reference);
  return registrar.align(moving);
}

}  // namespace warpalign
