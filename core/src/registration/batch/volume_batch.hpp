// Registers many pairs of volumes, each worker with its own VolumeRegistrar.
#pragma once

#include <warpalign/batch.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace warpalign::detail {

/// Two volumes to register.
struct VolumePairInMemory {
  HostVolume reference;  ///< any type but c32, each side 8 to 16384 voxels
  HostVolume moving;     ///< the same limits
  /// An owner of the voxels, kept until the pair is done; null when the caller keeps them alive.
  std::shared_ptr<const void> owner{};
};

/// The outcome of one pair, as BatchResult.
struct VolumeBatchResult {
  std::optional<VolumeRegistration> result;
  std::optional<Error> error;
  std::size_t device = 0;
};

using VolumePairSource = std::function<VolumePairInMemory(std::size_t pair)>;
using VolumePairSink = std::function<bool(std::size_t pair, VolumeBatchResult result)>;

/// Registers pairs of volumes as align_batch() does pairs of images, and throws as it does. Pairs
/// of the same shapes that follow each other save the making of plans.
void align_volume_batch(std::span<const Device> devices, std::size_t pairs,
                        const VolumePairSource& source, const VolumePairSink& sink,
                        const VolumeRegistrationOptions& options, const BatchOptions& batch);

}  // namespace warpalign::detail
