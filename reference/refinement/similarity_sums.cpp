// The sums of a Gauss-Newton step.
#include "reference/refinement/similarity_sums.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

namespace reference {

namespace {

bool nearly(double a, double b) { return a != b && std::abs(a - b) < 1e-5; }

bool ambiguous_on_axis(double at, std::int64_t n, std::int64_t margin, bool weighted) {
  return nearly(at, static_cast<double>(margin)) ||
         nearly(at, static_cast<double>(n - 1 - margin)) ||
         (weighted && std::abs(at - std::floor(at) - 0.5) < 1e-5);
}

bool ambiguous(const ComparedPair& pair, Position q) {
  const bool weighted = pair.moving_weight != nullptr;
  return ambiguous_on_axis(q.x, pair.coefficients.width, pair.moving_margin, weighted) ||
         ambiguous_on_axis(q.y, pair.coefficients.height, pair.moving_margin, weighted);
}

// Moves q by the parameters: shift, logarithm of the scale, counter-clockwise rotation on a screen
// whose y points down, about the centre c.
Position moved(Position q, Position c, const std::array<double, 4>& p) {
  const double s = std::exp(p[2]);
  const double dx = q.x - c.x;
  const double dy = q.y - c.y;
  return {c.x + s * (std::cos(p[3]) * dx + std::sin(p[3]) * dy) + p[0],
          c.y + s * (-std::sin(p[3]) * dx + std::cos(p[3]) * dy) + p[1]};
}

// Cells before and after a pixel, with their parts.
std::array<Tap, 2> cells_around(std::int64_t pixel, std::int64_t cell, std::int64_t cells) {
  const double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cell) - 0.5;
  const double clamped = std::clamp(at, 0.0, static_cast<double>(cells - 1));
  const auto before = static_cast<std::int64_t>(std::floor(clamped));
  const double part = clamped - static_cast<double>(before);
  return {Tap{before, 1 - part}, Tap{std::min(before + 1, cells - 1), part}};
}

std::complex<double> illumination_at(const Illumination& illumination, std::int64_t x,
                                     std::int64_t y) {
  if (illumination.field == nullptr) return {illumination.gain, illumination.offset};
  std::complex<double> sum = 0;
  for (const Tap& row : cells_around(y, illumination.cell, illumination.field->height)) {
    for (const Tap& column : cells_around(x, illumination.cell, illumination.field->width)) {
      sum += row.weight * column.weight * illumination.field->at(column.pixel, row.pixel);
    }
  }
  return sum;
}

double tukey(double residual, double scale) {
  if (scale == 0) return 1;
  const double u = residual / scale;
  return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

void add_step(SimilaritySums& sums, double residual, double weight,
              const std::array<double, 4>& j) {
  for (std::size_t row = 0; row < 4; ++row) {
    sums.gradient[row] += weight * j[row] * residual;
    for (std::size_t column = 0; column < 4; ++column) {
      sums.hessian[row * 4 + column] += weight * j[row] * j[column];
    }
  }
  sums.weight += weight;
  sums.squares += weight * residual * residual;
  sums.absolute += std::abs(residual);
}

void add_moments(SimilaritySums& sums, double r, double m) {
  sums.pixels += 1;
  sums.reference += r;
  sums.moving += m;
  sums.reference_square += r * r;
  sums.moving_square += m * m;
  sums.product += r * m;
}

// Of the residual in every parameter; each step moves q, `radius` from the centre, by about 1e-6.
template <class Residual>
std::array<double, 4> jacobian(double radius, const Residual& residual) {
  std::array<double, 4> result{};
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double h = k < 2 ? 1e-6 : 1e-6 / (1 + radius);
    std::array<double, 4> plus{};
    std::array<double, 4> minus{};
    plus[k] = h;
    minus[k] = -h;
    result[k] = (residual(plus) - residual(minus)) / (2 * h);
  }
  return result;
}

}  // namespace

SimilaritySums similarity_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale) {
  const Position centre{static_cast<double>(pair.coefficients.width - 1) / 2,
                        static_cast<double>(pair.coefficients.height - 1) / 2};
  SimilaritySums sums;
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      if (ambiguous(pair, position_of(pair.m, x, y))) sums.ambiguous += 1;
      const std::optional<Position> q = counted(pair, x, y);
      if (!q) continue;
      const double r = pair.reference.at(x, y);
      const std::complex<double> here = illumination_at(illumination, x, y);
      const auto residual = [&](const std::array<double, 4>& p) {
        return spline_at(pair.coefficients, moved(*q, centre, p)) - (here.real() * r + here.imag());
      };
      const double e = residual({});
      add_step(sums, e, tukey(e, scale),
               jacobian(std::hypot(q->x - centre.x, q->y - centre.y), residual));
      add_moments(sums, r, spline_at(pair.coefficients, *q));
    }
  }
  return sums;
}

}  // namespace reference
