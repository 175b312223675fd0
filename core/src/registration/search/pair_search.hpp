// Finds the transform between two images. Candidates come from log-polar spectra at several base
// scales, then from other generators; each is verified by its correlation over the overlap of the
// images.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/pair/pair_in_frame.hpp"
#include "registration/proposers/log_polar_search.hpp"
#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/ones.hpp"
#include "registration/search/candidate_judge.hpp"
#include "registration/search/direction_search.hpp"
#include "registration/search/search_parts.hpp"
#include "registration/signal/gradient_fields.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

class PairSearch {
 public:
  /// `parts_ahead`: whether parts of a search may begin before it is known that they are needed;
  /// results do not depend on it.
  PairSearch(const Device& device, const RegistrationOptions& options, bool parts_ahead);
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  /// The best candidates, most significant first; the first one is refined if the options ask for
  /// it. Empty where the options leave nothing to evaluate or no shift scores high enough. Waits
  /// for the device. The result is valid until the next call.
  std::span<const Candidate> run(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 ImagePyramid& moving);
  /// What has looked for places in the last run, in order of first use.
  [[nodiscard]] const Generators& tried() const { return tried_; }
  /// How many independent wrong places the last run might have taken for the right one.
  [[nodiscard]] double places() const { return places_; }

 private:
  /// In place while a pair is searched: what was begun ahead ends with it.
  class Parts;
  void begin_parts(const PairWork& work);
  /// Whether a pair is expected to go on where its first spectra lead to nothing.
  [[nodiscard]] bool expects_to_go_on() const;
  bool try_first_alone(const PairWork& work, std::span<const Candidate> shifted);
  bool try_grid(const PairWork& work);
  [[nodiscard]] bool goes_on(const PairWork& work, bool accepted);
  [[nodiscard]] bool shifts_only() const;
  [[nodiscard]] bool tries_both() const;
  bool search_grey_levels_coarsely(const PairWork& work);
  void search_grey_levels_finely(const PairWork& work);
  void search_grey_levels(const PairWork& work);
  [[nodiscard]] bool are_settled_by_directions(const PairWork& work);
  [[nodiscard]] bool are_alike_at(const PairWork& work, const Candidate& by_directions);
  [[nodiscard]] PairWork by_directions_of(const PairWork& grey_levels);
  void search_directions(const PairWork& grey_levels);
  void search_all_directions(const PairWork& grey_levels);
  void compare_directions_at(const PairWork& work, const Candidate& by_grey_levels);
  void conclude(const PairWork& work);
  void conclude_aside(const PairWork& work);
  void take_conclusion();
  [[nodiscard]] bool wants_features() const;
  void search_features(const PairWork& work);
  [[nodiscard]] std::optional<Candidate> fit_near(const PairWork& work, const Homography& start);
  [[nodiscard]] bool is_reliable(const std::vector<Candidate>& candidates) const;
  [[nodiscard]] bool is_reliable(const Candidate& best) const;
  [[nodiscard]] bool ends_better_than(const PairWork& work,
                                      const std::vector<Candidate>& others) const;
  [[nodiscard]] bool is_settled_by_grey_levels() const;
  [[nodiscard]] bool ends_with(double confidence) const;
  bool has_convincing(const PairWork& work);
  bool add_candidates(const PairWork& work, std::span<const Candidate> found, RefineFrom from);
  bool is_accepted(const PairWork& work, Candidate& candidate);

  Motion model_;                 // as the user asks for it
  RegistrationOptions options_;  // of the search, which finds no more than similarities
  Ones ones_;
  TranslationSearches translation_searches_;
  LogPolarSearch log_polar_;
  SearchPart<WideLogPolarPart> wide_log_polar_;
  SearchPart<GridPart> grid_;
  SearchPart<DirectionSearch> directions_;
  GradientFields fields_;
  CandidateJudge judge_;
  SearchPart<FeaturePart> features_;
  PairInFrame in_frame_;

  // Intermediate results within one run(); members so that their memory is reused.
  std::vector<Candidate> candidates_;      // refined coarsely
  std::vector<Candidate> by_grey_levels_;  // those of the first search, while directions are tried
  std::vector<Candidate> conclusion_;      // of grey levels, where it was come to aside
  bool concluded_with_windows_ = false, settled_by_directions_ = false;
  Generators tried_;
  double places_ = 0;

  bool begun_parts_ = false;    // of this pair
  int pairs_that_went_on_ = 0;  // the last ones, one after the other
};

}  // namespace warpalign::detail
