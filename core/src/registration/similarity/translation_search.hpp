// The translation between two pyramid levels whose rotation and scale are known, by normalized
// correlation over their overlap.
#pragma once

#include "registration/ones.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/similarity/image_pyramid.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/stages/fft.hpp>

#include <array>

namespace warpalign::detail {

/// A peak of the correlation: where the moving level lies on the reference level.
struct TranslationPeak {
  Affine matrix;     ///< reference level -> moving level
  double score = 0;  ///< height of the peak; of the order of 1 for unrelated images
};

/// Where on the reference level the centre of the moving level may lie.
struct ShiftLimits {
  Point centre;             ///< in pixels of the reference level
  double max_distance = 0;  ///< from there, in the same pixels; 0: any
};

class TranslationSearch {
 public:
  /// `side` is the side of the padded frame. The reference's width and the moving level's diagonal
  /// together must be at most `side`, else small overlaps may be mistaken for others.
  TranslationSearch(const Device& device, std::int64_t side, Ones& ones);

  [[nodiscard]] std::int64_t side() const { return frame_.width; }

  /// The peak for the given rotation [0] and for 180 degrees more [1]. Waits for the device.
  std::array<TranslationPeak, 2> find(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                      PyramidLevel& reference_level, ImagePyramid& moving,
                                      PyramidLevel& moving_level, double rotation_deg, double scale,
                                      const ShiftLimits& limits);

  /// find() in two steps, for a reference level that is compared at many rotations and scales.
  void set_reference(Stream& stream, StageClock& clock, ImagePyramid& reference,
                     PyramidLevel& reference_level);
  std::array<TranslationPeak, 2> find(Stream& stream, StageClock& clock, const Shape& reference,
                                      ImagePyramid& moving, PyramidLevel& moving_level,
                                      double rotation_deg, double scale, const ShiftLimits& limits);

 private:
  /// The warp from levels of a shape to the padded frame.
  const WarpPlan& warp_of(const Shape& shape);
  /// Warps a level and its weight to the padded frame and computes the spectra of both.
  void transform(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
                 const Affine& frame_to_level, Image& spectrum, Image& weight_spectrum);

  /// Levels of both images at all scales of the grid.
  static constexpr std::size_t max_warps = 64;

  Device device_;
  Ones& ones_;
  Shape frame_;
  RealFftPlan fft_, fft_four_;
  OverlapProductsPlan products_;
  OverlapScorePlan score_;
  PeakPlan peak_;
  PlanCache<Shape, WarpPlan> warps_{max_warps};
  Image warped_;
  Image reference_spectrum_, reference_weight_, moving_spectrum_, moving_weight_;
  Image products_image_, surfaces_, scores_;
  Buffer records_;
};

}  // namespace warpalign::detail
