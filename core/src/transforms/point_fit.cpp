// Transforms from pairs of points.
#include <warpalign/point_fit.hpp>

#include "registration/numerics/upper_median.hpp"
#include "transforms/dense_solver.hpp"
#include "transforms/matrices.hpp"
#include "transforms/refuse.hpp"
#include "transforms/thin_plate.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace warpalign {
namespace {

using detail::DenseSolver;
using detail::refuse_transform;

constexpr std::size_t max_robust_landmarks = 500;

/// Pairs of points of d coordinates.
struct Pairs {
  std::size_t d = 2;
  std::vector<double> reference, moving;

  [[nodiscard]] std::size_t size() const { return reference.size() / d; }
  [[nodiscard]] Pairs chosen(const std::vector<std::size_t>& indices) const {
    Pairs some{.d = d, .reference = {}, .moving = {}};
    for (const std::size_t i : indices) {
      for (std::size_t a = 0; a < d; ++a) {
        some.reference.push_back(reference[d * i + a]);
        some.moving.push_back(moving[d * i + a]);
      }
    }
    return some;
  }
};

const char* name_of(PointModel model) {
  constexpr std::array names{"translation",      "rigid transform", "similarity",
                             "affine transform", "homography",      "thin-plate spline"};
  return names[static_cast<std::size_t>(model)];
}

/// The number of pairs that determine a model.
std::size_t needed(PointModel model, std::size_t d) {
  switch (model) {
    case PointModel::translation:
      return 1;
    case PointModel::rigid:
    case PointModel::similarity:
      return d;
    case PointModel::homography:
      return 4;
    case PointModel::affine:
    case PointModel::thin_plate_spline:
      break;
  }
  return d + 1;
}

std::vector<double> mean_of(const std::vector<double>& points, std::size_t d) {
  std::vector<double> mean(d);
  const auto count = static_cast<double>(points.size() / d);
  for (std::size_t i = 0; i < points.size(); ++i) mean[i % d] += points[i] / count;
  return mean;
}

std::vector<double> centred(std::vector<double> points, const std::vector<double>& mean) {
  for (std::size_t i = 0; i < points.size(); ++i) points[i] -= mean[i % mean.size()];
  return points;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// The sums over the pairs of a[row] b[column].
std::vector<double> moments(const std::vector<double>& a, const std::vector<double>& b,
                            std::size_t d) {
  std::vector<double> sums(d * d);
  for (std::size_t i = 0; i < a.size(); i += d) {
    for (std::size_t row = 0; row < d; ++row) {
      for (std::size_t column = 0; column < d; ++column) {
        sums[d * row + column] += a[i + row] * b[i + column];
      }
    }
  }
  return sums;
}

HomogeneousMatrix about_means(const std::vector<double>& linear, const std::vector<double>& from,
                              const std::vector<double>& to) {
  const std::size_t d = from.size();
  HomogeneousMatrix matrix;
  for (std::size_t row = 0; row < d; ++row) {
    double shift = to[row];
    for (std::size_t column = 0; column < d; ++column) {
      matrix.m[4 * row + column] = linear[d * row + column];
      shift -= linear[d * row + column] * from[column];
    }
    matrix.m[4 * row + 3] = shift;
  }
  return matrix;
}

/// The rotation that takes reference points nearest to the moving ones, from s = the sums of
/// reference times moving coordinates. In space by the unit quaternion of Horn 1987.
std::vector<double> rotation_of(const std::vector<double>& s, std::size_t d) {
  if (d == 2) {
    const double cosine = s[0] + s[3];
    const double sine = s[1] - s[2];
    const double length = std::hypot(cosine, sine);
    if (!(length > 0)) return {};
    return {cosine / length, -sine / length, sine / length, cosine / length};
  }
  const std::vector<double> q = detail::largest_eigenvector(
      {s[0] + s[4] + s[8], s[5] - s[7], s[6] - s[2], s[1] - s[3], s[5] - s[7], s[0] - s[4] - s[8],
       s[1] + s[3], s[6] + s[2], s[6] - s[2], s[1] + s[3], -s[0] + s[4] - s[8], s[5] + s[7],
       s[1] - s[3], s[6] + s[2], s[5] + s[7], -s[0] - s[4] + s[8]},
      4);
  const double w = q[0];
  const double x = q[1];
  const double y = q[2];
  const double z = q[3];
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

/// Whether points span the plane or space, or with `rank` fewer dimensions.
bool spans(const std::vector<double>& points, std::size_t d, std::size_t rank) {
  // Gram-Schmidt: takes out the direction of the farthest point, rank times.
  std::vector<double> rest = points;
  const double all = sum_of_squares(points);
  for (std::size_t step = 0; step < rank; ++step) {
    std::size_t far = 0;
    double longest = 0;
    for (std::size_t i = 0; i < rest.size(); i += d) {
      double squared = 0;
      for (std::size_t a = 0; a < d; ++a) squared += rest[i + a] * rest[i + a];
      if (squared > longest) {
        longest = squared;
        far = i;
      }
    }
    if (!(longest > 1e-18 * all)) return false;
    std::vector<double> unit(d);
    for (std::size_t a = 0; a < d; ++a) unit[a] = rest[far + a] / std::sqrt(longest);
    for (std::size_t i = 0; i < rest.size(); i += d) {
      double along = 0;
      for (std::size_t a = 0; a < d; ++a) along += rest[i + a] * unit[a];
      for (std::size_t a = 0; a < d; ++a) rest[i + a] -= along * unit[a];
    }
  }
  return true;
}

std::optional<HomogeneousMatrix> fit_up_to_affine(const Pairs& pairs, PointModel model) {
  const std::size_t d = pairs.d;
  const std::vector<double> from = mean_of(pairs.reference, d);
  const std::vector<double> to = mean_of(pairs.moving, d);
  const std::vector<double> p = centred(pairs.reference, from);
  const std::vector<double> q = centred(pairs.moving, to);
  std::vector<double> linear(d * d);
  for (std::size_t i = 0; i < d; ++i) linear[i * d + i] = 1;
  if (model == PointModel::rigid || model == PointModel::similarity) {
    if (!spans(p, d, d - 1) || !spans(q, d, d - 1)) return std::nullopt;
    const std::vector<double> sums = moments(p, q, d);
    linear = rotation_of(sums, d);
    if (linear.empty()) return std::nullopt;
    if (model == PointModel::similarity) {
      double along = 0;  // the sum of moving . rotated reference
      for (std::size_t i = 0; i < d * d; ++i) along += sums[i % d * d + i / d] * linear[i];
      const double scale = along / sum_of_squares(p);
      if (!(scale > 0)) return std::nullopt;
      for (double& value : linear) value *= scale;
    }
  } else if (model == PointModel::affine) {
    if (!spans(p, d, d)) return std::nullopt;
    const DenseSolver solver(moments(p, p, d), d);
    if (solver.is_singular()) return std::nullopt;
    const std::vector<double> sums = moments(q, p, d);
    for (std::size_t row = 0; row < d; ++row) {
      std::vector<double> b(sums.begin() + static_cast<std::ptrdiff_t>(d * row),
                            sums.begin() + static_cast<std::ptrdiff_t>(d * (row + 1)));
      solver.solve(b);
      std::copy(b.begin(), b.end(), linear.begin() + static_cast<std::ptrdiff_t>(d * row));
    }
  }
  return about_means(linear, from, to);
}

/// Moves the mean to 0 and scales the root mean square of the coordinates to 1.
HomogeneousMatrix normalization(const std::vector<double>& points) {
  const std::vector<double> mean = mean_of(points, 2);
  const double rms =
      std::sqrt(sum_of_squares(centred(points, mean)) / static_cast<double>(points.size()));
  const double scale = rms > 0 ? 1 / rms : 1;
  return HomogeneousMatrix::homography(
      {scale, 0, -scale * mean[0], 0, scale, -scale * mean[1], 0, 0, 1});
}

/// A row for each coordinate of each pair, of the derivatives of the residual by h0 to h7, and the
/// residual itself. `h`: of normalized points.
std::vector<double> refined(const std::vector<double>& p, const std::vector<double>& q,
                            std::vector<double> h) {
  constexpr int steps = 20;
  const auto cost_of = [&](const std::vector<double>& trial) {
    double cost = 0;
    for (std::size_t i = 0; i < p.size(); i += 2) {
      const double w = trial[6] * p[i] + trial[7] * p[i + 1] + 1;
      cost += std::pow((trial[0] * p[i] + trial[1] * p[i + 1] + trial[2]) / w - q[i], 2) +
              std::pow((trial[3] * p[i] + trial[4] * p[i + 1] + trial[5]) / w - q[i + 1], 2);
    }
    return cost;
  };
  double cost = cost_of(h);
  for (int step = 0; step < steps; ++step) {
    std::vector<double> a(64);
    std::vector<double> b(8);
    for (std::size_t i = 0; i < p.size(); i += 2) {
      const double x = p[i];
      const double y = p[i + 1];
      const double w = h[6] * x + h[7] * y + 1;
      const double u = (h[0] * x + h[1] * y + h[2]) / w;
      const double v = (h[3] * x + h[4] * y + h[5]) / w;
      const std::array<std::array<double, 8>, 2> rows{
          {{x / w, y / w, 1 / w, 0, 0, 0, -u * x / w, -u * y / w},
           {0, 0, 0, x / w, y / w, 1 / w, -v * x / w, -v * y / w}}};
      const std::array<double, 2> residual{q[i] - u, q[i + 1] - v};
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t j = 0; j < 8; ++j) {
          b[j] += rows[r][j] * residual[r];
          for (std::size_t k = 0; k < 8; ++k) a[8 * j + k] += rows[r][j] * rows[r][k];
        }
      }
    }
    const DenseSolver solver(a, 8);
    if (solver.is_singular()) return h;
    solver.solve(b);
    std::vector<double> next = h;
    for (std::size_t j = 0; j < 8; ++j) next[j] += b[j];
    const double next_cost = cost_of(next);
    if (!(next_cost < cost)) return h;
    h = next;
    cost = next_cost;
  }
  return h;
}

/// By the direct linear transform of normalized points (Hartley & Zisserman 2004), then least
/// squares of the distances.
std::optional<HomogeneousMatrix> fit_homography(const Pairs& pairs) {
  const HomogeneousMatrix before = normalization(pairs.reference);
  const HomogeneousMatrix after = normalization(pairs.moving);
  const auto normalized = [](const HomogeneousMatrix& n, std::vector<double> points) {
    for (std::size_t i = 0; i < points.size(); i += 2) {
      points[i] = n.m[0] * points[i] + n.m[3];
      points[i + 1] = n.m[5] * points[i + 1] + n.m[7];
    }
    return points;
  };
  const std::vector<double> p = normalized(before, pairs.reference);
  const std::vector<double> q = normalized(after, pairs.moving);
  if (!spans(p, 2, 2) || !spans(q, 2, 2)) return std::nullopt;
  std::vector<double> sums(81);
  for (std::size_t i = 0; i < p.size(); i += 2) {
    const double x = p[i];
    const double y = p[i + 1];
    const std::array<std::array<double, 9>, 2> rows{
        {{x, y, 1, 0, 0, 0, -q[i] * x, -q[i] * y, -q[i]},
         {0, 0, 0, x, y, 1, -q[i + 1] * x, -q[i + 1] * y, -q[i + 1]}}};
    for (const auto& row : rows) {
      for (std::size_t j = 0; j < 9; ++j) {
        for (std::size_t k = 0; k < 9; ++k) sums[9 * j + k] -= row[j] * row[k];
      }
    }
  }
  std::vector<double> h = detail::largest_eigenvector(sums, 9);
  if (!(std::abs(h[8]) > 1e-12)) return std::nullopt;
  for (std::size_t j = 0; j < 9; ++j) h[j] /= h[8] == 0 ? 1 : h[8];
  h = refined(p, q, h);
  std::array<double, 9> rows{};
  std::copy(h.begin(), h.end(), rows.begin());
  rows[8] = 1;
  const HomogeneousMatrix middle = HomogeneousMatrix::homography(rows);
  HomogeneousMatrix whole =
      detail::product(detail::inverse_of(after), detail::product(middle, before));
  const double last = whole.m[15];
  if (!(std::abs(last) > 0)) return std::nullopt;
  for (const std::size_t row : {0U, 1U, 3U}) {
    for (const std::size_t column : {0U, 1U, 3U}) whole.m[4 * row + column] /= last;
  }
  return whole;
}

std::optional<HomogeneousMatrix> fit(const Pairs& pairs, PointModel model) {
  return model == PointModel::homography ? fit_homography(pairs) : fit_up_to_affine(pairs, model);
}

std::vector<double> distances(const Transform& transform, const Pairs& pairs) {
  std::vector<double> mapped(pairs.reference.size());
  transform.points(pairs.reference, mapped);
  std::vector<double> result(pairs.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double squared = 0;
    for (std::size_t a = 0; a < pairs.d; ++a) {
      squared += std::pow(mapped[pairs.d * i + a] - pairs.moving[pairs.d * i + a], 2);
    }
    result[i] = std::sqrt(squared);
  }
  return result;
}

double median_of(std::vector<double> values) { return detail::upper_median(std::span(values)); }

Transform transform_of(const HomogeneousMatrix& matrix, PointModel model, std::size_t d,
                       Coordinates coordinates) {
  return Transform::of_matrix(static_cast<TransformKind>(model), static_cast<int>(d), matrix,
                              coordinates);
}

[[noreturn]] void refuse_points(PointModel model) {
  refuse_transform("the points do not determine a " + std::string(name_of(model)) +
                   ": they are the same, or lie on a line or a plane; add others");
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i;
  return indices;
}

std::vector<std::size_t> below(const std::vector<double>& values, double limit) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] <= limit) indices.push_back(i);
  }
  return indices;
}

