// Says whether two images agree only in lines that run across a narrow overlap.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/pyramid/grey_plane.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// Layers, steps or shores that reach the borders of two images match wherever a strip of one
/// border is laid on a strip of the other, even mirrored: the strips vary along their length only.
/// Such an agreement is one fact for each line across the strip, not for each pixel. Reuses its
/// memory between calls.
class StripStructure {
 public:
  /// The direction of the lines, a unit vector in the reference, if the overlap of a candidate by
  /// intensity is a strip and the images hardly correlate without the means of the lines across it.
  /// Waits for the device. Nothing for wide overlaps, without device work.
  [[nodiscard]] std::optional<Point> lines_of(const PairContext& context,
                                              const Candidate& candidate);

 private:
  struct Sample {
    Point at;  ///< in the level of the coarser image
    double coarse, fine;
  };
  void take_samples(const GreyPlane& coarse, const GreyPlane& fine, const Homography& to_fine);
  [[nodiscard]] std::optional<Point> short_axis() const;
  [[nodiscard]] double correlation() const;
  void subtract_means_across(Point axis);

  std::vector<Sample> samples_;
  GreyPlane coarse_, fine_, coarse_weight_, fine_weight_;
  std::vector<Sample> sums_;  // of the lines across the strip
  std::vector<double> counts_;
};

}  // namespace warpalign::detail
