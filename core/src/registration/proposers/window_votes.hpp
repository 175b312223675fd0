// A homography from places at which windows of one image were found in the other.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
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

/// What a view of a plane may become elsewhere in an image under perspective: turned by at most 30
/// degrees, and scaled by at most the factor 1.6, which are the steps between the views that are
/// searched.
class Neighbourhood {
 public:
  Neighbourhood() = default;
  explicit Neighbourhood(const WindowView& view);

  /// Whether it has the map (x, y) -> (a x + b y, d x + e y). Its rotation is that of its polar
  /// decomposition, so that the vector (a + e, b - d) has its direction.
  [[nodiscard]] bool has(double a, double b, double d, double e) const {
    const double along = a + e;
    const double across = b - d;
    const double turned = along * cosine_ + across * sine_;
    const double area = a * e - b * d;
    return area > smallest_area_ && area < largest_area_ && turned > 0 &&
           turned * turned > square_of_least_cosine * (along * along + across * across);
  }

 private:
  // Of 31 degrees: no rounding decides about a whole step.
  static constexpr double square_of_least_cosine = 0.857167300702112 * 0.857167300702112;
  double cosine_ = 1, sine_ = 0;  // of the view's rotation
  double smallest_area_ = 0, largest_area_ = 0;
};

/// Whether a view has the other one in its neighbourhood.
[[nodiscard]] bool are_neighbours(const WindowView& a, const WindowView& b);

/// The rotation and scale of a linear map, without its stretch.
[[nodiscard]] WindowView view_of(const Affine& here);

/// Where a window was found under one view.
struct WindowMatch {
  std::size_t window = 0;  ///< its number
  Point reference;         ///< its centre, the same in all of its matches
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
  /// Matches of one view, which follow one another.
  struct OfView {
    std::span<const WindowMatch> matches;
    Affine linear;  ///< of the view
    Neighbourhood neighbours;
  };
  /// A match whose correlation counts.
  struct Strong {
    const WindowMatch* match = nullptr;
    const OfView* of = nullptr;
    double square_of_tolerance = 0;  ///< of its distance from where a homography leads, in pixels
    Point reference, moving;         ///< of the match
    double correlation = 0;
  };
  struct Vote {
    const WindowMatch* around = nullptr;
    const OfView* of = nullptr;
    double votes = 0;
  };
  static Strong strong_of(const OfView& of, const WindowMatch& match, const VoteOptions& options);
  void begin(std::span<const WindowMatch> matches, const VoteOptions& options);
  void divide_by_views(std::span<const WindowMatch> matches);
  void sort_by_windows(const VoteOptions& options);
  [[nodiscard]] std::span<const Strong> of_window(std::size_t window) const;
  void vote(const OfView& of_one, const VoteOptions& options);
  void keep_best_votes(const VoteOptions& options);
  void gather(const Vote& vote, const VoteOptions& options);
  void gather_best();
  void gather_along(const Homography& matrix);
  [[nodiscard]] AgreedHomography agreed(const Homography& matrix);
  void find_inliers();
  AgreedHomography sampled_homography(int samples);
  AgreedHomography grown(AgreedHomography best);
  void add_homography(const VoteOptions& options, int samples);

  std::vector<OfView> views_;
  std::vector<Strong> strong_;             // those of a window after those of the one before
  std::vector<std::size_t> first_strong_;  // of each window, and the end
  std::vector<Vote> votes_;
  std::vector<Strong> nearby_;
  std::vector<WindowMatch> inliers_;
  std::vector<double> best_of_window_;
  std::vector<std::size_t> match_of_window_;
  std::vector<AgreedHomography> found_;
};

/// The homography that maps four points to four others, with the last number 1. Nothing where three
/// of them lie on a line, where it mirrors the plane, or where the line that it maps to infinity
/// runs between any of the points and the origin.
[[nodiscard]] std::optional<Homography> homography_between(const std::array<Point, 4>& from,
                                                           const std::array<Point, 4>& to);

/// The homography that maps the matches' points best, by least squares; nothing where they do not
/// determine it.
[[nodiscard]] std::optional<Homography> homography_of(std::span<const WindowMatch> matches);

}  // namespace warpalign::detail
