// The sums of a Gauss-Newton step.
#include "reference/refinement/similarity_sums.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
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

// Moves q by the parameters, about the centre c: shift, logarithm of the scale, and rotation,
// counter-clockwise on a screen whose y axis points down.
Position moved(Position q, Position c, const std::vector<double>& p) {
  const double s = std::exp(p[2]);
  const double dx = q.x - c.x;
  const double dy = q.y - c.y;
  return {c.x + s * (std::cos(p[3]) * dx + std::sin(p[3]) * dy) + p[0],
          c.y + s * (-std::sin(p[3]) * dx + std::cos(p[3]) * dy) + p[1]};
}

Position projected(Position q, Position c, double unit, const std::vector<double>& d) {
  const double x = (q.x - c.x) / unit;
  const double y = (q.y - c.y) / unit;
  const double v = 1 + (d[6] * x + d[7] * y) / unit;
  return {c.x + (unit * x + d[0] + d[2] * x + d[3] * y) / v,
          c.y + (unit * y + d[1] + d[4] * x + d[5] * y) / v};
}

// The cells before and after a pixel, with their weights.
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

void add_step(SimilaritySums& sums, double residual, double weight, const std::vector<double>& j) {
  for (std::size_t row = 0; row < j.size(); ++row) {
    sums.gradient[row] += weight * j[row] * residual;
    for (std::size_t column = 0; column < j.size(); ++column) {
      sums.hessian[row * j.size() + column] += weight * j[row] * j[column];
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

// The derivatives of the residual with respect to the parameters, by central differences with steps
// h.
template <class Residual>
std::vector<double> jacobian(const std::vector<double>& h, const Residual& residual) {
  std::vector<double> result;
  for (std::size_t k = 0; k < h.size(); ++k) {
    std::vector<double> plus(h.size());
    std::vector<double> minus(h.size());
    plus[k] = h[k];
    minus[k] = -h[k];
    result.push_back((residual(plus) - residual(minus)) / (2 * h[k]));
  }
  return result;
}

// steps_at(q) returns the steps of the parameters that move q by about 1e-6 pixels; moved(q, p) is
// q after the parameters p.
template <class StepsAt, class Moved>
SimilaritySums sums_of(const ComparedPair& pair, const Illumination& illumination, double scale,
                       std::size_t parameters, const StepsAt& steps_at, const Moved& moved) {
  SimilaritySums sums;
  sums.hessian.resize(parameters * parameters);
  sums.gradient.resize(parameters);
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      if (ambiguous(pair, position_of(pair, x, y))) sums.ambiguous += 1;
      const std::optional<Position> q = counted(pair, x, y);
      if (!q) continue;
      const double r = pair.reference.at(x, y);
      const std::complex<double> here = illumination_at(illumination, x, y);
      const auto residual = [&](const std::vector<double>& p) {
        return spline_at(pair.coefficients, moved(*q, p)) - (here.real() * r + here.imag());
      };
      const double e = residual(std::vector<double>(parameters));
      add_step(sums, e, tukey(e, scale), jacobian(steps_at(*q), residual));
      add_moments(sums, r, spline_at(pair.coefficients, *q));
    }
  }
  return sums;
}

}  // namespace

SimilaritySums similarity_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale) {
  const Position centre{static_cast<double>(pair.coefficients.width - 1) / 2,
                        static_cast<double>(pair.coefficients.height - 1) / 2};
  return sums_of(
      pair, illumination, scale, 4,
      [&](Position q) {
        const double about_centre = 1e-6 / (1 + std::hypot(q.x - centre.x, q.y - centre.y));
        return std::vector<double>{1e-6, 1e-6, about_centre, about_centre};
      },
      [&](Position q, const std::vector<double>& p) { return moved(q, centre, p); });
}

SimilaritySums homography_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale, Position centre, double unit) {
  return sums_of(
      pair, illumination, scale, 8, [](Position) { return std::vector<double>(8, 1e-6); },
      [&](Position q, const std::vector<double>& d) { return projected(q, centre, unit, d); });
}

}  // namespace reference