/// The pairs that agree with the model through the sample of pairs whose median distance is the
/// smallest.
std::vector<std::size_t> inliers_of(const Pairs& pairs, PointModel model) {
  constexpr int trials = 500;
  const std::size_t count = pairs.size();
  const std::size_t least = needed(model, pairs.d);
  std::mt19937_64 random(1);  // the same result each time
  std::vector<std::size_t> order = all_of(count);
  std::vector<double> best;
  double smallest = 0;
  for (int trial = 0; trial < trials; ++trial) {
    for (std::size_t k = 0; k < least; ++k) {
      std::swap(order[k], order[k + random() % (count - k)]);
    }
    const auto sample = fit(
        pairs.chosen({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(least)}), model);
    if (!sample) continue;
    std::vector<double> found =
        distances(transform_of(*sample, model, pairs.d, Coordinates::pixels), pairs);
    const double median = median_of(found);
    if (best.empty() || median < smallest) {
      smallest = median;
      best = std::move(found);
    }
  }
  if (best.empty()) refuse_points(model);
  // A Gaussian error's length has this median, and in one of 400 cases is longer than this limit,
  // in units of its standard deviation along an axis.
  const double median = pairs.d == 2 ? 1.1774 : 1.5382;
  const double limit = pairs.d == 2 ? 3.46 : 3.78;
  const double correction = 1 + 5 / static_cast<double>(count - least);
  const std::vector<double> spread = centred(pairs.moving, mean_of(pairs.moving, pairs.d));
  const double rounding =
      1e-9 * std::sqrt(sum_of_squares(spread) / static_cast<double>(pairs.size()));
  return below(best, std::max(limit * correction * smallest / median, rounding));
}

