// The registrar of volumes: checks its arguments, searches, refines and judges the result.
#include <warpalign/volume_registrar.hpp>

#include "device/check.hpp"
#include "registration/confidence.hpp"
#include "registration/converted_pixels.hpp"
#include "registration/foreign_use.hpp"
#include "registration/volume/motion_search.hpp"
#include "registration/volume/volume_fit.hpp"
#include "registration/volume/volume_geometry.hpp"
#include "registration/volume/volume_memory.hpp"
#include "registration/volume/volume_search.hpp"
#include "registration/volume/volume_source.hpp"

#include <warpalign/interop.hpp>
#include <warpalign/motion_limits.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace warpalign {

namespace {

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
  if (options.modality != Modality::same && options.modality != Modality::other) {
    detail::refuse(stage, "the modality of volumes is same or other; automatic is for images only");
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

PixelType type_of(const HostVolume& volume) { return volume.type; }
PixelType type_of(const Image& volume) { return volume.type(); }
Shape shape_of(const HostVolume& volume) { return volume.shape; }
Shape shape_of(const Image& volume) { return volume.shape(); }

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

// Translations that are counted in voxels need no spacing and have a search of their own, at full
// resolution.
bool counts_voxels(const VolumeRegistrationOptions& options) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  return options.motion == Motion::translation && r.x == m.x && r.y == m.y && r.z == m.z;
}

bool exceeds(const Point3& shift, const Point3& limit) {
  const auto outside = [](double s, double l) { return l > 0 && std::abs(s) > l + 0.5; };
  return outside(shift.x, limit.x) || outside(shift.y, limit.y) || outside(shift.z, limit.z);
}

}  // namespace

struct VolumeRegistrar::State {
  State(const Device& device_, const VolumeRegistrationOptions& options_)
      : device(device_),
        options(options_),
        stream(device.make_stream(options.collect_timings)),
        clock(stream),
        converted_reference(device),
        converted_moving(device) {}

  template <class Voxels>
  void set_reference(const Voxels& voxels, const Voxels* mask);
  template <class Voxels>
  VolumeRegistration align(const Voxels& voxels, const Voxels* mask);

  /// What a volume becomes, and what its voxels are converted by.
  struct Target {
    std::optional<detail::VolumeSource>& source;
    detail::ConvertedPixels& converted;
    const Point3& spacing;
  };
  template <class Voxels>
  void take(const Target& target, const Masked<Voxels>& volume);
  template <class Voxels, class Mask>
  void take(const Target& target, const Voxels& voxels, const Mask* mask, const char* what);
  [[nodiscard]] bool marked() const { return reference->masked() || moving->masked(); }
  [[nodiscard]] double overlap_at(const Point3& shift);
  void prepare_search();
  void prepare_motion_search();
  VolumeRegistration register_moving();

  Device device;
  VolumeRegistrationOptions options;
  Stream stream;
  detail::StageClock clock;
  detail::ConvertedPixels converted_reference;
  detail::ConvertedPixels converted_moving;
  std::optional<detail::VolumeSource> reference;
  std::optional<detail::VolumeSource> moving;
  std::optional<detail::VolumeSearch> search;
  std::optional<detail::MotionSearch> motion_search;
  bool has_reference = false;
  bool search_has_reference = false;
};

template <class Voxels>
void VolumeRegistrar::State::take(const Target& target, const Masked<Voxels>& volume) {
  const Voxels& voxels = volume.voxels;
  if (detail::is_grey(type_of(voxels))) return take(target, voxels, volume.mask, volume.name);
  take(target, target.converted.convert(stream, clock, voxels), volume.mask, volume.name);
}

template <class Voxels, class Mask>
void VolumeRegistrar::State::take(const Target& target, const Voxels& voxels, const Mask* mask,
                                  const char* what) {
  std::optional<detail::VolumeSource>& source = target.source;
  const bool masked = mask != nullptr;
  if (!source || !source->matches(type_of(voxels), shape_of(voxels), masked)) {
    source.reset();  // release the old memory before allocating the new
    source.emplace(device, type_of(voxels), shape_of(voxels), options.modality, target.spacing,
                   masked);
  }
  if (masked) source->set_mask(stream, clock, *mask);
  source->take(stream, clock, voxels, what);
}

