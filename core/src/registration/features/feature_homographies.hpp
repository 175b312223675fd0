// Finds homographies from matches of local features.
#pragma once

#include "registration/proposers/patch_votes.hpp"
#include "registration/tasks/parallel_for.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two features, one per image, that resemble each other more than they resemble others.
struct FeatureMatch {
  Point reference, moving;
  double ratio = 1;  ///< of the descriptors' distance to that of the next best match (Lowe 2004)
};

/// The larger sides of two images, in pixels.
struct LargerSides {
  double reference, moving;
};

/// Sorts the matches, most distinctive first, and removes near duplicates of more distinctive ones.
void keep_distinct(std::vector<FeatureMatch>& matches, const LargerSides& sides);

/// The coordinates of matches in separate arrays, for vectorized comparison.
struct MatchColumns {
  std::vector<float> reference_x, reference_y, moving_x, moving_y;
};

class HomographySampling {
 public:
  /// Returns homographies from reference to moving image with many inliers, most inliers first.
  /// `matches` must be sorted, the most distinctive first; the function removes the inliers, so
  /// that each match supports one homography. `parallel_for` runs the loop on several threads;
  /// null: one thread. The result is valid until the next call.
  [[nodiscard]] std::span<const Homography> find(std::vector<FeatureMatch>& matches,
                                                 const LargerSides& sides,
                                                 ParallelFor* parallel_for = nullptr);

 private:
  struct Hypothesis {
    Homography matrix;
    std::size_t matches = 0;
  };
  [[nodiscard]] std::optional<Homography> extract_best(std::vector<FeatureMatch>& matches);
  [[nodiscard]] Hypothesis sample_best(const std::vector<FeatureMatch>& matches);
  [[nodiscard]] Hypothesis refit(Hypothesis best, const std::vector<FeatureMatch>& matches);
  [[nodiscard]] std::optional<Homography> homography_of_sample(
      const std::vector<FeatureMatch>& matches, std::size_t sample) const;
  void count_inliers(const std::vector<FeatureMatch>& matches, std::size_t first, std::size_t end,
                     std::size_t least);
  std::size_t collect_inliers(const Homography& matrix, const std::vector<FeatureMatch>& matches);

  LargerSides sides_{};
  ParallelFor* parallel_for_ = nullptr;
  std::uint64_t drawn_ = 0;  ///< number of random numbers used by earlier calls of sample_best()
  MatchColumns columns_;
  std::vector<std::size_t> inlier_counts_;  ///< number of inliers of each sample of a block
  std::vector<PatchMatch> inliers_;
  std::vector<Homography> found_;
};

}  // namespace warpalign::detail