PointFit fit_matrix(const Pairs& pairs, const PointFitOptions& options) {
  const std::size_t least = needed(options.model, pairs.d);
  std::vector<std::size_t> used = all_of(pairs.size());
  if (options.robust && pairs.size() > least + 1) used = inliers_of(pairs, options.model);
  const auto matrix = fit(pairs.chosen(used), options.model);
  if (!matrix) refuse_points(options.model);
  PointFit result{.transform = transform_of(*matrix, options.model, pairs.d, options.coordinates),
                  .residuals = {},
                  .inliers = std::vector<bool>(pairs.size())};
  for (const std::size_t i : used) result.inliers[i] = true;
  result.residuals = distances(result.transform, pairs);
  return result;
}

std::vector<double> distances_from_others(const Pairs& pairs) {
  return detail::ThinPlate(static_cast<int>(pairs.d), pairs.reference, pairs.moving)
      .distances_from_others();
}

/// Of the pairs at `indices`, the `count` whose reference points are nearest to the reference point
/// of pair `at`.
std::vector<std::size_t> neighbours_of(const Pairs& pairs, std::size_t at,
                                       std::vector<std::size_t> indices, std::size_t count) {
  const auto squared_distance = [&](std::size_t i) {
    double sum = 0;
    for (std::size_t a = 0; a < pairs.d; ++a) {
      sum += std::pow(pairs.reference[pairs.d * i + a] - pairs.reference[pairs.d * at + a], 2);
    }
    return sum;
  };
  count = std::min(count, indices.size());
  std::partial_sort(
      indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(count), indices.end(),
      [&](std::size_t i, std::size_t j) { return squared_distance(i) < squared_distance(j); });
  indices.resize(count);
  return indices;
}

