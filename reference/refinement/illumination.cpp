// The illumination model, by least squares.
#include "reference/refinement/illumination.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <optional>

namespace reference {

namespace {

/// Normal equations of m = o + p u + q v + g r, from weighted pairs (r, m), with u and v the
/// distances of their cells. The extent of the cells adds 1/12 to the variance of both.
struct IlluminationEquations {
  double weight = 0;
  std::array<std::array<double, 4>, 4> products{};
  std::array<double, 4> with_moving{};
  void add(double w, double r, double m, double u, double v) {
    const std::array<double, 4> terms{1, u, v, r};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) products[i][j] += w * terms[i] * terms[j];
      with_moving[i] += w * terms[i] * m;
    }
    products[1][1] += w / 12;
    products[2][2] += w / 12;
    weight += w;
  }
};

/// By Gaussian elimination; the prior acts on the gain alone.
std::complex<double> fitted(IlluminationEquations e, const IlluminationPrior& prior) {
  if (e.weight == 0) return {prior.gain, prior.moving - prior.gain * prior.reference};
  e.products[3][3] += e.weight * prior.strength;
  e.with_moving[3] += e.weight * prior.strength * prior.gain;
  for (std::size_t pivot = 0; pivot < 4; ++pivot) {
    for (std::size_t row = 0; row < 4; ++row) {
      if (row == pivot) continue;
      const double factor = e.products[row][pivot] / e.products[pivot][pivot];
      for (std::size_t j = 0; j < 4; ++j) e.products[row][j] -= factor * e.products[pivot][j];
      e.with_moving[row] -= factor * e.with_moving[pivot];
    }
  }
  return {e.with_moving[3] / e.products[3][3], e.with_moving[0] / e.products[0][0]};
}

}  // namespace

Spectrum illumination(const ComparedPair& pair, std::int64_t cell, double sigma,
                      const IlluminationPrior& prior) {
  const double sigma_in_cells = sigma / static_cast<double>(cell);
  const auto reach = static_cast<std::int64_t>(std::ceil(3 * sigma_in_cells));
  const auto weight = [&](std::int64_t cells) {
    const double u = static_cast<double>(cells) / sigma_in_cells;
    return std::exp(-u * u / 2);
  };
  Spectrum field((pair.reference.width + cell - 1) / cell,
                 (pair.reference.height + cell - 1) / cell);
  PlaneOf<IlluminationEquations> equations(field.width, field.height);
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      const std::optional<Position> q = counted(pair, x, y);
      if (!q) continue;
      const double m = spline_at(pair.coefficients, *q);
      for (std::int64_t v = 0; v < field.height; ++v) {
        for (std::int64_t u = 0; u < field.width; ++u) {
          const std::int64_t across = x / cell - u;
          const std::int64_t down = y / cell - v;
          if (std::abs(across) > reach || std::abs(down) > reach) continue;
          equations.at(u, v).add(weight(across) * weight(down), pair.reference.at(x, y), m,
                                 static_cast<double>(across), static_cast<double>(down));
        }
      }
    }
  }
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    field.values[i] = fitted(equations.values[i], prior);
  }
  return field;
}

}  // namespace reference
