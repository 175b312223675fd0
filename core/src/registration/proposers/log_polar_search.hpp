// Proposes candidates from log-polar spectra: rotations and scales at several base scales, each
// with its best shift.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/proposer.hpp"
#include "registration/proposers/rotation_scale_search.hpp"
#include "registration/proposers/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Round 0 proposes the highest hypothesis at a base scale of 1, round 1 the highest at any base
/// scale, and round 2 the next ones. For Motion::translation there is one hypothesis.
std::unique_ptr<Proposer> make_log_polar(const Device& device, const RegistrationOptions& options);
/// The same on frames twice as wide: round 0 proposes the highest hypothesis at any base scale,
/// round 1 many more.
std::unique_ptr<Proposer> make_fine_log_polar(const Device& device,
                                              const RegistrationOptions& options);

inline constexpr ProposerKind log_polar_spectra{"log-polar spectra", make_log_polar};
inline constexpr ProposerKind fine_spectra{"finer log-polar spectra", make_fine_log_polar};

class LogPolarSearch final : public Proposer {
 public:
  struct Settings {
    std::int64_t side;       ///< of the padded frames on which spectra are computed
    std::size_t hypotheses;  ///< total number proposed, over all rounds
    int other_bases_round;   ///< the round that adds the other base scales
  };
  LogPolarSearch(const Device& device, const Settings& settings,
                 const RegistrationOptions& options);

  void propose(const PairContext& context, int round, std::span<const Candidate> known,
               std::vector<Candidate>& proposals) override;

 private:
  /// A rotation-scale hypothesis and the base scale at which it was found.
  struct Hypothesis {
    RotationScalePeak peak;
    double base;
  };
  void add_at(const PairContext& work, double base);
  /// Adds the hypotheses at the other base scales, highest first, without those that nearly equal a
  /// higher one.
  void add_other_bases(const PairContext& work);
  /// Returns the candidates of the hypotheses from `first` to before `end`, with their best shifts,
  /// best first. Includes the opposite rotations (180 degrees more).
  std::span<const Candidate> shifted_of(const PairContext& work, std::size_t first,
                                        std::size_t end);
  std::span<const Candidate> shifted(const PairContext& work, std::span<Hypothesis> hypotheses);
  void add_shifts(const PairContext& work, double rotation_deg,
                  const TranslationSearch::Peaks& peaks);
  void mark_only_maximum(const PairContext& work, const TranslationSearch::Peaks& peaks);

  const RegistrationOptions& options_;
  Device device_;
  RotationScaleSearch search_;
  Settings settings_;
  /// For one hypothesis at a time, and, allocated on first use, for many.
  TranslationSearch one_shift_;
  std::optional<TranslationSearch> many_shifts_;
  TranslationSearch& shifts_of(std::size_t hypotheses);
  std::vector<Hypothesis> hypotheses_;
  std::vector<KnownRotationScale> known_;  // of the hypotheses whose shifts are being searched
  std::vector<Candidate> shifted_;
};

}  // namespace warpalign::detail
