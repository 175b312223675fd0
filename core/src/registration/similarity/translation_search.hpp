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
#include <span>
#include <vector>

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
  /// The peak for a rotation [0] and for 180 degrees more [1].
  using Peaks = std::array<TranslationPeak, 2>;

  /// `side` is the side of the padded frame. The reference's width and the moving level's diagonal
  /// together must be at most `side`, else small overlaps may be mistaken for others. `batch`: how
  /// many rotations are compared at once.
  TranslationSearch(const Device& device, std::int64_t side, Ones& ones, std::int64_t batch = 1);

  [[nodiscard]] std::int64_t side() const { return frame_.width; }

  /// Sets the reference level that the moving levels of later calls are compared with.
  void set_reference(Stream& stream, StageClock& clock, ImagePyramid& reference,
                     PyramidLevel& reference_level);
  /// The peaks at each of the rotations, at most `batch`, in degrees. Waits for the device. The
  /// result is valid until the next call.
  std::span<const Peaks> find(Stream& stream, StageClock& clock, ImagePyramid& moving,
                              PyramidLevel& moving_level, std::span<const double> rotations_deg,
                              double scale, const ShiftLimits& limits);

 private:
  /// The warp from levels of a shape to the padded frame.
  const WarpPlan& warp_of(const Shape& shape, std::int64_t slices);
  const Image& weight_of(Stream& stream, PyramidLevel& level);
  [[nodiscard]] OverlapLimits overlap_limits(const Shape& moving, double scale,
                                             const ShiftLimits& limits) const;
  [[nodiscard]] Peaks peaks_of(const PeakRecord* records, const Point& moving_centre,
                               const Affine& linear) const;

  struct WarpKey {
    Shape level;
    std::int64_t slices;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };
  /// Levels of both images at all scales of the grid.
  static constexpr std::size_t max_warps = 64;

  Device device_;
  Ones& ones_;
  Shape frame_, frames_;  ///< of one image and of a batch
  RealFftPlan fft_, fft_batch_, fft_surfaces_;
  OverlapProductsPlan products_;
  OverlapScorePlan score_;
  PeakPlan peak_;
  PlanCache<WarpKey, WarpPlan> warps_{max_warps};
  Image warped_reference_, warped_;
  Image reference_spectrum_, reference_weight_, moving_spectra_, moving_weights_;
  Image products_image_, surfaces_, scores_;
  Buffer records_on_device_;
  Shape reference_;  ///< of the level that was set
  std::vector<PeakRecord> records_;
  std::vector<Peaks> peaks_;
};

}  // namespace warpalign::detail