/// The mean, over the pairs `some` of those in `indices`, of the distances, which are in the order
/// of `indices`.
double mean_over(const std::vector<std::size_t>& some, const std::vector<std::size_t>& indices,
                 const std::vector<double>& distances) {
  double sum = 0;
  for (const std::size_t i : some) {
    sum += distances[static_cast<std::size_t>(std::lower_bound(indices.begin(), indices.end(), i) -
                                              indices.begin())];
  }
  return sum / static_cast<double>(some.size());
}

/// Takes out the pair that is farthest from the spline through the others, if its neighbours then
/// fit one another better: a wrong pair disturbs them, and a right one supports them. Repeats this,
/// also for the next farthest pairs, until no pair is wrong. At least two thirds of the pairs
/// remain.
std::vector<std::size_t> inliers_of_spline(const Pairs& pairs) {
  constexpr double improvement = 0.85;
  constexpr double min_ratio = 2;  // of a candidate's distance to the median
  constexpr std::size_t num_neighbours = 6;
  constexpr std::size_t num_candidates = 10;
  std::vector<std::size_t> used = all_of(pairs.size());
  if (used.size() <= pairs.d + 5) return used;
  std::vector<double> found = distances_from_others(pairs);
  const auto take_one_out = [&] {
    const double limit = std::max(min_ratio * median_of(found), 1e-9);
    std::vector<std::size_t> order = all_of(used.size());
    std::sort(order.begin(), order.end(),
              [&](std::size_t i, std::size_t j) { return found[i] > found[j]; });
    for (std::size_t k = 0; k < num_candidates && k < order.size(); ++k) {
      const std::size_t candidate = order[k];
      if (!(found[candidate] > limit)) return false;
      std::vector<std::size_t> rest = used;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(candidate));
      const std::vector<std::size_t> near =
          neighbours_of(pairs, used[candidate], rest, num_neighbours);
      std::vector<double> without = distances_from_others(pairs.chosen(rest));
      if (mean_over(near, rest, without) < improvement * mean_over(near, used, found)) {
        used = std::move(rest);
        found = std::move(without);
        return true;
      }
    }
    return false;
  };
  while (used.size() > pairs.d + 5 && 3 * (used.size() - 1) >= 2 * pairs.size()) {
    if (!take_one_out()) break;
  }
  return used;
}

