// The pyramid levels between which a transform is coarsely fitted and evaluated.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/signal/gradient_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The direction of a fit between the images of a pair. A fit interpolates the finer image, so the
/// image whose content appears smaller (the coarser one) acts as the reference.
class FitDirection {
 public:
  /// `similarity` approximates the transform: reference pixels -> moving pixels.
  FitDirection(const PairContext& work, const Affine& similarity)
      : FitDirection(work, similarity, Homography(similarity)) {}
  /// `transform` is the more accurate transform. The images are not swapped if its inverse maps a
  /// point of the moving image to infinity, as when a plane's horizon is visible.
  FitDirection(const PairContext& work, const Affine& similarity, const Homography& transform);

  [[nodiscard]] bool swapped() const { return swapped_; }
  /// Whether `other`, of the same pair, uses the same levels at every spacing.
  [[nodiscard]] bool shares_levels_with(const FitDirection& other) const {
    return swapped_ == other.swapped_ && base_ == other.base_ && rotation_ == other.rotation_;
  }
  [[nodiscard]] ImagePyramid& coarse() const { return *coarse_; }
  [[nodiscard]] ImagePyramid& fine() const { return *fine_; }
  /// The spacing, in pixels of the coarser image and at least 1, at which the content that the
  /// images may share is `side` samples long.
  [[nodiscard]] double spacing(double side) const;
  /// The length of that content in samples, at a spacing.
  [[nodiscard]] double side(double spacing) const { return common_ / spacing; }

  /// Converts a transform between the images to one from the coarser to the finer image, and back.
  [[nodiscard]] Affine to_fit_frame(const Affine& m) const { return swapped_ ? m.inverse() : m; }
  [[nodiscard]] Homography to_fit_frame(const Homography& m) const {
    return swapped_ ? m.inverse() : m;
  }

  /// The rotation in radians from the coarser to the finer image if gradient orientation is
  /// compared; else 0.
  [[nodiscard]] double rotation() const { return rotation_; }

  /// A level of the coarser image, and the level of the finer image with about the same content.
  struct BothLevels {
    PyramidLevel& coarse;
    PyramidLevel& fine;

    /// Converts a transform from the coarser to the finer image to one between the levels, and
    /// back.
    [[nodiscard]] Homography to_levels(const Homography& m) const {
      return Homography(fine.to_image().inverse()) * m * coarse.to_image();
    }
    [[nodiscard]] Homography to_images(const Homography& m) const {
      return Homography(fine.to_image()) * m * coarse.to_image().inverse();
    }
  };
  /// Returns the levels for a spacing of the coarser image.
  [[nodiscard]] BothLevels both_levels(const PairContext& work, double spacing) const;

  /// The levels, and the images that are fitted between them.
  struct Levels : BothLevels {
    SimilarityFit::Pair pair;
  };
  /// `detail` applies to gradient orientation only.
  [[nodiscard]] Levels levels(const PairContext& work, double spacing,
                              FieldDetail detail = FieldDetail::whole) const;

 private:
  [[nodiscard]] SimilarityFit::Pair intensity_pair(const PairContext& work, PyramidLevel& coarse,
                                                   PyramidLevel& fine) const;
  [[nodiscard]] SimilarityFit::Pair orientation_pair(const PairContext& work, PyramidLevel& coarse,
                                                     PyramidLevel& fine, FieldDetail detail) const;

  bool swapped_;
  double rotation_ = 0;
  ImagePyramid* coarse_;
  ImagePyramid* fine_;
  double base_;
  double common_;
};

/// Partitions `starts` by their levels and calls `use` for each part. A start has a member `roles`.
template <class Start, class Use>
void for_each_level_group(std::span<Start> starts, Use use) {
  while (!starts.empty()) {
    const FitDirection roles = starts.front().roles;
    const auto end = std::partition(starts.begin(), starts.end(), [&](const Start& start) {
      return start.roles.shares_levels_with(roles);
    });
    const auto count = static_cast<std::size_t>(end - starts.begin());
    use(starts.first(count));
    starts = starts.subspan(count);
  }
}

/// Partitions `starts` by their levels and calls use(groups) with the parts. For gradient
/// orientation, memory suffices for a few parts at once, so each call gets a few. `groups` is a
/// reused buffer.
template <class Start, class Use>
void for_level_groups(const PairContext& work, std::span<Start> starts,
                      std::vector<std::span<Start>>& groups, Use use) {
  using Group = std::span<Start>;
  groups.clear();
  for_each_level_group(starts, [&](Group group) { groups.push_back(group); });
  const std::size_t at_once =
      !work.compares_orientation() ? groups.size() : GradientFields::max_rotated_fields;
  for (std::span<const Group> left(groups); !left.empty();) {
    const auto now = left.first(std::min(at_once, left.size()));
    use(now);
    left = left.subspan(now.size());
  }
}

/// The levels and start transforms of several groups of starts. Members reuse their memory.
class LevelStarts {
 public:
  /// Gets each group's levels, at the spacing that spacing_of(roles) returns, and converts the
  /// `matrix` of each start, which is in its roles, to a transform between these levels.
  template <class Start, class SpacingOf>
  void set(const PairContext& work, std::span<const std::span<Start>> groups, FieldDetail detail,
           SpacingOf spacing_of) {
    clear();
    for (const std::span<Start>& group : groups) {
      const FitDirection& roles = group.front().roles;
      add_group(roles.levels(work, spacing_of(roles), detail));
      for (const Start& start : group) add(start.matrix);
    }
  }

  [[nodiscard]] const FitDirection::Levels& levels(std::size_t group) const {
    return levels_[group];
  }
  /// Valid until the next set().
  [[nodiscard]] std::span<const SimilarityFit::Group> groups();

 private:
  void clear();
  void add_group(FitDirection::Levels&& levels);
  void add(const Homography& to_fit_frame);

  std::vector<FitDirection::Levels> levels_;
  std::vector<Homography> matrices_;
  std::vector<std::size_t> ends_;
  std::vector<SimilarityFit::Group> groups_;
};

/// The side of the levels on which candidates are evaluated.
inline constexpr double scoring_side = 256;

/// Sets the correlation, the significance and the overlap of a candidate from the sums of
/// SimilarityFit::evaluate(). `matrix` maps the coarser to the finer image.
void score_candidate(const PairContext& work, const FitDirection& roles,
                     const FitDirection::Levels& levels, const Homography& matrix,
                     const SimilaritySumsResult& sums, Candidate& candidate);

}  // namespace warpalign::detail