template <class Voxels>
void VolumeRegistrar::State::set_reference(const Voxels& voxels, const Voxels* mask) {
  has_reference = search_has_reference = false;
  const detail::StageClock::Call call(clock);
  const Masked<Voxels> volume{voxels, mask, "the reference volume", "the reference's mask"};
  check_registrable(device, volume);
  const Shape shape = shape_of(voxels);
  detail::check_volume_memory(device, shape, shape, mask != nullptr);
  if (reference && reference->shape() != shape) {
    search.reset();
    motion_search.reset();
  }
  take({reference, converted_reference, options.reference_spacing}, volume);
  has_reference = true;
}

void VolumeRegistrar::State::prepare_search() {
  if (!search || !search->matches(reference->shape(), moving->shape(), marked())) {
    search.reset();
    search_has_reference = false;
    search.emplace(device, reference->shape(), moving->shape(), marked());
  }
  if (!search_has_reference) search->set_reference(stream, clock, reference->smoothed());
  search_has_reference = true;
}

void VolumeRegistrar::State::prepare_motion_search() {
  if (!motion_search || !motion_search->matches(reference->shape(), moving->shape(), marked())) {
    motion_search.reset();
    search_has_reference = false;
    motion_search.emplace(device, options, reference->shape(), moving->shape(), marked());
  }
  if (!search_has_reference) motion_search->set_reference(stream, clock, *reference);
  search_has_reference = true;
}

template <class Voxels>
VolumeRegistration VolumeRegistrar::State::align(const Voxels& voxels, const Voxels* mask) {
  if (!has_reference) detail::refuse(stage, "set_reference must be called before align");
  const detail::StageClock::Call call(clock);
  const Masked<Voxels> volume{voxels, mask, "the moving volume", "the moving volume's mask"};
  check_registrable(device, volume);
  detail::check_volume_memory(device, reference->shape(), shape_of(voxels),
                              reference->masked() || mask != nullptr);
  take({moving, converted_moving, options.moving_spacing}, volume);
  VolumeRegistration result;
  if (counts_voxels(options)) {
    prepare_search();
    result = register_moving();
    const Point3& t = result.translation;
    result.matrix = Transform::affine3({1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z});
  } else {
    prepare_motion_search();
    result = motion_search->run(stream, clock, *moving);
  }
  result.timings = clock.take();
  return result;
}

// With masks, that at the nearest shift by whole voxels.
double VolumeRegistrar::State::overlap_at(const Point3& shift) {
  if (!marked()) {
    return detail::common_voxels(reference->shape(), moving->shape(), shift) /
           static_cast<double>(reference->shape().pixels());
  }
  const std::array<VoxelShift, 1> nearest{
      {{std::llround(shift.x), std::llround(shift.y), std::llround(shift.z)}}};
  std::span<const VolumeMoments> moments;
  clock.run("volume_moments", [&] {
    moments = search->sums().moments(stream, reference->values(), moving->values(), nearest);
  });
  return moments.front().voxels / reference->valid();
}

VolumeRegistration VolumeRegistrar::State::register_moving() {
  VolumeRegistration result;
  const double min_overlap =
      detail::min_common_voxels(reference->valid_smoothed(), moving->valid_smoothed());
  const auto whole = search->find(stream, clock, reference->smoothed(), moving->smoothed(),
                                  {options.max_shift, min_overlap});
  if (!whole) return result;
  const Point3 start = detail::point_of(whole->shift);
  const detail::VolumePair pair{search->sums(), reference->smoothed(), moving->values(),
                                min_overlap, whole->independent_fraction};
  std::optional<detail::VolumeAgreement> found;
  if (options.refine) found = detail::fit_volumes(stream, clock, pair, start);
  if (found && exceeds(found->shift, options.max_shift)) found.reset();
  result.refined = found.has_value();
  if (!found) found = detail::evaluate_volumes(stream, clock, pair, start);
  result.translation = start;
  if (!found) return result;
  result.translation = found->shift;
  result.correlation = found->correlation;
  result.significance = found->significance;
  result.overlap = overlap_at(found->shift);
  result.confidence = detail::volume_confidence(found->significance,
                                                detail::half_significance_of(options.modality));
  // A shift that cannot be refined is probably not at the right position.
  if (options.refine && !result.refined) {
    result.confidence = std::min(result.confidence, detail::max_unrefined_confidence);
  }
  result.reliable = result.confidence >= 0.5;
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
