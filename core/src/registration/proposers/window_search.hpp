// Homographies from windows of the reference that are looked for in the moving image.
#pragma once

#include "device/readback.hpp"
#include "registration/pair/forked_worker.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/window_votes.hpp"
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

/// How finely windows are laid over the reference.
struct WindowCover {
  double level_side;        ///< of the reference's level, in samples, at most
  std::int64_t frame_side;  ///< of the padded frame in which the moving image is compared
  std::int64_t along_longer, along_shorter;  ///< windows along the axes of a level, at most
  std::int64_t parts;  ///< in which they are compared one after the other, which takes less memory
  [[nodiscard]] std::int64_t at_once() const { return along_longer * along_shorter / parts; }
};
/// Windows that overlap by half.
inline constexpr WindowCover coarse_windows{112, 168, 6, 5, 1};
/// Of half the size in the scene, nearly side by side: they see what is lost on the coarser level,
/// as a whiteboard's strokes are, and enough of them lie within a small part that is in common.
inline constexpr WindowCover fine_windows{224, 336, 10, 8, 5};
/// For the strength of edges, whose coarse levels show thin things as well.
inline constexpr WindowCover edge_windows{128, 192, 7, 6, 2};

/// Under strong perspective no similarity brings two images into agreement as a whole, but one does
/// so for each small part. Windows of a level of the reference are correlated with the moving image
/// at rotations all around and at scales about 1, and the places where they are found vote for
/// homographies.
class WindowSearch {
 public:
  /// The options outlive the search.
  WindowSearch(const Device& device, const RegistrationOptions& options,
               const WindowCover& grid = coarse_windows);
  WindowSearch(const Device&, RegistrationOptions&&, const WindowCover& = coarse_windows) = delete;
  ~WindowSearch();

  /// Homographies from reference to moving pixels, the one with the most votes first. Waits for the
  /// device. The result is valid until the next call.
  std::span<const AgreedHomography> find(const PairContext& work);
  /// The same with the matches of stretched views in addition, to be called after find().
  std::span<const AgreedHomography> find_stretched(const PairContext& work);
  /// The homography that windows agree on near where `known` leads, which may be right in part of
  /// the image only. Nothing where too few of them agree.
  std::span<const AgreedHomography> find_along(const PairContext& work, const Homography& known);

 private:
  struct Window {
    double left, top;  ///< in pixels of the level
  };
  /// Windows that are compared at once.
  struct Part {
    Image spectra, weight_spectra;
  };
  /// The peaks of all parts.
  using Peaks = std::deque<Readback<PeakRecord>>;
  [[nodiscard]] Peaks make_peaks() const;
  std::span<const PeakRecord> wait_for(Peaks& peaks);

  void choose_windows(const PairContext& work, PyramidLevel& level);
  void stage_windows(std::size_t part, std::int64_t level_width);
  void transform_windows(const PairContext& work, std::int64_t level_width);
  PyramidLevel& level_of_windows(const PairContext& work) const;
  /// Adds views at all rotations and some scales, with the stretch of one, to views_.
  void add_views(std::span<const double> scales, const WindowView& stretched);
  /// Looks for the windows in views_, on two threads if the pair has them, and clears them.
  void match_all(const PairContext& work);
  void match_views(const PairContext& work, std::span<const WindowView> views);
  /// A view with which the windows are being compared.
  struct ComparedView {
    WindowView view;
    Affine frame_to_image;  ///< from the padded frame to pixels of the moving image
  };
  [[nodiscard]] ComparedView compare_view(const PairContext& work, const PyramidLevel& reference,
                                          const WindowView& view, Peaks& peaks);
  void take_matches(const PyramidLevel& reference, const ComparedView& compared,
                    std::span<const PeakRecord> peaks);
  void compare_windows(const PairContext& work, Peaks& peaks);
  void find_overlaps(const PairContext& work, const Part& part);
  /// Chooses and transforms a pair's windows, the first time. Returns the level that they are of.
  const PyramidLevel& begin(const PairContext& work);
  /// Forgets the last pair.
  void begin_pair(const PairContext& work);
  std::span<const AgreedHomography> count_votes(const PairContext& work,
                                                const PyramidLevel& reference);
  std::span<const AgreedHomography> followed_from(const PairContext& work,
                                                  const PyramidLevel& reference,
                                                  const VoteOptions& options);
  VoteOptions vote_options(const PyramidLevel& reference) const;
  void relate_to_medians();
  AgreedHomography followed(const PairContext& work, const PyramidLevel& reference,
                            const AgreedHomography& found, const VoteOptions& options);
  void match_along(const PairContext& work, const PyramidLevel& reference, const Homography& found);
  void resample_moving(const PairContext& work, PyramidLevel& level,
                       const Homography& frame_to_level);
  void warp_moving(const PairContext& work, PyramidLevel& level, const Affine& frame_to_level);

  [[nodiscard]] double side() const { return static_cast<double>(grid_.frame_side); }

  Device device_;
  const RegistrationOptions& options_;
  std::vector<double> rotations_;  ///< of the views
  WindowCover grid_;
  Shape frame_;
  RealFftPlan fft_, fft_windows_, fft_surfaces_;
  OverlapProductsPlan products_;
  OverlapCountsPlan counts_plan_;
  OverlapPeaksPlan peaks_plan_;
  OverlapPeaksPlan alike_peaks_plan_;  ///< of windows whose pixels all count
  PlanCache<Shape, WarpPlan> warps_{16};
  PlanCache<Shape, InterpolatePlan> bilinear_{16};
  Image windows_image_, windows_weight_;  ///< of a part
  std::vector<Part> parts_;
  Image warped_, warped_weight_, spectrum_, weight_spectrum_;
  Image products_image_, surfaces_;
  Image overlaps_;          ///< of each window of a part with what is in the frame
  Image alike_overlaps_;    ///< of all windows alike
  Shape window_;            ///< what a window has of the level
  bool all_count_ = false;  ///< whether all pixels of the windows do
  Buffer records_;
  std::array<Peaks, 2> peaks_;  ///< take turns
  std::vector<PeakRecord> found_peaks_;
  std::vector<float> values_, counts_, staged_, staged_counts_;
  std::vector<Window> windows_;
  bool has_windows_ = false;       ///< of this pair
  std::vector<WindowView> views_;  ///< in which they are looked for next
  std::unique_ptr<ForkedWorker<WindowSearch>> worker_;
  std::vector<WindowMatch> matches_;   // with the correlations themselves
  std::vector<WindowMatch> relative_;  // with correlations relative to the medians
  std::vector<WindowMatch> along_;     // a homography
  std::vector<double> of_window_, medians_;
  std::vector<AgreedHomography> found_;
  WindowVotes votes_;
};

}  // namespace warpalign::detail
