// Homographies that many matches of local features agree on.
#pragma once

#include "registration/proposers/window_votes.hpp"
#include "registration/tasks/parallel_for.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two features, of one image and of the other, that resemble each other more than others.
struct FeatureMatch {
  Point reference, moving;
  double ratio = 1;  ///< of the descriptors' distance to that of the next best place
};

/// The larger sides of two images, in pixels.
struct LargerSides {
  double reference, moving;
};

/// Puts the clearest first, and leaves none at about the same places as a clearer one.
void keep_distinct(std::vector<FeatureMatch>& matches, const LargerSides& sides);

/// Matches as a processor compares many of them at once.
struct MatchColumns {
  std::vector<float> reference_x, reference_y, moving_x, moving_y;
};

class HomographySampling {
 public:
  /// Homographies from reference to moving image that many matches, the clearest first, agree with,
  /// the one with the most first. No match agrees with two of them. Leaves those that agree with
  /// none. `parallel_for` shares the work; null: one thread does it. Valid until the next call.
  [[nodiscard]] std::span<const Homography> find(std::vector<FeatureMatch>& matches,
                                                 const LargerSides& sides,
                                                 ParallelFor* parallel_for = nullptr);

 private:
  struct Agreed {
    Homography matrix;
    std::size_t matches = 0;
  };
  [[nodiscard]] std::optional<Homography> take_best(std::vector<FeatureMatch>& matches);
  [[nodiscard]] Agreed sampled(const std::vector<FeatureMatch>& matches);
  [[nodiscard]] Agreed grown(Agreed best, const std::vector<FeatureMatch>& matches);
  [[nodiscard]] std::optional<Homography> homography_of_sample(
      const std::vector<FeatureMatch>& matches, std::size_t sample) const;
  void count_agreeing(const std::vector<FeatureMatch>& matches, std::size_t first, std::size_t end,
                      std::size_t least);
  std::size_t find_inliers(const Homography& matrix, const std::vector<FeatureMatch>& matches);

  LargerSides sides_{};
  ParallelFor* parallel_for_ = nullptr;
  std::uint64_t drawn_ = 0;  ///< random numbers, before the samples that are drawn now
  MatchColumns columns_;
  std::vector<std::size_t> agreeing_;  ///< of each sample of a block, how many matches
  std::vector<WindowMatch> inliers_;
  std::vector<Homography> found_;
};

}  // namespace warpalign::detail
