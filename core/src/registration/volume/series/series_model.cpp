// Fits of small motions on the host.
#include "registration/volume/series/series_model.hpp"

#include "registration/numerics/centred_moments.hpp"
#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace warpalign::detail {

namespace {

// The width of the border that fits ignore: smoothing and differences extend beyond the volume.
constexpr std::int64_t border = 2;
constexpr double max_step = 2;               // of a corner, in voxels
constexpr double min_common_fraction = 0.1;  // of the inner voxels
// Independent accumulators, which the compiler keeps in vector registers.
constexpr std::size_t lanes = 16;

using Sides = std::array<std::int64_t, 3>;

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  if (i < 0) return -i;
  return i >= n ? 2 * n - 2 - i : i;
}

/// Replaces `from` by a weighted sum of each voxel and its neighbours along an axis.
template <std::size_t taps>
std::vector<float> filtered(const std::vector<float>& from, const Sides& sides, std::size_t axis,
                            const std::array<float, taps>& weights) {
  std::vector<float> to(from.size());
  const Sides strides{1, sides[0], sides[0] * sides[1]};
  constexpr auto reach = static_cast<std::int64_t>(taps / 2);
  std::size_t i = 0;
  Sides at{};
  for (at[2] = 0; at[2] < sides[2]; ++at[2]) {
    for (at[1] = 0; at[1] < sides[1]; ++at[1]) {
      for (at[0] = 0; at[0] < sides[0]; ++at[0], ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < taps; ++k) {
          const std::int64_t there =
              mirrored(at[axis] + static_cast<std::int64_t>(k) - reach, sides[axis]);
          sum +=
              weights[k] * from[i + static_cast<std::size_t>((there - at[axis]) * strides[axis])];
        }
        to[i] = sum;
      }
    }
  }
  return to;
}

// The cubic B-spline at whole numbers, applied twice: a Gaussian with a deviation of 0.8 voxels.
std::vector<float> smoothed(std::vector<float> values, const Sides& sides) {
  const std::array<float, 3> spline{1.0F / 6, 4.0F / 6, 1.0F / 6};
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t axis = 0; axis < 3; ++axis) values = filtered(values, sides, axis, spline);
  }
  return values;
}

/// Sums of `count` products in lanes, over the rows of a volume.
template <std::size_t count>
class LaneSums {
 public:
  /// Calls `add(i, l)` for i in [first, end), with l the lane; it adds to `at(k, l)`.
  template <class Add>
  void run(std::int64_t first, std::int64_t end, const Add& add) {
    std::int64_t i = first;
    for (; i + static_cast<std::int64_t>(lanes) <= end; i += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) add(i + static_cast<std::int64_t>(l), l);
    }
    for (std::size_t l = 0; i < end; ++i, ++l) add(i, l);
  }
  [[nodiscard]] float& at(std::size_t k, std::size_t l) { return sums_[k][l]; }
  /// The sums since the last call.
  [[nodiscard]] std::array<double, count> take() {
    std::array<double, count> totals{};
    for (std::size_t k = 0; k < count; ++k) {
      for (const float sum : sums_[k]) totals[k] += static_cast<double>(sum);
      sums_[k].fill(0);
    }
    return totals;
  }

 private:
  std::array<std::array<float, lanes>, count> sums_{};
};

}  // namespace

RowRange range_inside(const CentredRows& rows, const VolumeGrid& grid, std::int64_t y,
                      std::int64_t z, double beyond) {
  const auto sides = grid.sides();
  const double uy = static_cast<double>(y) - grid.middle(1);
  const double uz = static_cast<double>(z) - grid.middle(2);
  double first = 0;
  double last = static_cast<double>(sides[0] - 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const double slope = rows[4 * i];
    const double start =
        rows[4 * i + 1] * uy + rows[4 * i + 2] * uz + rows[4 * i + 3] - slope * grid.middle(0);
    const double low = -beyond - start;
    const double high = static_cast<double>(sides[i] - 1) + beyond - start;
    if (slope == 0) {
      if (low > 0 || high < 0) return {};
      continue;
    }
    first = std::max(first, (slope > 0 ? low : high) / slope);
    last = std::min(last, (slope > 0 ? high : low) / slope);
  }
  if (!(first <= last)) return {};
  // Rounding must not drop a voxel on a face of the volume.
  constexpr double tolerance = 1e-6;
  return {static_cast<std::int64_t>(std::ceil(first - tolerance)),
          static_cast<std::int64_t>(std::floor(last + tolerance)) + 1};
}

SeriesModel::SeriesModel(std::vector<float> values, const VolumeGrid& grid, Motion motion)
    : grid_(grid), motion_(motion), generators_(generators_of(motion)), values_(std::move(values)) {
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  minimum_ = *least;
  maximum_ = *most;
  const double sum = std::accumulate(values_.begin(), values_.end(), 0.0,
                                     [](double s, float v) { return s + static_cast<double>(v); });
  mean_ = static_cast<float>(sum / static_cast<double>(values_.size()));
  for (float& value : values_) value -= mean_;
  set_independent_voxels();
  set_derivatives();
  set_normal_matrix();
}

