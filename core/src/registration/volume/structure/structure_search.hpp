// Aligns volumes of different subjects or modalities, whose intensities agree too little for a
// test of their correlation, and judges the result by the structure within the outlines.
#pragma once

#include "registration/volume/structure/host_volume.hpp"
#include "registration/volume/structure/structure_agreement.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

struct MatchedStructure {
  SpatialTransform transform;
  double confidence = 0;
  StructureAgreement agreement;
};

struct StructureSearchOptions {
  Motion motion = Motion::affine;
  double max_rotation = 0;     ///< radians
  bool same_contrast = false;  ///< whether an inverted contrast is no match
  bool from_centroids = true;  ///< whether to start at the centroids of the objects, too
};

/// Maximises the normalised mutual information from `starts`, transforms from reference to moving
/// positions: similarities at low resolution, then the motion. The agreement is that of an affine
/// transform fitted from there, so that a rigid motion between subjects of different size counts.
/// Returns nothing if no start leaves enough in common. Works on the host: the volumes have at most
/// 64 voxels a side.
[[nodiscard]] std::optional<MatchedStructure> find_structure(
    const OverviewVolume& reference, const OverviewVolume& moving,
    std::span<const SpatialTransform> starts, const StructureSearchOptions& options);

}  // namespace warpalign::detail
