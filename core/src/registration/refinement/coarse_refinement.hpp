// Refines candidates on coarse levels of the images, and judges them there.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// From how coarse a level on a candidate is refined, which depends on how far off it may be.
enum class RefineFrom : std::size_t {
  grid,      ///< by two degrees and an eighth of the scale
  log_polar  ///< by a few pixels of the finest of these levels
};

class CoarseRefinement {
 public:
  CoarseRefinement(Motion motion, SimilarityFit& fitter) : motion_(motion), fitter_(fitter) {}

  /// Gauss-Newton, which reduces an error of a few pixels to a few hundredths of one, and the
  /// significance of the result. Candidates are fitted together, and of many those are left out
  /// that agree least before the last level. Waits for the device.
  void refine(const PairContext& work, std::vector<Candidate>& candidates, RefineFrom from);

 private:
  struct Place {
    Candidate* candidate;
    FitRoles roles;
    Affine matrix;        ///< in these roles
    double standing = 0;  ///< the significance of the last fit
  };
  using Group = std::span<Place>;  ///< of places whose scales call for the same levels
  void leave_out_least(std::vector<Candidate>& candidates);
  /// Brings the levels of groups, at a spacing that is `coarser` than that at which they are
  /// judged, and their places' transforms between these into starts_.
  void prepare(const PairContext& work, std::span<const Group> groups, double coarser,
               FieldDetail detail);
  void fit_on_level(const PairContext& work, std::span<const Group> groups, std::size_t level);
  void judge_groups(const PairContext& work, std::span<const Group> groups);

  Motion motion_;
  SimilarityFit& fitter_;
  // Members so that their memory is reused.
  std::vector<Place> places_;
  std::vector<Candidate> kept_;
  std::vector<Group> groups_, of_level_;
  LevelStarts starts_;
};

}  // namespace warpalign::detail
