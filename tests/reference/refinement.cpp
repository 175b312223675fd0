// The oracle of the stages that search and refine a registration, in double precision.
#include "reference/refinement.hpp"

#include "reference/spline.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace reference {

namespace {

struct Place {
  double x, y;
};

struct Tap {
  std::int64_t pixel;
  double weight;
};

std::vector<Tap> gaussian(double at, std::int64_t n, double sigma) {
  const auto nearest = std::clamp<std::int64_t>(std::llround(at), 0, n - 1);
  const auto reach = static_cast<std::int64_t>(4 * sigma) + 2;
  std::vector<Tap> taps;
  for (std::int64_t i = std::max<std::int64_t>(nearest - reach, 0);
       i <= std::min(nearest + reach, n - 1); ++i) {
    const double distance = static_cast<double>(i) - at;
    if (i == nearest && sigma == 0) taps.push_back({i, 1});
    if (sigma == 0 || std::abs(distance) > 4 * sigma) continue;
    taps.push_back({i, std::exp(-distance * distance / (2 * sigma * sigma))});
  }
  return taps;
}

/// Calls visit(x, y, weight) for the pixels of a Gaussian about a place.
template <class Visit>
void around(const Plane& image, Place at, double sigma, const Visit& visit) {
  const std::vector<Tap> columns = gaussian(at.x, image.width, sigma);
  for (const Tap& row : gaussian(at.y, image.height, sigma)) {
    for (const Tap& column : columns) visit(column.pixel, row.pixel, row.weight * column.weight);
  }
}

// At places at least 1 within the image: a step of a difference beyond them meets weights of 1e-19.
double spline(const Plane& coefficients, Place at) {
  const auto x0 = static_cast<std::int64_t>(std::floor(at.x));
  const auto y0 = static_cast<std::int64_t>(std::floor(at.y));
  double sum = 0;
  for (std::int64_t v = std::max<std::int64_t>(y0 - 1, 0);
       v <= std::min(y0 + 2, coefficients.height - 1); ++v) {
    for (std::int64_t u = std::max<std::int64_t>(x0 - 1, 0);
         u <= std::min(x0 + 2, coefficients.width - 1); ++u) {
      sum += beta(3, at.x - static_cast<double>(u)) * beta(3, at.y - static_cast<double>(v)) *
             coefficients.at(u, v);
    }
  }
  return sum;
}

Place location_of(const std::array<double, 6>& m, std::int64_t x, std::int64_t y) {
  const auto px = static_cast<double>(x);
  const auto py = static_cast<double>(y);
  return {m[0] * px + m[1] * py + m[2], m[3] * px + m[4] * py + m[5]};
}

bool on_axis(double at, std::int64_t n, std::int64_t margin) {
  return at >= static_cast<double>(margin) && at < static_cast<double>(n - 1 - margin);
}

bool nearly(double a, double b) { return a != b && std::abs(a - b) < 1e-5; }

bool doubtful_on_axis(double at, std::int64_t n, std::int64_t margin, bool weighted) {
  return nearly(at, static_cast<double>(margin)) ||
         nearly(at, static_cast<double>(n - 1 - margin)) ||
         (weighted && std::abs(at - std::floor(at) - 0.5) < 1e-5);
}

bool doubtful(const ComparedPair& pair, Place q) {
  const bool weighted = pair.moving_weight != nullptr;
  return doubtful_on_axis(q.x, pair.coefficients.width, pair.moving_margin, weighted) ||
         doubtful_on_axis(q.y, pair.coefficients.height, pair.moving_margin, weighted);
}

constexpr double min_weight = 0.999;

/// The place of a reference pixel, where it counts.
std::optional<Place> counted(const ComparedPair& pair, std::int64_t x, std::int64_t y) {
  const std::int64_t margin = pair.reference_margin;
  const Place q = location_of(pair.m, x, y);
  if (x < margin || y < margin || x >= pair.reference.width - margin ||
      y >= pair.reference.height - margin ||
      !on_axis(q.x, pair.coefficients.width, pair.moving_margin) ||
      !on_axis(q.y, pair.coefficients.height, pair.moving_margin)) {
    return {};
  }
  if (pair.reference_weight != nullptr && pair.reference_weight->at(x, y) < min_weight) return {};
  if (pair.moving_weight != nullptr &&
      pair.moving_weight->at(std::llround(q.x), std::llround(q.y)) < min_weight) {
    return {};
  }
  return q;
}

// Moves q by the parameters: shift, logarithm of the scale, counter-clockwise rotation on a screen
// whose y points down, about the centre c.
Place moved(Place q, Place c, const std::array<double, 4>& p) {
  const double s = std::exp(p[2]);
  const double dx = q.x - c.x;
  const double dy = q.y - c.y;
  return {c.x + s * (std::cos(p[3]) * dx + std::sin(p[3]) * dy) + p[0],
          c.y + s * (-std::sin(p[3]) * dx + std::cos(p[3]) * dy) + p[1]};
}

// Cells before and after a pixel, with their parts.
std::array<Tap, 2> cells_around(std::int64_t pixel, std::int64_t cell, std::int64_t cells) {
  const double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cell) - 0.5;
  const double within = std::clamp(at, 0.0, static_cast<double>(cells - 1));
  const auto before = static_cast<std::int64_t>(std::floor(within));
  const double part = within - static_cast<double>(before);
  return {Tap{before, 1 - part}, Tap{std::min(before + 1, cells - 1), part}};
}

