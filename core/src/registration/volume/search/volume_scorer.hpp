// Scores two aligned volumes: the significance of their correlation, and their overlap.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/fitting/affine_fit.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/mark_volume.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

class VolumeScorer {
 public:
  /// `marked`: masked voxels are NaN.
  VolumeScorer(const Device& device, const VolumeGrid& reference, const VolumeGrid& moving,
               bool marked);

  /// Fisher's z of the candidate's correlation in units of its standard deviation. Evaluate the
  /// candidate on the same images first. Waits for the device.
  [[nodiscard]] double significance(Stream& stream, StageClock& clock, const LevelImages& images,
                                    const VolumeCandidate& candidate);
  /// The fraction of the reference's voxels that the moving volume covers.
  [[nodiscard]] double overlap(const VolumeCandidate& candidate) const;
  /// The overlap of marked volumes, neither of them smoothed: the fraction of the reference's
  /// unmasked voxels whose nearest voxel in the moving volume is unmasked. Waits for the device.
  [[nodiscard]] double marked_overlap(Stream& stream, StageClock& clock, const LevelImages& values,
                                      const VolumeCandidate& candidate);

 private:
  /// Plans and memory that only marked volumes need.
  struct Marks {
    PadVolumePlan fill;  // replaces masked voxels of the moving volume by 0
    InterpolatePlan nearest;
    MarkVolumePlan mark;
    StatisticsPlan statistics;
    Image filled, common;
    Buffer record;
  };
  [[nodiscard]] double valid(Stream& stream, StageClock& clock, const Image& values);

  VolumeGrid reference_, moving_;
  InterpolatePlan align_;
  PadVolumePlan pad_;
  RealFftPlan fft_;
  SpectrumSumsPlan sums_;
  Image aligned_, padded_, reference_spectrum_, moving_spectrum_;
  std::optional<Marks> marks_;
};

/// The significance at which the confidence is one half, if the best of all shifts was chosen.
[[nodiscard]] double half_significance_of(Modality modality);

/// The same if the best of `hypotheses` (rotations times modalities) was chosen, too.
[[nodiscard]] double half_significance_of(Modality modality, std::size_t hypotheses);

}  // namespace warpalign::detail
