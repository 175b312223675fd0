// The levels of two image pyramids between which a transform is fitted coarsely and judged.
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

/// How the images of a pair take part in a fit. The one whose content appears smaller, the coarser
/// one, takes the reference's role, so that the finer one is interpolated.
class FitRoles {
 public:
  /// `similarity`: about what the transform is, reference pixels -> moving pixels.
  FitRoles(const PairContext& work, const Affine& similarity)
      : FitRoles(work, similarity, Homography(similarity)) {}
  /// `transform`: the same more exactly. Where its inverse maps a point of the moving image to
  /// infinity, as where a plane's horizon is in the picture, the roles are not exchanged.
  FitRoles(const PairContext& work, const Affine& similarity, const Homography& transform);

  [[nodiscard]] bool swapped() const { return swapped_; }
  /// Whether other roles of the same pair have the same levels at every spacing.
  [[nodiscard]] bool have_levels_of(const FitRoles& other) const {
    return swapped_ == other.swapped_ && base_ == other.base_ && rotation_ == other.rotation_;
  }
  [[nodiscard]] ImagePyramid& coarse() const { return *coarse_; }
  [[nodiscard]] ImagePyramid& fine() const { return *fine_; }
  /// The spacing, in pixels of the coarser image, at which the content that the images may have in
  /// common is `side` samples long; at least 1.
  [[nodiscard]] double spacing(double side) const;
  /// How many samples long that content is at a spacing.
  [[nodiscard]] double side(double spacing) const { return common_ / spacing; }

  /// A transform between the images as one from the coarser to the finer, and back.
  [[nodiscard]] Affine in_roles(const Affine& m) const { return swapped_ ? m.inverse() : m; }
  [[nodiscard]] Homography in_roles(const Homography& m) const {
    return swapped_ ? m.inverse() : m;
  }

  /// Where directions of edges are compared, the radians by which they turn from the coarser to the
  /// finer image; else 0.
  [[nodiscard]] double rotation() const { return rotation_; }

  /// A level of the coarser image, and the finer one's of about the same content.
  struct BothLevels {
    PyramidLevel& coarse;
    PyramidLevel& fine;

    /// A transform from coarser to finer image as one between the levels, and back.
    [[nodiscard]] Homography to_levels(const Homography& m) const {
      return Homography(fine.to_image().inverse()) * m * coarse.to_image();
    }
    [[nodiscard]] Homography to_images(const Homography& m) const {
      return Homography(fine.to_image()) * m * coarse.to_image().inverse();
    }
  };
  /// The levels at a spacing of the coarser image.
  [[nodiscard]] BothLevels both_levels(const PairContext& work, double spacing) const;

  /// The same, and what is fitted between them.
  struct Levels : BothLevels {
    SimilarityFit::Pair pair;
  };
  /// `detail`: of directions of edges, where these are compared.
  [[nodiscard]] Levels levels(const PairContext& work, double spacing,
                              FieldDetail detail = FieldDetail::whole) const;

 private:
  [[nodiscard]] SimilarityFit::Pair grey_levels(const PairContext& work, PyramidLevel& coarse,
                                                PyramidLevel& fine) const;
  [[nodiscard]] SimilarityFit::Pair directions(const PairContext& work, PyramidLevel& coarse,
                                               PyramidLevel& fine, FieldDetail detail) const;

  bool swapped_;
  double rotation_ = 0;
  ImagePyramid* coarse_;
  ImagePyramid* fine_;
  double base_;
  double common_;
};

/// Calls `use` for each part of `places` whose roles have the same levels. A place has `roles`.
template <class Place, class Use>
void for_each_of_same_levels(std::span<Place> places, Use use) {
  while (!places.empty()) {
    const FitRoles roles = places.front().roles;
    const auto end = std::partition(places.begin(), places.end(), [&](const Place& place) {
      return place.roles.have_levels_of(roles);
    });
    const auto count = static_cast<std::size_t>(end - places.begin());
    use(places.first(count));
    places = places.subspan(count);
  }
}

/// Calls use(groups) with the parts of `places` whose roles have the same levels. Of directions of
/// edges there is memory for a few parts at once: there these are a call. `groups` keeps its
/// memory.
template <class Place, class Use>
void for_groups_of_same_levels(const PairContext& work, std::span<Place> places,
                               std::vector<std::span<Place>>& groups, Use use) {
  using Group = std::span<Place>;
  groups.clear();
  for_each_of_same_levels(places, [&](Group group) { groups.push_back(group); });
  const std::size_t at_once =
      !work.compares_orientation() ? groups.size() : GradientFields::turned_at_once;
  for (std::span<const Group> left(groups); !left.empty();) {
    const auto now = left.first(std::min(at_once, left.size()));
    use(now);
    left = left.subspan(now.size());
  }
}

/// Transforms between the levels of several groups of places. Members keep their memory.
class LevelStarts {
 public:
  /// Takes the groups' levels, at the spacing that spacing_of(roles) says, and the transforms
  /// between these of their places, whose `matrix` is in their roles.
  template <class Place, class SpacingOf>
  void set(const PairContext& work, std::span<const std::span<Place>> groups, FieldDetail detail,
           SpacingOf spacing_of) {
    clear();
    for (const std::span<Place>& group : groups) {
      const FitRoles& roles = group.front().roles;
      add_group(roles.levels(work, spacing_of(roles), detail));
      for (const Place& place : group) add(place.matrix);
    }
  }

  [[nodiscard]] const FitRoles::Levels& levels(std::size_t group) const { return levels_[group]; }
  /// Valid until the next set().
  [[nodiscard]] std::span<const SimilarityFit::Group> groups();

 private:
  void clear();
  void add_group(FitRoles::Levels&& levels);
  void add(const Homography& in_roles);

  std::vector<FitRoles::Levels> levels_;
  std::vector<Homography> matrices_;
  std::vector<std::size_t> ends_;
  std::vector<SimilarityFit::Group> groups_;
};

/// The side of the levels on which candidates are judged.
inline constexpr double judged_side = 256;

/// Sets the correlation, the significance and the overlap of a candidate whose transform from the
/// coarser to the finer image is `matrix`, from the sums of SimilarityFit::evaluate() there.
void judge(const PairContext& work, const FitRoles& roles, const FitRoles::Levels& levels,
           const Homography& matrix, const SimilaritySumsResult& sums, Candidate& candidate);

}  // namespace warpalign::detail