double SeriesModel::inner_voxels() const {
  double voxels = 1;
  for (const std::int64_t side : grid_.sides()) voxels *= static_cast<double>(side - 2 * border);
  return voxels;
}

// The correlation of two independent volumes has a variance of sum rho^2 / N, with the sum over all
// shifts of the product of their autocorrelations. It is taken as a product of sums along the axes.
void SeriesModel::set_independent_voxels() {
  const auto sides = grid_.sides();
  const Sides strides{1, sides[0], sides[0] * sides[1]};
  double variance = 0;
  for (const float value : values_) variance += static_cast<double>(value) * value;
  double correlated = 1;
  for (std::size_t axis = 0; axis < 3 && variance > 0; ++axis) {
    double squares = 1;
    for (std::int64_t lag = 1; lag < sides[axis] / 2; ++lag) {
      LaneSums<1> sums;
      double product = 0;
      const auto apart = static_cast<std::int64_t>(lag * strides[axis]);
      // Runs of voxels that have a partner in the same row, column or pillar.
      const std::int64_t run = (sides[axis] - lag) * strides[axis];
      const std::int64_t period = sides[axis] * strides[axis];
      for (std::int64_t first = 0; first < static_cast<std::int64_t>(values_.size());
           first += period) {
        sums.run(first, first + run, [&](std::int64_t i, std::size_t l) {
          sums.at(0, l) +=
              values_[static_cast<std::size_t>(i)] * values_[static_cast<std::size_t>(i + apart)];
        });
        product += sums.take()[0];
      }
      const double correlation = product / variance;
      squares += 2 * correlation * correlation;
    }
    correlated *= squares;
  }
  independent_ = static_cast<double>(values_.size()) / correlated;
}

void SeriesModel::set_derivatives() {
  const auto sides = grid_.sides();
  const std::vector<float> smooth = smoothed(values_, sides);
  const std::array<std::vector<float>*, 3> along{&x_, &y_, &z_};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto half = static_cast<float>(0.5 / grid_.spacing[axis]);
    *along[axis] = filtered(smooth, sides, axis, std::array<float, 3>{-half, 0, half});
  }
}

// Products of the derivatives of the smoothed reference with those of the reference itself, which
// are about those of the volumes. Their noise is independent enough not to matter: it changes how
// fast the fit converges, and not where to.
void SeriesModel::set_normal_matrix() {
  const auto sides = grid_.sides();
  std::array<std::vector<float>, 3> sharp;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto unit = static_cast<float>(1 / (12 * grid_.spacing[axis]));
    sharp[axis] =
        filtered(values_, sides, axis, std::array<float, 5>{unit, -8 * unit, 0, 8 * unit, -unit});
  }
  const std::size_t n = generators_.count;
  normal_.assign(n * n, 0);
  for (std::int64_t z = border; z < sides[2] - border; ++z) {
    for (std::int64_t y = border; y < sides[1] - border; ++y) {
      for (std::int64_t x = border; x < sides[0] - border; ++x) {
        const auto i = static_cast<std::size_t>((z * sides[1] + y) * sides[0] + x);
        const Vector3 at{(static_cast<double>(x) - grid_.middle(0)) * grid_.spacing[0],
                         (static_cast<double>(y) - grid_.middle(1)) * grid_.spacing[1],
                         (static_cast<double>(z) - grid_.middle(2)) * grid_.spacing[2]};
        std::array<double, max_unknowns> weights{}, slopes{};
        for (std::size_t p = 0; p < n; ++p) {
          const Vector3 moves = generators_.each[p](at);
          weights[p] = moves[0] * static_cast<double>(x_[i]) +
                       moves[1] * static_cast<double>(y_[i]) +
                       moves[2] * static_cast<double>(z_[i]);
          slopes[p] = moves[0] * static_cast<double>(sharp[0][i]) +
                      moves[1] * static_cast<double>(sharp[1][i]) +
                      moves[2] * static_cast<double>(sharp[2][i]);
        }
        for (std::size_t p = 0; p < n; ++p) {
          for (std::size_t q = 0; q < n; ++q) normal_[p * n + q] += weights[p] * slopes[q];
        }
      }
    }
  }
}

SeriesComparison SeriesModel::compare(std::span<const float> warped,
                                      const SpatialTransform& transform,
                                      std::span<const float> weights) const {
  return weights.empty() ? compared<false>(warped, transform, weights)
                         : compared<true>(warped, transform, weights);
}

