// Solves banded, symmetric positive definite systems of linear equations.
#include "registration/local/field/banded_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Accumulates eight independent sums, which hides latency, in an order that is the same on every
// processor.
double inner_product(const double* a, const double* b, std::size_t count) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= count; i += sums.size()) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += a[i + k] * b[i + k];
  }
  double rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) +
         rest;
}

}  // namespace

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
      const double rest = at(r, c) - inner_product(left, right, c - from);
      if (c < r) {
        at(r, c) = rest / at(c, c);
      } else {
        // A smaller remainder of the diagonal consists of rounding errors.
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
    const double known = inner_product(entries, &right[first], r - first);
    right[r] = (right[r] - known) / row(r)[band_];
  }
  for (std::size_t r = unknowns_; r-- > 0;) {
    right[r] /= row(r)[band_];
    const std::size_t first = r > band_ ? r - band_ : 0;
    for (std::size_t c = first; c < r; ++c) right[c] -= row(r)[c + band_ - r] * right[r];
  }
}

}  // namespace warpalign::detail
