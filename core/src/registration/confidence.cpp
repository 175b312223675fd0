// How sure a registration is.
#include "registration/confidence.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

// Were the values of the correlation surface of unrelated pictures independent and normally
// distributed, their maximum would hardly exceed 6 deviations. Spectra of windowed pictures are
// correlated, and 16 was seen in a few hundred pairs; the lowest of the pairs registered rightly
// had 44 (docs/registration.md).
constexpr double even_odds = 22;
// Makes 16 a confidence of 0.07, and 44 one of 0.996.
constexpr double steepness = 8;

}  // namespace

double confidence_of(double deviations) {
  if (!(deviations > 0)) return 0;
  return 1 / (1 + std::pow(even_odds / deviations, steepness));
}

}  // namespace warpalign::detail
