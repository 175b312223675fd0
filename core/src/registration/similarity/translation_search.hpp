// The shift between two views whose rotation and scale are known, by normalised correlation over
// what they have in common.
#pragma once

#include "registration/ones.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/similarity/image_pyramid.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/peak.hpp>

#include <array>

namespace warpalign::detail {

/// Where the moving view's centre lands on the reference view.
struct PlacedView {
  Affine matrix;     ///< reference view -> moving view
  double score = 0;  ///< of the correlation: of the order of 1 for unrelated pictures
};

/// Where the moving view's centre may land.
struct ShiftLimits {
  Point centre;      ///< in reference view pixels
  double reach = 0;  ///< from there, in reference view pixels; 0: anywhere
};

class TranslationSearch {
 public:
  /// Views may be as large as `side` pixels allow: the reference's width and the moving view's
  /// diagonal together at most `side`, else small overlaps may be taken for others.
  TranslationSearch(const Device& device, std::int64_t side, Ones& ones);

  [[nodiscard]] std::int64_t side() const { return padded_.width; }

  /// For the turn as given [0] and with half a turn more [1]. Waits.
  std::array<PlacedView, 2> find(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 PyramidLevel& reference_level, ImagePyramid& moving,
                                 PyramidLevel& moving_level, double rotation_deg, double scale,
                                 const ShiftLimits& limits);

 private:
  /// Places views of a shape on the canvas.
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