template <bool weighted>
SeriesComparison SeriesModel::compared(std::span<const float> warped,
                                       const SpatialTransform& transform,
                                       std::span<const float> weights) const {
  const auto sides = grid_.sides();
  const CentredRows rows = centred_rows(transform, grid_, grid_);
  const auto each_row = [&](const auto& use) {
    for (std::int64_t z = border; z < sides[2] - border; ++z) {
      for (std::int64_t y = border; y < sides[1] - border; ++y) {
        RowRange range = range_inside(rows, grid_, y, z, 0);
        range.first = std::max(range.first, border);
        range.end = std::min(range.end, sides[0] - border);
        if (range.first < range.end) use(y, z, (z * sides[1] + y) * sides[0], range);
      }
    }
  };
  SeriesComparison result;
  Moments moments{};
  LaneSums<6> products;
  const float* reference = values_.data();
  const float* moving = warped.data();
  const auto weight = [&](std::int64_t i) {
    return weighted ? weights[static_cast<std::size_t>(i)] : 1.0F;
  };
  each_row([&](std::int64_t, std::int64_t, std::int64_t row, const RowRange& range) {
    products.run(row + range.first, row + range.end, [&](std::int64_t i, std::size_t l) {
      const float w = weight(i);
      const float r = w * reference[i];
      const float m = w * (moving[i] - mean_);
      if constexpr (weighted) products.at(5, l) += w;
      products.at(0, l) += r;
      products.at(1, l) += m;
      products.at(2, l) += r * r;
      products.at(3, l) += m * m;
      products.at(4, l) += r * m;
    });
    const auto sums = products.take();
    moments.n += weighted ? sums[5] : static_cast<double>(range.end - range.first);
    moments.r += sums[0];
    moments.m += sums[1];
    moments.rr += sums[2];
    moments.mm += sums[3];
    moments.rm += sums[4];
  });
  result.voxels = moments.n;
  if (!(moments.n >= min_common_fraction * inner_voxels())) return result;
  const CentredMoments centred(moments);
  if (!(centred.rr > 0) || !(centred.mm > 0)) return result;
  result.correlation = centred.rm / std::sqrt(centred.rr * centred.mm);
  const double gain = centred.contrast_gain();
  const double offset = centred.offset(gain);

  // The sums of the forces f = residual * gradient, and of their products with the position.
  Vector3 force{};
  Matrix3 torque{};
  LaneSums<6> forces;
  const auto g = static_cast<float>(gain);
  const auto o = static_cast<float>(offset);
  const auto middle = static_cast<float>(grid_.middle(0));
  each_row([&](std::int64_t y, std::int64_t z, std::int64_t row, const RowRange& range) {
    forces.run(range.first, range.end, [&](std::int64_t x, std::size_t l) {
      const std::int64_t i = row + x;
      const float residual = weight(i) * (moving[i] - mean_ - g * reference[i] - o);
      const float ux = static_cast<float>(static_cast<int>(x)) - middle;
      const float fx = residual * x_[static_cast<std::size_t>(i)];
      const float fy = residual * y_[static_cast<std::size_t>(i)];
      const float fz = residual * z_[static_cast<std::size_t>(i)];
      forces.at(0, l) += fx;
      forces.at(1, l) += fy;
      forces.at(2, l) += fz;
      forces.at(3, l) += fx * ux;
      forces.at(4, l) += fy * ux;
      forces.at(5, l) += fz * ux;
    });
    const auto sums = forces.take();
    const double py = (static_cast<double>(y) - grid_.middle(1)) * grid_.spacing[1];
    const double pz = (static_cast<double>(z) - grid_.middle(2)) * grid_.spacing[2];
    for (std::size_t i = 0; i < 3; ++i) {
      force[i] += sums[i];
      torque[3 * i] += sums[3 + i] * grid_.spacing[0];
      torque[3 * i + 1] += sums[i] * py;
      torque[3 * i + 2] += sums[i] * pz;
    }
  });
  const std::size_t n = generators_.count;
  std::array<double, max_unknowns * max_unknowns> matrix{};
  std::array<double, max_unknowns> steps{};
  // The normal matrix is that of all inner voxels.
  const double scale = gain * moments.n / inner_voxels();
  for (std::size_t p = 0; p < n * n; ++p) matrix[p] = normal_[p] * scale;
  for (std::size_t p = 0; p < n; ++p) {
    const SpatialTransform& generator = generators_.each[p];
    for (std::size_t i = 0; i < 3; ++i) {
      steps[p] -= generator.shift[i] * force[i];
      for (std::size_t j = 0; j < 3; ++j) {
        steps[p] -= generator.linear[3 * i + j] * torque[3 * i + j];
      }
    }
  }
  if (!solve_general(std::span(matrix).first(n * n), std::span(steps).first(n))) return result;
  SpatialTransform next = transform * increment(motion_, steps);
  const double length = corner_distance(next, transform, grid_, grid_);
  if (!std::isfinite(length)) return result;
  if (length > max_step) {
    for (double& step : steps) step *= max_step / length;
    next = transform * increment(motion_, steps);
  }
  result.next = next;
  return result;
}

}  // namespace warpalign::detail
