// Affine transforms and homographies, fitted coarsely where a search has found similarities or
// where windows agree.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/refinement/fit_levels.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

class RicherFits {
 public:
  /// `starts_at_once`: whether fits of a place that begin with different levels are made together,
  /// before it is known whether the later ones are needed. The results are the same.
  explicit RicherFits(bool starts_at_once) : starts_at_once_(starts_at_once) {}

  /// Fits the motion, affine or homography, on levels of increasing resolution, beginning with each
  /// candidate's similarity, and judges the candidate anew, which has that motion then. Does not
  /// change one whose fit diverges, maps a point of the reference to infinity or explains less than
  /// the similarity. Candidates are fitted together. Waits for the device.
  void fit(const PairContext& work, SimilarityFit& fitter, Motion motion,
           std::span<Candidate> candidates);

  /// Fits homographies that windows or local features have found to within some pixels, likewise.
  /// Returns those that were fitted and may be views of a plane, in their order; valid until the
  /// next call.
  std::span<const Candidate> fit_by_windows(const PairContext& work, SimilarityFit& fitter,
                                            std::span<const Homography> starts);

 private:
  /// Where fits begin, in the roles that images have there, and the best that was found.
  struct Place {
    Candidate* candidate;
    FitRoles roles;
    Homography start;
    std::optional<Candidate> best{};
    double start_significance = 0;  ///< in these roles, which may not be those of the search
    /// The significance of the best fit so far, or of the start.
    [[nodiscard]] double reached() const;
  };
  /// A fit of a place, from the level on with which it begins.
  struct Attempt {
    Place* place;
    FitRoles roles;
    double first_side;
    Homography matrix;
    bool is_fitted = false;             ///< on the last level that it was tried on
    std::optional<Candidate> judged{};  ///< the candidate at `matrix`
  };
  using Group = std::span<Attempt>;  ///< of attempts whose scales call for the same levels

  void add_attempt(Place& place, double first_side);
  /// Fits attempts_, and judges those that may be views of a plane.
  void make_attempts(const PairContext& work, SimilarityFit& fitter, Motion motion);
  void fit_levels_of(const PairContext& work, SimilarityFit& fitter, Motion motion,
                     std::span<const Group> groups);
  void fit_on_level(const PairContext& work, SimilarityFit& fitter, const FitOptions& options,
                    double side);
  void judge_starts(const PairContext& work, SimilarityFit& fitter);
  void judge_fitted(const PairContext& work, SimilarityFit& fitter, Motion motion,
                    std::span<const Group> groups);
  void judge_together(const PairContext& work, SimilarityFit& fitter,
                      std::span<const Group> groups);
  /// The groups' levels of a side, and their attempts' transforms between these, into starts_.
  void prepare(const PairContext& work, std::span<const Group> groups, double side,
               FieldDetail detail);
  static void take(const Attempt& attempt);
  [[nodiscard]] double least_to_start_again(const PairContext& work) const;
  [[nodiscard]] std::size_t sides_at_once(std::size_t begun) const;

  bool starts_at_once_;
  // Intermediate results within one call; members so that their memory is reused.
  std::vector<Place> places_;
  std::vector<Attempt> attempts_;
  std::vector<Group> groups_, of_level_, plausible_;
  LevelStarts starts_;
  std::vector<Candidate> by_windows_;
};

}  // namespace warpalign::detail
