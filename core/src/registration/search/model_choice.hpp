// The model of the transform, and its refinement at full resolution.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/window_search.hpp"
#include "registration/refinement/refinement.hpp"
#include "registration/refinement/richer_fits.hpp"
#include "registration/refinement/richer_models.hpp"
#include "registration/resources/ones.hpp"
#include "registration/search/search_parts.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

/// Takes what a search for similarities has found, fits the model that is asked for at the best
/// places, or chooses it, and refines the best of them.
class ModelChoice {
 public:
  /// `model`: as the user asks for it. `options`: of the search.
  ModelChoice(const Device& device, Motion model, const RegistrationOptions& options, Ones& ones,
              SimilarityFit& fitter, bool parts_ahead)
      : device_(device),
        model_(model),
        options_(options),
        ones_(ones),
        fitter_(fitter),
        refinement_(device),
        richer_fits_(ones, prefers_resident_fits(device)),
        richer_models_(device, ones),
        grey_windows_(device, parts_ahead, options, WindowPart::Compares::grey_levels, parts_ahead),
        edge_windows_(device, parts_ahead, options, WindowPart::Compares::edges, false) {}

  /// Begins what a pair may need.
  void begin_parts(const PairWork& work);
  /// Ends it.
  void drop_parts() noexcept;

  /// Moves the best candidate to the front, refined if the options ask for it. Candidates must be
  /// in order, most significant first; there may be none, and windows may add some.
  void choose(const PairWork& work, std::vector<Candidate>& candidates);
  /// Fits a homography near `start`, which many local features agree on, and refines it if the
  /// options ask for it.
  std::optional<Candidate> fit_near(const PairWork& work, const Homography& start);
  /// Whether windows have been looked for in the last call.
  [[nodiscard]] bool tried_windows() const { return tried_windows_; }

 private:
  void refine(const PairWork& work, Candidate& candidate);
  void fit_at_best_places(const PairWork& work, Motion motion, std::vector<Candidate>& candidates);
  void take_richer_model(const PairWork& work, std::vector<Candidate>& candidates);
  void try_windows(const PairWork& work, std::vector<Candidate>& candidates);
  void add_agreed(const PairWork& work, std::span<const AgreedHomography> found,
                  std::vector<Candidate>& candidates);
  bool may_be_convincing_as_plane(const PairWork& work, const Candidate& place);
  bool is_better_as(const PairWork& work, Motion motion, Candidate& chosen);
  bool find_place_of_homography(const PairWork& work, std::vector<Candidate>& candidates);
  void take_model_that_explains_best(const PairWork& work, std::vector<Candidate>& candidates);

  Device device_;
  Motion model_;
  RegistrationOptions options_;
  Ones& ones_;
  SimilarityFit& fitter_;
  Refinement refinement_;
  RicherFits richer_fits_;
  RicherModels richer_models_;
  SearchPart<WindowPart> grey_windows_, edge_windows_;
  std::optional<WindowSearch> fine_window_search_;  // created when a pair first needs it
  std::vector<Homography> agreed_;                  // by windows; keeps its memory
  bool tried_windows_ = false;
};

/// Whether the motion may be an affine transform or a homography.
[[nodiscard]] bool is_richer(Motion motion);

}  // namespace warpalign::detail