std::complex<double> light_at(const Light& light, std::int64_t x, std::int64_t y) {
  if (light.field == nullptr) return {light.gain, light.offset};
  std::complex<double> sum = 0;
  for (const Tap& row : cells_around(y, light.cell, light.field->height)) {
    for (const Tap& column : cells_around(x, light.cell, light.field->width)) {
      sum += row.weight * column.weight * light.field->at(column.pixel, row.pixel);
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

/// Normal equations of m = o + p u + q v + g r, from weighted pairs (r, m) as they are met, u and v
/// the distances of their cells. The cells' own extent adds 1/12 to the variance of either.
struct LightEquations {
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

/// By Gaussian elimination; the prior is a pull on the gain alone.
std::complex<double> fitted(LightEquations e, const IlluminationPrior& prior) {
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

Smoothed smooth(const Plane& image, const Plane* mask, const SampleGrid& grid, double sigma) {
  Smoothed result{Plane(grid.width, grid.height), Plane(grid.width, grid.height)};
  for (std::int64_t j = 0; j < grid.height; ++j) {
    for (std::int64_t i = 0; i < grid.width; ++i) {
      const Place at{grid.origin_x + grid.spacing * static_cast<double>(i),
                     grid.origin_y + grid.spacing * static_cast<double>(j)};
      double sum = 0;
      double counted = 0;
      double total = 0;
      around(image, at, sigma, [&](std::int64_t x, std::int64_t y, double weight) {
        total += weight;
        if (mask != nullptr && mask->at(x, y) == 0) return;
        sum += weight * image.at(x, y);
        counted += weight;
      });
      result.value.at(i, j) = counted > 0 ? sum / counted : 0;
      result.weight.at(i, j) = counted / total;
    }
  }
  return result;
}

Plane local_normalization(const Plane& image, const Plane* weight, double sigma, double floor) {
  Plane result(image.width, image.height);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (weight != nullptr && weight->at(x, y) < 0.5) continue;
      const Place at{static_cast<double>(x), static_cast<double>(y)};
      const auto mean_of = [&](const auto& value) {
        double sum = 0;
        double total = 0;
        around(image, at, sigma, [&](std::int64_t u, std::int64_t v, double w) {
          if (weight != nullptr) w *= weight->at(u, v);
          sum += w * value(image.at(u, v));
          total += w;
        });
        return sum / total;
      };
      const double mean = mean_of([](double v) { return v; });
      const double variance = mean_of([&](double v) { return (v - mean) * (v - mean); });
      result.at(x, y) = (image.at(x, y) - mean) / std::sqrt(variance + floor * floor);
    }
  }
  return result;
}

Plane correlation(const Plane& a, const Plane& b, bool mirrored) {
  const auto wrapped = [](std::int64_t i, std::int64_t n) { return (i % n + n) % n; };
  Plane result(a.width, a.height);
  for (std::int64_t dy = 0; dy < a.height; ++dy) {
    for (std::int64_t dx = 0; dx < a.width; ++dx) {
      double sum = 0;
      for (std::int64_t y = 0; y < a.height; ++y) {
        for (std::int64_t x = 0; x < a.width; ++x) {
          const std::int64_t u = mirrored ? dx - x : x - dx;
          const std::int64_t v = mirrored ? dy - y : y - dy;
          sum += a.at(x, y) * b.at(wrapped(u, a.width), wrapped(v, a.height));
        }
      }
      result.at(dx, dy) = sum;
    }
  }
  return result;
}

Plane overlap_score(const Plane& correlation, const Plane& overlap, const ShiftLimits& limits) {
  const auto plane = static_cast<double>(correlation.width * correlation.height);
  const auto distance = [](std::int64_t i, double centre, std::int64_t n) {
    double least = INFINITY;
    for (int turn = -4; turn <= 4; ++turn) {
      least = std::min(least, std::abs(static_cast<double>(i + turn * n) - centre));
    }
    return least;
  };
  Plane result(correlation.width, correlation.height);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) {
      const double far = std::hypot(distance(x, limits.centre_x, result.width),
                                    distance(y, limits.centre_y, result.height));
      const double pixels = overlap.at(x, y) / plane;
      if (pixels < limits.min_overlap || (limits.reach > 0 && far > limits.reach)) continue;
      result.at(x, y) = correlation.at(x, y) / plane / std::sqrt(pixels);
    }
  }
  return result;
}

SimilaritySums similarity_sums(const ComparedPair& pair, const Light& light, double scale) {
  const Place centre{static_cast<double>(pair.coefficients.width - 1) / 2,
                     static_cast<double>(pair.coefficients.height - 1) / 2};
  SimilaritySums sums;
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      if (doubtful(pair, location_of(pair.m, x, y))) sums.doubtful += 1;
      const std::optional<Place> q = counted(pair, x, y);
      if (!q) continue;
      const double r = pair.reference.at(x, y);
      const std::complex<double> here = light_at(light, x, y);
      const auto residual = [&](const std::array<double, 4>& p) {
        return spline(pair.coefficients, moved(*q, centre, p)) - (here.real() * r + here.imag());
      };
      const double e = residual({});
      add_step(sums, e, tukey(e, scale),
               jacobian(std::hypot(q->x - centre.x, q->y - centre.y), residual));
      add_moments(sums, r, spline(pair.coefficients, *q));
    }
  }
  return sums;
}

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
  PlaneOf<LightEquations> equations(field.width, field.height);
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      const std::optional<Place> q = counted(pair, x, y);
      if (!q) continue;
      const double m = spline(pair.coefficients, *q);
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
