// A homography from places at which windows of one image were found in the other.
#pragma once

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// How content may appear in the moving image: rotated, scaled, and stretched in one direction as
/// that of a plane that is seen from the side.
struct WindowView {
  double rotation_deg = 0;
  double scale = 1;    ///< moving pixels per reference pixel, the root of the ratio of areas
  double stretch = 1;  ///< the ratio of lengths along and across `direction_deg`, 1 or more
  double direction_deg = 0;
  [[nodiscard]] Affine linear() const;  ///< reference -> moving, without a shift
  friend bool operator==(const WindowView&, const WindowView&) = default;
};

/// Whether perspective may turn and scale one view of a plane into the other within an image: by at
/// most 30 degrees and the factor 1.6, which are the steps between the views that are searched.
[[nodiscard]] bool are_neighbours(const WindowView& a, const WindowView& b);

/// The rotation and scale of a linear map, without its stretch.
[[nodiscard]] WindowView view_of(const Affine& here);

/// Where a window was found under one view.
struct WindowMatch {
  std::size_t window = 0;  ///< its number
  Point reference;         ///< its centre
  Point moving;            ///< where that lies in the moving image
  WindowView view;
  double correlation = 0;  ///< relative to what its window has elsewhere
};

/// A homography that windows agree on.
struct AgreedHomography {
  Homography matrix;        ///< reference -> moving
  std::size_t windows = 0;  ///< that agree with it to `tolerance`
  double votes = 0;         ///< the sum of their correlations
};

struct VoteOptions {
  double min_correlation = 1;
  /// How far, in reference pixels, windows of one view may disagree on the shift.
  double max_disagreement = 12;
  double tolerance = 3;         ///< of a homography, in reference pixels
  std::size_t min_windows = 7;  ///< that must agree
  std::size_t maximum = 6;      ///< of the homographies
};

/// Finds homographies that many windows agree on. Keeps its memory between calls.
///
/// First, the windows of one view vote for a shift. Around each of the best votes,
/// the matches of neighbouring rotations and scales take part as well, since perspective turns and
/// scales each window a little differently, and random samples of four find the homography with the
/// most votes (RANSAC: Fischler & Bolles 1981). Under perspective so strong that only few windows
/// agree on a shift, each window's own best matches are sampled in the same way.
class WindowVotes {
 public:
  /// The homographies with the most votes first. Matches of one view must follow one another. The
  /// result is valid until the next call.
  std::span<const AgreedHomography> find(std::span<const WindowMatch> matches,
                                         const VoteOptions& options);

  /// The homography that the most of these matches agree on, which were looked for near where
  /// `known` leads. Where none has more, it is `known`, with the votes that it has of these.
  AgreedHomography improved(const AgreedHomography& known, std::span<const WindowMatch> matches,
                            const VoteOptions& options);

 private:
  struct Vote {
    WindowMatch around;  ///< of which match
    double votes = 0;
  };
  void vote(std::span<const WindowMatch> of_one, const VoteOptions& options);
  void gather(std::span<const WindowMatch> matches, const Vote& vote, const VoteOptions& options);
  void begin(std::span<const WindowMatch> matches);
  void gather_best(std::span<const WindowMatch> matches, const VoteOptions& options);
  void gather_along(std::span<const WindowMatch> matches, const Homography& matrix,
                    const VoteOptions& options);
  [[nodiscard]] AgreedHomography agreed(const Homography& matrix, const VoteOptions& options,
                                        bool keep_inliers);
  AgreedHomography sampled_homography(const VoteOptions& options, int samples);
  AgreedHomography grown(AgreedHomography best, std::span<const WindowMatch> matches,
                         const VoteOptions& options);
  void add_homography(std::span<const WindowMatch> matches, const VoteOptions& options,
                      int samples);

  std::vector<Vote> votes_;
  std::vector<WindowMatch> nearby_, inliers_;
  std::vector<double> best_of_window_;
  std::vector<std::size_t> match_of_window_;
  std::vector<AgreedHomography> found_;
};

/// The homography that maps the matches' points best, by least squares; nothing where they do not
/// determine it.
[[nodiscard]] std::optional<Homography> homography_of(std::span<const WindowMatch> matches);

}  // namespace warpalign::detail