PointFit fit_thin_plate(const Pairs& pairs, const PointFitOptions& options) {
  const int d = static_cast<int>(pairs.d);
  std::vector<std::size_t> used = all_of(pairs.size());
  if (options.robust && pairs.size() > max_robust_landmarks) {
    refuse_transform("a robust thin-plate spline takes up to " +
                     std::to_string(max_robust_landmarks) + " pairs, not " +
                     std::to_string(pairs.size()) + ": leave out wrong ones yourself");
  }
  if (options.robust) used = inliers_of_spline(pairs);
  const Pairs some = pairs.chosen(used);
  PointFit result{
      .transform = Transform::thin_plate(d, some.reference, some.moving, options.coordinates),
      .residuals = {},
      .inliers = std::vector<bool>(pairs.size())};
  for (const std::size_t i : used) result.inliers[i] = true;
  result.residuals = distances(result.transform, pairs);
  return result;
}

}  // namespace

PointFit fit_points(int dimensions, std::span<const double> reference,
                    std::span<const double> moving, const PointFitOptions& options) {
  if (dimensions != 2 && dimensions != 3) {
    refuse_transform("points have 2 or 3 dimensions, not " + std::to_string(dimensions));
  }
  const auto d = static_cast<std::size_t>(dimensions);
  if (reference.size() != moving.size() || reference.size() % d != 0) {
    refuse_transform("there must be as many points of the reference as of the moving image");
  }
  for (const auto& points : {reference, moving}) {
    if (!std::all_of(points.begin(), points.end(), [](double v) { return std::isfinite(v); })) {
      refuse_transform("a point's coordinates are not finite");
    }
  }
  if (options.model == PointModel::homography && d == 3) {
    refuse_transform("a homography is fitted to points of the plane");
  }
  const Pairs pairs{.d = d,
                    .reference = {reference.begin(), reference.end()},
                    .moving = {moving.begin(), moving.end()}};
  const std::size_t least = needed(options.model, d);
  if (pairs.size() < least) {
    refuse_transform("the model " + std::string(name_of(options.model)) + " needs at least " +
                     std::to_string(least) + " pairs of points, not " +
                     std::to_string(pairs.size()));
  }
  if (options.model == PointModel::thin_plate_spline) return fit_thin_plate(pairs, options);
  return fit_matrix(pairs, options);
}

}  // namespace warpalign
