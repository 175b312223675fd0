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

/// A placement of the moving level on the reference level.
struct PlacedView {
  Affine matrix;     ///< reference level -> moving level
  double score = 0;  ///< of the correlation; of the order of 1 for unrelated images
};

/// Where on the reference level the centre of the moving level may lie.
struct ShiftLimits {
  Point centre;      ///< in pixels of the reference level
  double reach = 0;  ///< largest distance from there, in the same pixels; 0: any
};

class TranslationSearch {
 public:
  /// `side` is the side of the padded frame. The reference's width and the moving level's diagonal
  /// together must be at most `side`, else small overlaps may be mistaken for others.
  TranslationSearch(const Device& device, std::int64_t side, Ones& ones);

  [[nodiscard]] std::int64_t side() const { return padded_.width; }

  /// The placements for the given rotation [0] and for 180 degrees more [1]. Waits for the device.
  std::array<PlacedView, 2> find(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 PyramidLevel& reference_level, ImagePyramid& moving,
                                 PyramidLevel& moving_level, double rotation_deg, double scale,
                                 const ShiftLimits& limits);

 private:
  /// The warp that places levels of a shape on the padded frame.
  const WarpPlan& warp_of(const Shape& shape);
  void place(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
             const Affine& matrix, Image& spectrum, Image& weight_spectrum);

  Device device_;
  Ones& ones_;
  Shape padded_;
  RealFftPlan fft_, fft_four_;
  OverlapProductsPlan products_;
  OverlapScorePlan score_;
  PeakPlan peak_;
  PlanCache<Shape, WarpPlan> warps_{2 * base_scales.size()};
  Image placed_;
  Image reference_spectrum_, reference_weight_, moving_spectrum_, moving_weight_;
  Image products_image_, surfaces_, scores_;
  Buffer records_;
};

}  // namespace warpalign::detail
