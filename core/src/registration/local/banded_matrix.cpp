// Symmetric positive definite systems of linear equations with a band.
#include "registration/local/banded_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpalign::detail {

BandedMatrix::BandedMatrix(std::size_t unknowns, std::size_t band)
    : unknowns_(unknowns), band_(std::min(band, unknowns - 1)), entries_(unknowns * (band_ + 1)) {}

bool BandedMatrix::decompose() {
  for (std::size_t r = 0; r < unknowns_; ++r) {
    const std::size_t first = r > band_ ? r - band_ : 0;
    const double diagonal = at(r, r);
    for (std::size_t c = first; c <= r; ++c) {
      const std::size_t from = std::max(first, c > band_ ? c - band_ : 0);
      const double* left = row(r) + (from + band_ - r);
      const double* right = row(c) + (from + band_ - c);
      const double rest = at(r, c) - std::inner_product(left, left + (c - from), right, 0.0);
      if (c < r) {
        at(r, c) = rest / at(c, c);
      } else {
        // What is left of the diagonal where rounding decides has no correct digit.
        if (!(rest > 1e-14 * diagonal)) return false;
        at(r, r) = std::sqrt(rest);
      }
    }
  }
  return true;
}

void BandedMatrix::solve(std::span<double> right) const {
  for (std::size_t r = 0; r < unknowns_; ++r) {
    const std::size_t first = r > band_ ? r - band_ : 0;
    const double* entries = row(r) + (first + band_ - r);
    const double known = std::inner_product(entries, entries + (r - first), &right[first], 0.0);
    right[r] = (right[r] - known) / row(r)[band_];
  }
  for (std::size_t r = unknowns_; r-- > 0;) {
    right[r] /= row(r)[band_];
    const std::size_t first = r > band_ ? r - band_ : 0;
    for (std::size_t c = first; c < r; ++c) right[c] -= row(r)[c + band_ - r] * right[r];
  }
}

}  // namespace warpalign::detail
