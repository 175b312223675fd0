// Coarse fits of affine transforms and homographies, from similarities or from homographies that
// patches have proposed.
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

class ProjectiveFits {
 public:
  /// `starts_at_once`: run the fits of a candidate from different levels at once, before it is
  /// known whether the later ones are needed. The results are the same.
  explicit ProjectiveFits(bool starts_at_once) : starts_at_once_(starts_at_once) {}

  /// Fits the motion, affine or homography, from each candidate's similarity on levels of
  /// increasing resolution. Replaces the candidate by the result and scores it, unless the fit
  /// diverges, maps a point of the reference to infinity, or is less significant than the
  /// similarity. All candidates are fitted at once. Waits for the device.
  void fit(const PairContext& work, SimilarityFit& fitter, Motion motion,
           std::span<Candidate> candidates);

  /// Fits homographies from starts that patches or local features have found to within some pixels.
  /// Returns the plausible results (see is_plausible_view()) in the order of the starts, valid
  /// until the next call. Waits for the device.
  std::span<const Candidate> fit_from_patches(const PairContext& work, SimilarityFit& fitter,
                                              std::span<const Homography> starts);

 private:
  /// A candidate to fit: the start of its fits, and the best result.
  struct Target {
    Candidate* candidate;
    FitDirection roles;
    Homography start;
    std::optional<Candidate> best{};
    double start_significance = 0;  ///< in these roles, which may not be those of the search
    /// The larger significance of the best fit so far and of the start.
    [[nodiscard]] double best_significance() const;
  };
  /// A fit of a candidate that starts from the level with `first_side`.
  struct Attempt {
    Target* target;
    FitDirection roles;
    double first_side;
    Homography matrix;
    bool is_fitted = false;             ///< whether the fit succeeded on its last level
    std::optional<Candidate> judged{};  ///< the candidate at `matrix`, scored
  };
  using Group = std::span<Attempt>;  ///< attempts whose scales require the same levels

  void add_attempt(Target& target, double first_side);
  /// Fits attempts_, and scores those that are plausible views of a plane.
  void make_attempts(const PairContext& work, SimilarityFit& fitter, Motion motion);
  void fit_levels_of(const PairContext& work, SimilarityFit& fitter, Motion motion,
                     std::span<const Group> groups);
  void fit_on_level(const PairContext& work, SimilarityFit& fitter, const FitOptions& options,
                    double side);
  void score_starts(const PairContext& work, SimilarityFit& fitter);
  void score_fitted(const PairContext& work, SimilarityFit& fitter, Motion motion,
                    std::span<const Group> groups);
  void score_together(const PairContext& work, SimilarityFit& fitter,
                      std::span<const Group> groups);
  /// Fills starts_ with the groups' levels of a side and the attempts' transforms between them.
  void prepare(const PairContext& work, std::span<const Group> groups, double side,
               FieldDetail detail);
  static void keep_if_best(const Attempt& attempt);
  [[nodiscard]] double restart_threshold(const PairContext& work) const;
  [[nodiscard]] std::size_t sides_at_once(std::size_t begun) const;

  bool starts_at_once_;
  // Intermediate results within one call; members so that their memory is reused.
  std::vector<Target> targets_;
  std::vector<Attempt> attempts_;
  std::vector<Group> groups_, level_groups_, plausible_;
  LevelStarts starts_;
  std::vector<Candidate> by_windows_;
};

}  // namespace warpalign::detail
