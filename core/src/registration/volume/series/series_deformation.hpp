// The deformations of the volumes of a series.
#pragma once

#include "registration/deformation/deformable_fit.hpp"
#include "registration/deformation/deformation_source.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/volume/series/missing_voxels.hpp"

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <optional>

namespace warpalign::detail {

/// Fits a deformation to each volume, after its affine transform.
class SeriesDeformation {
 public:
  /// `options`: checked, with equal spacings of both volumes. `stream` must outlive this.
  SeriesDeformation(const Device& device, Stream& stream, const VolumeRegistrationOptions& options);

  /// `values`: of the reference, f32, with other values where they are `missing`, which is null if
  /// none is.
  void set_reference(const Image& values, const MissingVoxels* missing);
  /// `values`: of a volume of the same shape. `affine` maps voxels of the reference to those of the
  /// volume. Waits for the device.
  [[nodiscard]] Deformation fit(const Image& values, const MissingVoxels* missing,
                                const HomogeneousMatrix& affine);

 private:
  void take(DeformationSource& source, const Image& values, const MissingVoxels* missing);

  Device device_;
  Stream& stream_;
  StageClock clock_;
  VolumeRegistrationOptions options_;
  DeformationSource reference_, moving_;
  std::optional<DeformableFit> fit_;
};

}  // namespace warpalign::detail
