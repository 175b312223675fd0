// Finds homographies by template matching of patches of the reference in the moving image.
#pragma once

#include "device/readback.hpp"
#include "registration/pair/forked_worker.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/patch_votes.hpp"
#include "registration/resources/plan_cache.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The grid of patches on the reference.
struct PatchGrid {
  double level_side;                         ///< of the reference's level: maximum, in samples
  std::int64_t frame_side;                   ///< of the padded frame that holds the moving image
  std::int64_t along_longer, along_shorter;  ///< maximum number of patches along the axes
  std::int64_t parts;                        ///< processed one after the other, to save memory
  [[nodiscard]] std::int64_t at_once() const { return along_longer * along_shorter / parts; }
};
/// Patches that overlap by half.
inline constexpr PatchGrid coarse_patch_grid{112, 168, 6, 5, 1};
/// Patches of half the size in the scene, nearly adjacent. They resolve structures that the coarser
/// level loses, such as a whiteboard's strokes, and enough of them fit into a small overlap.
inline constexpr PatchGrid fine_patch_grid{224, 336, 10, 8, 5};
/// For edge strength, whose coarse levels keep thin structures.
inline constexpr PatchGrid edge_patch_grid{128, 192, 7, 6, 2};

/// Under strong perspective no similarity aligns two whole images, but a different one aligns each
/// small patch. This class correlates patches of a level of the reference with the moving image at
/// all rotations and at several scales. The matches then vote for homographies.
class PatchSearch {
 public:
  /// `options` must outlive the search.
  PatchSearch(const Device& device, const RegistrationOptions& options,
              const PatchGrid& grid = coarse_patch_grid);
  PatchSearch(const Device&, RegistrationOptions&&, const PatchGrid& = coarse_patch_grid) = delete;
  ~PatchSearch();

  /// Returns homographies from reference to moving pixels, the one with the most votes first. Waits
  /// for the device. The result is valid until the next call.
  std::span<const HomographyHypothesis> find(const PairContext& work);
  /// The same, with the matches in simulated tilts added. Call find() first.
  std::span<const HomographyHypothesis> find_tilted(const PairContext& work);
  /// Returns the homography that patches near the positions predicted by `known` agree on. `known`
  /// may be right in only part of the image. Empty if too few patches agree.
  std::span<const HomographyHypothesis> find_along(const PairContext& work,
                                                   const Homography& known);

 private:
  struct Window {
    double left, top;  ///< the corner, in pixels of the level
  };
  /// A group of patches that is compared in one batch.
  struct Part {
    Image spectra, weight_spectra;
  };
  /// The peaks of all parts.
  using Peaks = std::deque<Readback<PeakRecord>>;
  [[nodiscard]] Peaks make_peaks() const;
  std::span<const PeakRecord> wait_for(Peaks& peaks);

  void choose_patches(const PairContext& work, PyramidLevel& level);
  void stage_patches(std::size_t part, std::int64_t level_width);
  void transform_patches(const PairContext& work, std::int64_t level_width);
  PyramidLevel& patch_level(const PairContext& work) const;
  /// Adds views at all rotations and several scales, with the tilt of `tilted`, to views_.
  void add_views(std::span<const double> scales, const PatchView& tilted);
  /// Matches the patches in views_, on two threads if the pair allows it, and clears views_.
  void match_all(const PairContext& work);
  void match_views(const PairContext& work, std::span<const PatchView> views);
  /// A view that is being compared with the patches.
  struct ComparedView {
    PatchView view;
    Affine frame_to_image;  ///< padded frame -> pixels of the moving image
  };
  [[nodiscard]] ComparedView compare_view(const PairContext& work, const PyramidLevel& reference,
                                          const PatchView& view, Peaks& peaks);
  void take_matches(const PyramidLevel& reference, const ComparedView& compared,
                    std::span<const PeakRecord> peaks);
  void match_patches(const PairContext& work, Peaks& peaks);
  void compute_overlaps(const PairContext& work, const Part& part);
  /// Chooses and transforms the patches on the first call for a pair. Returns their level.
  const PyramidLevel& begin(const PairContext& work);
  /// Discards the state of the last pair.
  void begin_pair(const PairContext& work);
  std::span<const HomographyHypothesis> count_votes(const PairContext& work,
                                                    const PyramidLevel& reference);
  std::span<const HomographyHypothesis> follow_all(const PairContext& work,
                                                   const PyramidLevel& reference,
                                                   const VoteOptions& options);
  VoteOptions vote_options(const PyramidLevel& reference) const;
  void normalize_by_medians();
  HomographyHypothesis refined_along(const PairContext& work, const PyramidLevel& reference,
                                     const HomographyHypothesis& found, const VoteOptions& options);
  void match_along(const PairContext& work, const PyramidLevel& reference, const Homography& found);
  void resample_moving(const PairContext& work, PyramidLevel& level,
                       const Homography& frame_to_level);
  void warp_moving(const PairContext& work, PyramidLevel& level, const Affine& frame_to_level);

  [[nodiscard]] double side() const { return static_cast<double>(grid_.frame_side); }

  Device device_;
  const RegistrationOptions& options_;
  std::vector<double> rotations_;  ///< of the views
  PatchGrid grid_;
  Shape frame_;
  RealFftPlan fft_, fft_patches_, fft_surfaces_;
  OverlapProductsPlan products_;
  OverlapCountsPlan counts_plan_;
  OverlapPeaksPlan peaks_plan_;
  OverlapPeaksPlan unmasked_peaks_plan_;  ///< for patches without masked pixels
  PlanCache<Shape, WarpPlan> warps_{16};
  PlanCache<Shape, InterpolatePlan> bilinear_{16};
  Image patches_image_, patches_weight_;  ///< of a part
  std::vector<Part> parts_;
  Image warped_, warped_weight_, spectrum_, weight_spectrum_;
  Image products_image_, surfaces_;
  Image overlaps_;           ///< of each patch of a part with the frame
  Image unmasked_overlaps_;  ///< of all patches, if none has masked pixels
  Shape patch_shape_;        ///< the shape of a patch
  bool unmasked_ = false;    ///< the patches have no masked pixels
  Buffer records_;
  std::array<Peaks, 2> peaks_;  ///< alternate between views
  std::vector<PeakRecord> found_peaks_;
  std::vector<float> values_, counts_, staged_, staged_counts_;
  std::vector<Window> patches_;
  bool has_patches_ = false;      ///< for this pair
  std::vector<PatchView> views_;  ///< to be matched next
  std::unique_ptr<ForkedWorker<PatchSearch>> worker_;
  std::vector<PatchMatch> matches_;   // with absolute correlations
  std::vector<PatchMatch> relative_;  // with correlations relative to the medians
  std::vector<PatchMatch> along_;     // matches along a homography
  std::vector<double> correlations_, medians_;
  std::vector<HomographyHypothesis> found_;
  PatchVotes votes_;
};

}  // namespace warpalign::detail
