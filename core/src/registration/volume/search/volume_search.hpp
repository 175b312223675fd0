// Searches the shift between two volumes in whole voxels: scores the peaks of phase correlations.
#pragma once

#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>
#include <warpalign/backend/stages/volume/volume_sums.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/stages/fft.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The shape of the padded frame for the correlation of volumes of these shapes.
/// The fraction of each side, at either end, that is tapered before shifts are found.
inline constexpr double shift_taper = 0.0625;

[[nodiscard]] Shape padded_volume_of(const Shape& reference, const Shape& moving);

[[nodiscard]] inline Point3 point_of(const VoxelShift& shift) {
  return {static_cast<double>(shift[0]), static_cast<double>(shift[1]),
          static_cast<double>(shift[2])};
}

/// The result of a search.
struct FoundShift {
  VoxelShift shift{};
  /// The effective sample size as a fraction of the overlapping voxels. The significance of a
  /// correlation depends on the effective sample size.
  double independent_fraction = 0;
};

/// Which shifts are searched.
struct ShiftLimits {
  Point3 max_shift;        ///< along each axis; 0: no limit
  double min_overlap = 1;  ///< the minimum number of overlapping unmasked voxels
};

/// Plans and scratch memory for a pair of shapes, and the reference's spectrum.
class VolumeSearch {
 public:
  /// `marked`: masked voxels are NaN.
  VolumeSearch(const Device& device, const Shape& reference, const Shape& moving, bool marked);

  [[nodiscard]] bool matches(const Shape& reference, const Shape& moving, bool marked) const {
    return reference == reference_ && moving == moving_ && marked == marked_;
  }

  void set_reference(Stream& stream, StageClock& clock, const Image& reference);

  /// Returns the most significant of the shifts at the peaks of the correlations, within the
  /// limits, or nothing if no peak leaves enough overlap. Both volumes must be smoothed;
  /// `reference` must be the volume passed to set_reference. Waits for the device.
  [[nodiscard]] std::optional<FoundShift> find(Stream& stream, StageClock& clock,
                                               const Image& reference, const Image& moving,
                                               const ShiftLimits& limits);

  [[nodiscard]] const VolumeSumsPlan& sums() const { return sums_; }

 private:
  void transform(Stream& stream, StageClock& clock, const PadVolumePlan& pad, const Image& values,
                 Image& spectrum);
  /// Fills shifts_ with the shifts at the peaks of both surfaces.
  void find_shifts(Stream& stream, StageClock& clock, const ShiftLimits& limits);
  [[nodiscard]] double independent_fraction(Stream& stream, StageClock& clock) const;
  struct Pair {
    const Image& reference;
    const Image& moving;
    double independent_fraction;
    double min_overlap;
  };
  struct Scored {
    VoxelShift shift;
    double score;
  };
  [[nodiscard]] bool allows(const VoxelShift& shift, const ShiftLimits& limits) const;
  [[nodiscard]] std::optional<Scored> best_of(Stream& stream, StageClock& clock, const Pair& pair,
                                              std::span<const VoxelShift> shifts) const;
  void add_shifts_of(const VolumePeak& peak, const ShiftLimits& limits);

  Shape reference_, moving_, padded_;
  bool marked_;
  RealFftPlan fft_;
  PadVolumePlan pad_reference_, pad_moving_;
  std::vector<CrossPowerPlan> cross_powers_;
  SpectrumSumsPlan spectrum_sums_;
  VolumePeaksPlan peaks_;
  VolumeSumsPlan sums_;
  Image padded_volume_;  // a volume on the padded frame; then the correlation surface
  Image reference_spectrum_, moving_spectrum_, cross_;
  std::vector<VoxelShift> shifts_;  // the candidates of one find()
};

}  // namespace warpalign::detail
