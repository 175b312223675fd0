// Normalised mutual information of two volumes: how well the intensities of one predict those of
// the other, whatever the relation between them.
#pragma once

#include "registration/volume/structure/host_volume.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Compares voxels of the reference with the moving volume where a transform puts them.
class MutualInformation {
 public:
  /// Both volumes must outlive this. Compares voxels within `margin` voxels of the box around the
  /// reference's `object`, or every second of them with `sparse`.
  MutualInformation(const OverviewVolume& reference, const std::vector<bool>& object,
                    const OverviewVolume& moving, const std::vector<bool>& moving_object,
                    bool sparse);

  /// (H(a) + H(b)) / H(a, b), 1 to 2 (Studholme, Hill & Hawkes 1999); 0 if too little overlaps.
  [[nodiscard]] double operator()(const SpatialTransform& transform);

 private:
  static constexpr std::size_t bins = 32;
  struct Sample {
    float x, y, z;  // voxels of the reference
    std::size_t bin;
  };
  /// Maps intensities to bins.
  struct Binning {
    float first = 0, per_value = 0;
    [[nodiscard]] float operator()(float value) const;
  };
  static Binning binning_of(const std::vector<float>& values, const std::vector<bool>& object);

  const VolumeGrid* reference_;
  const OverviewVolume* moving_;
  std::vector<Sample> samples_;
  OverviewVolume binned_;  // the moving volume's intensities in bins
  std::vector<double> joint_;
};

}  // namespace warpalign::detail
