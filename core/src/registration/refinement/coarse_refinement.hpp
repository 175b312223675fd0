// Refines and scores candidates on coarse levels of the images.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The proposer of the candidates. It determines how large their errors may be, and so the level on
/// which the refinement starts.
enum class RefineFrom : std::size_t {
  grid,      ///< errors of up to two degrees and an eighth of the scale
  log_polar  ///< errors of a few pixels of the finest of these levels
};

class CoarseRefinement {
 public:
  CoarseRefinement(Motion motion, SimilarityFit& fitter) : motion_(motion), fitter_(fitter) {}

  /// Refines the candidates by Gauss-Newton, which reduces an error of a few pixels to a few
  /// hundredths of a pixel, and sets their significance. All candidates are fitted at once. If
  /// there are many, the least significant ones are dropped before the last level. Waits for the
  /// device.
  void refine(const PairContext& work, std::vector<Candidate>& candidates, RefineFrom from);
  /// Sets the correlation, the significance and the overlap of a candidate without a fit. Waits for
  /// the device.
  void score(const PairContext& work, Candidate& candidate);

 private:
  struct Target {
    Candidate* candidate;
    FitDirection roles;
    Affine matrix;            ///< in these roles
    double significance = 0;  ///< the significance after the last fit
  };
  using Group = std::span<Target>;  ///< candidates whose scales require the same levels
  void drop_least_significant(std::vector<Candidate>& candidates);
  /// Fills starts_ with the groups' levels and the transforms between them. The spacing of the
  /// levels is `coarser` times that of the scoring level.
  void prepare(const PairContext& work, std::span<const Group> groups, double coarser,
               FieldDetail detail);
  void fit_on_level(const PairContext& work, std::span<const Group> groups, std::size_t level);
  void score_groups(const PairContext& work, std::span<const Group> groups);

  Motion motion_;
  SimilarityFit& fitter_;
  // Members so that their memory is reused.
  std::vector<Target> targets_;
  std::vector<Candidate> kept_;
  std::vector<Group> groups_, level_groups_;
  LevelStarts starts_;
};

}  // namespace warpalign::detail
