// Finds homographies from the matches of patches.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The local appearance of content in the moving image: rotated, scaled, and stretched in one
/// direction, as a plane in an oblique view is.
struct PatchView {
  double rotation_deg = 0;
  double scale = 1;    ///< moving pixels per reference pixel; the root of the ratio of areas
  double stretch = 1;  ///< ratio of lengths along and across `direction_deg`, at least 1
  double direction_deg = 0;
  [[nodiscard]] Affine linear() const;  ///< reference -> moving, without a shift
  friend bool operator==(const PatchView&, const PatchView&) = default;
};

/// The views that a view of a plane can become elsewhere in an image under perspective: rotated by
/// at most 30 degrees and scaled by at most a factor of 1.6, the steps between the searched views.
class Neighbourhood {
 public:
  Neighbourhood() = default;
  explicit Neighbourhood(const PatchView& view);

  /// Whether it contains the map (x, y) -> (a x + b y, d x + e y). The rotation of the map is that
  /// of its polar decomposition, which has the direction of the vector (a + e, b - d).
  [[nodiscard]] bool has(double a, double b, double d, double e) const {
    const double along = a + e;
    const double across = b - d;
    const double turned = along * cosine_ + across * sine_;
    const double area = a * e - b * d;
    return area > smallest_area_ && area < largest_area_ && turned > 0 &&
           turned * turned > square_of_least_cosine * (along * along + across * across);
  }

 private:
  // The cosine of 31 degrees, so that rounding never decides about a whole step.
  static constexpr double square_of_least_cosine = 0.857167300702112 * 0.857167300702112;
  double cosine_ = 1, sine_ = 0;  // of the view's rotation
  double smallest_area_ = 0, largest_area_ = 0;
};

/// Whether `b` is in the neighbourhood of `a`.
[[nodiscard]] bool are_neighbours(const PatchView& a, const PatchView& b);

/// The rotation and scale of a linear map, without its stretch.
[[nodiscard]] PatchView view_of(const Affine& here);

/// A match of a patch in one view.
struct PatchMatch {
  std::size_t window = 0;  ///< number of the patch
  Point reference;         ///< centre of the patch, the same in all of its matches
  Point moving;            ///< position of the centre in the moving image
  PatchView view;
  double correlation = 0;  ///< relative to the patch's correlations elsewhere
};

/// A homography hypothesis with its support.
struct HomographyHypothesis {
  Homography matrix;        ///< reference -> moving
  std::size_t windows = 0;  ///< number of inlier patches, within `tolerance`
  double votes = 0;         ///< sum of the inliers' correlations
};

struct VoteOptions {
  double min_correlation = 1;
  /// The largest disagreement on a shift between patches of one view, in reference pixels.
  double max_disagreement = 12;
  double tolerance = 3;         ///< of an inlier, in reference pixels
  std::size_t min_inliers = 7;  ///< smallest number of inlier patches
  std::size_t maximum = 6;      ///< largest number of homographies
};

/// Finds homographies that many patches agree on. Reuses its memory between calls.
///
/// First, the patches of one view vote for a shift. Each of the best votes collects matches of
/// neighbouring rotations and scales, since perspective rotates and scales every patch a little
/// differently; random samples of four matches then find the homography with the most votes
/// (RANSAC: Fischler & Bolles 1981). If perspective is so strong that only few patches agree on a
/// shift, the best matches of each patch are sampled in the same way.
class PatchVotes {
 public:
  /// Returns the homographies with the most votes first. Matches of one view must be consecutive.
  /// The result is valid until the next call.
  std::span<const HomographyHypothesis> find(std::span<const PatchMatch> matches,
                                             const VoteOptions& options);

  /// Returns the homography with the most votes among these matches, which were found near the
  /// positions that `known` predicts. If no other has more votes, returns `known` with its votes
  /// here.
  HomographyHypothesis improved(const HomographyHypothesis& known,
                                std::span<const PatchMatch> matches, const VoteOptions& options);

 private:
  /// The consecutive matches of one view.
  struct ViewMatches {
    std::span<const PatchMatch> matches;
    Affine linear;  ///< of the view
    Neighbourhood neighbours;
  };
  /// A match with a sufficient correlation.
  struct UsableMatch {
    const PatchMatch* match = nullptr;
    const ViewMatches* of = nullptr;
    double square_of_tolerance = 0;  ///< of the distance from the predicted position, in pixels
    Point reference, moving;         ///< positions of the match
    double correlation = 0;
  };
  struct Vote {
    const PatchMatch* around = nullptr;
    const ViewMatches* of = nullptr;
    double votes = 0;
  };
  static UsableMatch usable_match(const ViewMatches& of, const PatchMatch& match,
                                  const VoteOptions& options);
  void begin(std::span<const PatchMatch> matches, const VoteOptions& options);
  void group_by_view(std::span<const PatchMatch> matches);
  void group_by_patch(const VoteOptions& options);
  [[nodiscard]] std::span<const UsableMatch> matches_of_patch(std::size_t window) const;
  void vote(const ViewMatches& view, const VoteOptions& options);
  void keep_best_votes(const VoteOptions& options);
  void collect_near(const Vote& vote, const VoteOptions& options);
  void collect_best();
  void collect_along(const Homography& matrix);
  [[nodiscard]] HomographyHypothesis consensus(const Homography& matrix);
  void collect_inliers();
  HomographyHypothesis sampled_homography(int samples);
  HomographyHypothesis refit(HomographyHypothesis best);
  void add_homography(const VoteOptions& options, int samples);

  std::vector<ViewMatches> views_;
  std::vector<UsableMatch> matches_;      // grouped by patch
  std::vector<std::size_t> first_match_;  // of each patch, and the end
  std::vector<Vote> votes_;
  std::vector<UsableMatch> nearby_;
  std::vector<PatchMatch> inliers_;
  std::vector<double> best_correlation_;
  std::vector<std::size_t> best_match_;
  std::vector<HomographyHypothesis> found_;
};

/// Returns the homography that maps four points to four others, with the last element 1. Returns
/// nothing if three of them are collinear, if it mirrors the plane, or if the line that it maps to
/// infinity passes between any of the points and the origin.
[[nodiscard]] std::optional<Homography> homography_between(const std::array<Point, 4>& from,
                                                           const std::array<Point, 4>& to);

/// Returns the least-squares homography of the matches; nothing if they do not determine it.
[[nodiscard]] std::optional<Homography> homography_of(std::span<const PatchMatch> matches);

}  // namespace warpalign::detail
