// Proposes what log-polar spectra lead to: rotations and scales at several base scales, and their
// shifts.
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

/// The highest hypothesis at a base scale of 1 in the first round, the highest of all base scales
/// in the second, the next ones in the third. For Motion::translation there is one hypothesis.
std::unique_ptr<Proposer> make_log_polar(const Device& device, const RegistrationOptions& options);
/// The same of frames twice as wide: the highest hypothesis of all base scales in the first round,
/// many more in the second.
std::unique_ptr<Proposer> make_fine_log_polar(const Device& device,
                                              const RegistrationOptions& options);

inline constexpr ProposerKind log_polar_spectra{"log-polar spectra", make_log_polar};
inline constexpr ProposerKind fine_spectra{"finer log-polar spectra", make_fine_log_polar};

class LogPolarSearch final : public Proposer {
 public:
  struct Settings {
    std::int64_t side;         ///< of the padded frames on which spectra are taken
    std::size_t hypotheses;    ///< that are proposed in all rounds together
    int round_of_other_bases;  ///< in which the other base scales are added
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
  /// Adds the hypotheses at the other base scales. The highest of all comes first, and those that
  /// nearly equal a higher one are left out.
  void add_other_bases(const PairContext& work);
  /// Hypotheses from number `first` on and below `end`, and their opposites, the rotations by 180
  /// degrees more, each at its best shift; the best first.
  std::span<const Candidate> shifted_of(const PairContext& work, std::size_t first,
                                        std::size_t end);
  std::span<const Candidate> shifted(const PairContext& work, std::span<Hypothesis> hypotheses);
  void add_shifts(const PairContext& work, double rotation_deg,
                  const TranslationSearch::Peaks& peaks);

  const RegistrationOptions& options_;
  Device device_;
  RotationScaleSearch search_;
  Settings settings_;
  /// One hypothesis at a time, or with memory that is taken when they first come, many.
  TranslationSearch one_shift_;
  std::optional<TranslationSearch> many_shifts_;
  TranslationSearch& shifts_of(std::size_t hypotheses);
  std::vector<Hypothesis> hypotheses_;
  std::vector<KnownRotationScale> known_;  // of the hypotheses whose shifts are sought
  std::vector<Candidate> shifted_;
};

}  // namespace warpalign::detail
