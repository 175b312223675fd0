// Candidates from log-polar spectra: rotations and scales at several base scales, and their shifts.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/rotation_scale_search.hpp"
#include "registration/proposers/translation_searches.hpp"

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

class LogPolarSearch {
 public:
  /// `side`: of the padded frames on which spectra are taken.
  LogPolarSearch(const Device& device, std::int64_t side, const RegistrationOptions& options,
                 TranslationSearches& shifts);

  /// Looks for hypotheses at a base scale of 1. A search for shifts alone has one hypothesis.
  void begin(const PairWork& work);
  /// Adds the hypotheses at the other base scales. The highest of all comes first, and those that
  /// nearly equal a higher one are left out.
  void add_other_bases(const PairWork& work);

  /// The highest hypothesis and its opposite, the rotation by 180 degrees more, each at its best
  /// shift; the better one first. Valid until the next call, as is what others() returns.
  std::span<const Candidate> first(const PairWork& work);
  /// The same of those after the highest, of `maximum` together with it.
  std::span<const Candidate> others(const PairWork& work, std::size_t maximum);

 private:
  /// A rotation-scale hypothesis and the base scale at which it was found.
  struct Hypothesis {
    RotationScalePeak peak;
    double base;
  };
  void add_at(const PairWork& work, double base);
  std::span<const Candidate> shifted(const PairWork& work, std::span<Hypothesis> hypotheses);
  void add_shifts(const PairWork& work, double rotation_deg, const TranslationSearch::Peaks& peaks);

  RegistrationOptions options_;
  RotationScaleSearch search_;
  TranslationSearches& shifts_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<KnownRotationScale> known_;  // of the hypotheses whose shifts are sought
  std::vector<Candidate> shifted_;
};

}  // namespace warpalign::detail
