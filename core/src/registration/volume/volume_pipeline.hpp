// Registers volumes for one modality: holds their values on the device, and the searches.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/initial_transform.hpp"
#include "registration/volume/motion_search.hpp"
#include "registration/volume/pyramid/volume_source.hpp"
#include "registration/volume/search/volume_search.hpp"

#include <warpalign/volume_registrar.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace warpalign::detail {

inline Shape shape_of(const HostVolume& volume) { return volume.shape; }
inline Shape shape_of(const Image& volume) { return volume.shape(); }
inline PixelType type_of(const HostVolume& volume) { return volume.type; }
inline PixelType type_of(const Image& volume) { return volume.type(); }

/// A volume of a type that the kernels load, and its optional mask.
template <class Voxels, class Mask>
struct MaskedVolume {
  const Voxels& voxels;
  const Mask* mask = nullptr;
  const char* what = "";  ///< the name of the volume in messages
};

/// Holds plans, memory and the values of the reference. Voxels and masks are HostVolume or Image.
class VolumePipeline {
 public:
  /// `options.modality` is same or other. `modalities`: how many modalities the caller tries before
  /// it takes the best result; the null test corrects for them.
  VolumePipeline(const Device& device, const VolumeRegistrationOptions& options,
                 std::size_t modalities);

  [[nodiscard]] bool has_reference() const { return has_reference_; }
  void forget_reference() { has_reference_ = false; }
  /// Sets the transform near which later calls of align() look for the answer, or none.
  void set_initial(const std::optional<VoxelRows>& initial) { initial_ = initial; }
  [[nodiscard]] const VolumeSource& reference() const { return *reference_; }
  [[nodiscard]] const VolumeSource& moving() const { return *moving_; }

  /// Throws Error(invalid_image), and sets no reference, if the volume cannot be registered.
  template <class Voxels, class Mask>
  void set_reference(Stream& stream, StageClock& clock, const MaskedVolume<Voxels, Mask>& volume) {
    has_reference_ = search_has_reference_ = motion_search_has_reference_ = false;
    if (reference_ && reference_->shape() != shape_of(volume.voxels)) release_searches();
    take(stream, clock, reference_, volume, options_.reference_spacing);
    has_reference_ = true;
  }
  /// Takes the moving volume without registering it. Throws as align().
  template <class Voxels, class Mask>
  void take_moving(Stream& stream, StageClock& clock, const MaskedVolume<Voxels, Mask>& volume) {
    take(stream, clock, moving_, volume, options_.moving_spacing);
  }
  /// Throws Error(invalid_image) if the volume cannot be registered. Waits for the device.
  template <class Voxels, class Mask>
  [[nodiscard]] VolumeRegistration align(Stream& stream, StageClock& clock,
                                         const MaskedVolume<Voxels, Mask>& volume) {
    take(stream, clock, moving_, volume, options_.moving_spacing);
    return register_pair(stream, clock);
  }

 private:
  template <class Voxels, class Mask>
  void take(Stream& stream, StageClock& clock, std::optional<VolumeSource>& source,
            const MaskedVolume<Voxels, Mask>& volume, const Point3& spacing) {
    const auto make = [&](bool masked) {
      prepare(source, type_of(volume.voxels), shape_of(volume.voxels), spacing, masked);
    };
    make(volume.mask != nullptr);
    if (volume.mask != nullptr) source->set_mask(stream, clock, *volume.mask);
    if (source->take(stream, clock, volume.voxels, volume.what)) return;
    // Voxels are missing, which the source with a mask ignores.
    make(true);
    source->set_whole_mask(stream, clock);
    static_cast<void>(source->take(stream, clock, volume.voxels, volume.what));
  }
  void prepare(std::optional<VolumeSource>& source, PixelType type, const Shape& shape,
               const Point3& spacing, bool masked) const;
  void release_searches();
  void prepare_search(Stream& stream, StageClock& clock);
  void prepare_motion_search(Stream& stream, StageClock& clock);
  [[nodiscard]] VolumeRegistration search_pair(Stream& stream, StageClock& clock);
  /// The result, or a more confident one that find_structure() reaches from `starts`.
  [[nodiscard]] VolumeRegistration judged_by_structure(Stream& stream, StageClock& clock,
                                                       const VolumeRegistration& result,
                                                       std::span<const SpatialTransform> starts,
                                                       bool from_centroids);
  /// Subjects differ in their proportions, which only an affine transform follows. A search of
  /// both modalities may take its time.
  [[nodiscard]] bool compares_structure() const {
    const bool is_affine =
        options_.motion == Motion::affine || options_.motion == Motion::deformable;
    const bool is_automatic = modalities_ > 1 && options_.motion != Motion::translation;
    return options_.refine && (is_affine || is_automatic);
  }
  [[nodiscard]] bool marked() const { return reference_->masked() || moving_->masked(); }
  [[nodiscard]] VolumeRegistration register_pair(Stream& stream, StageClock& clock);
  [[nodiscard]] VolumeRegistration search_translation(Stream& stream, StageClock& clock);
  [[nodiscard]] double overlap_at(Stream& stream, StageClock& clock, const Point3& shift);

  Device device_;
  VolumeRegistrationOptions options_;
  std::size_t modalities_;
  std::optional<VolumeSource> reference_, moving_;
  std::optional<VolumeSearch> search_;
  std::optional<MotionSearch> motion_search_;
  bool has_reference_ = false;
  bool search_has_reference_ = false;
  bool motion_search_has_reference_ = false;
  std::optional<VoxelRows> initial_;
};

}  // namespace warpalign::detail
