// Searches rotations and shifts between two volumes at low resolution.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/fitting/affine_fit.hpp"
#include "registration/volume/geometry/volume_grid.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/rotation_scores.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Resamples volumes of one grid onto the cubic frame of the search.
class SearchFrame {
 public:
  /// `marked`: masked voxels are NaN; they become 0.
  SearchFrame(const Device& device, const VolumeGrid& volume, const VolumeGrid& frame, bool marked);

  /// Sets the volume, tapered towards its faces.
  void take(Stream& stream, StageClock& clock, const Image& values);
  /// Resamples the volume onto the frame; it is 0 beyond its faces. `transform` maps positions in
  /// the frame to positions in the volume.
  void place(Stream& stream, StageClock& clock, const SpatialTransform& transform,
             Image& placed) const;

 private:
  VolumeGrid volume_, frame_;
  PadVolumePlan taper_;
  InterpolatePlan interpolate_;
  Image tapered_;
};

/// Proposes rotations by comparing the magnitudes of the spectra, from coarse to fine. Phase
/// correlation then proposes shifts for the best rotations.
class OrientationSearch {
 public:
  /// `max_rotation`: in radians; 0 searches shifts alone. `marked`: masked voxels are NaN.
  OrientationSearch(const Device& device, const VolumeGrid& reference, const VolumeGrid& moving,
                    double max_rotation, bool marked);

  static constexpr std::size_t max_candidates = 48;

  /// The voxel spacing of the frame on which volumes are compared.
  [[nodiscard]] static double spacing_for(const VolumeGrid& reference, const VolumeGrid& moving);

  void set_reference(Stream& stream, StageClock& clock, const Image& reference);
  /// Returns at most max_candidates candidates, best first, which stay valid until the next call.
  /// Waits for the device.
  [[nodiscard]] std::span<VolumeCandidate> find(Stream& stream, StageClock& clock,
                                                const Image& moving);

  /// The number of coarse rotations that the search tries.
  [[nodiscard]] std::size_t hypotheses() const { return coarse_.size(); }

 private:
  struct Scored {
    Matrix3 rotation;
    double score = 0;
  };
  void take_ball(Stream& stream, StageClock& clock, const SearchFrame& frame,
                 std::vector<float>& cube);
  void rank(Stream& stream, StageClock& clock, std::span<const Matrix3> rotations, int radius);
  void keep_distinct(double angle, std::size_t count);
  void propose_rotations(Stream& stream, StageClock& clock);
  /// Adds a candidate of this rotation for each shift that the correlations propose, from
  /// cross_powers_[first] on.
  void add_shifts(Stream& stream, StageClock& clock, const Matrix3& rotation, std::size_t first);

  VolumeGrid frame_;
  double max_rotation_;
  SearchFrame reference_frame_, moving_frame_;
  RealFftPlan fft_;
  PadVolumePlan window_;
  std::vector<CrossPowerPlan> cross_powers_;
  std::vector<double> deviations_;  // standard deviations of their surfaces for unrelated volumes
  VolumePeaksPlan peaks_;
  RotationScoresPlan scores_;
  Image placed_, windowed_, spectrum_, reference_spectrum_, cross_, cube_;
  std::vector<Matrix3> coarse_, finer_;
  std::vector<std::complex<float>> downloaded_;
  std::vector<float> reference_ball_, moving_ball_;
  std::vector<ScoredPoint> points_;
  std::vector<RotationMatrix> matrices_;
  std::vector<Scored> scored_, kept_;
  std::vector<VolumeCandidate> candidates_;
};

}  // namespace warpalign::detail
