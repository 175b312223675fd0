// Gauss-Newton estimation of the similarity of one frame.
#include "registration/frames/frame_fit.hpp"

#include "registration/fitting/similarity_fit.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/numerics/tukey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr double min_overlap_fraction = 0.25;  // of the frame

// As WindowFit: the first evaluation has no gain and offset, and the second one measures the
// residuals under them. From the third one on, outliers are left out. At last their scale is kept,
// so that the steps converge.
constexpr int first_robust = 2;
constexpr int last_scale = 6;
// The standard deviation of a Gaussian in units of its deviation under Tukey's weights.
constexpr double deviation_of_weighted = 1.099;

constexpr std::size_t max_parameters = 4;
using Parameters = std::array<double, max_parameters>;

std::span<const std::size_t> free_parameters(Motion motion) {
  static constexpr std::array<std::size_t, max_parameters> all{0, 1, 2, 3};
  static constexpr std::array<std::size_t, 3> rigid{0, 1, 3};
  if (motion == Motion::rigid) return rigid;
  return all;
}

/// A system of at most four equations, each row with its right-hand side.
struct Equations {
  std::size_t count = 0;
  std::array<std::array<double, max_parameters + 1>, max_parameters> rows{};
};

// Gaussian elimination with the largest pivots.
std::optional<Parameters> solved(Equations e) {
  for (std::size_t column = 0; column < e.count; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < e.count; ++row) {
      if (std::abs(e.rows[row][column]) > std::abs(e.rows[pivot][column])) pivot = row;
    }
    std::swap(e.rows[column], e.rows[pivot]);
    if (!(std::abs(e.rows[column][column]) > 0)) return std::nullopt;
    for (std::size_t row = 0; row < e.count; ++row) {
      if (row == column) continue;
      const double factor = e.rows[row][column] / e.rows[column][column];
      for (std::size_t k = column; k <= e.count; ++k) e.rows[row][k] -= factor * e.rows[column][k];
    }
  }
  Parameters solution{};
  for (std::size_t i = 0; i < e.count; ++i) solution[i] = e.rows[i][e.count] / e.rows[i][i];
  return solution;
}

// Solves sum z (e - gain j delta - r da - db) = 0 for the instruments z of the four parameters, r
// and 1, with e at the best gain and offset, as step_of() of WindowFit does for shifts. The changes
// da and db of gain and offset are eliminated. The parameters that are not free stay 0.
std::optional<Parameters> step_of(const FrameSums& s, double gain, double offset, Motion motion) {
  const double determinant = s.rr * s.weight - s.r * s.r;
  if (!(determinant > 0)) return std::nullopt;
  const std::span<const std::size_t> free = free_parameters(motion);
  Equations equations;
  equations.count = free.size();
  for (std::size_t row = 0; row < free.size(); ++row) {
    const std::size_t i = free[row];
    const double of_r = (s.weight * s.zr[i] - s.r * s.z[i]) / determinant;
    const double of_one = (s.rr * s.z[i] - s.r * s.zr[i]) / determinant;
    for (std::size_t column = 0; column < free.size(); ++column) {
      const std::size_t k = free[column];
      equations.rows[row][column] =
          gain * (s.zj[max_parameters * i + k] - of_r * s.jr[k] - of_one * s.j[k]);
    }
    equations.rows[row][free.size()] = s.zm[i] - gain * s.zr[i] - offset * s.z[i];
  }
  const auto solution = solved(equations);
  if (!solution) return std::nullopt;
  Parameters delta{};
  for (std::size_t i = 0; i < free.size(); ++i) delta[free[i]] = (*solution)[i];
  return delta;
}

// The parameters of a step as a similarity of the reference's coordinates.
Affine update_of(const Parameters& delta, const Shape& reference) {
  const double scale = std::exp(delta[2]);
  const double cosine = scale * std::cos(delta[3]);
  const double sine = scale * std::sin(delta[3]);
  const Point c = centre_of(reference);
  return Affine::translation(c.x + delta[0], c.y + delta[1]) *
         Affine{cosine, sine, 0, -sine, cosine, 0} * Affine::translation(-c.x, -c.y);
}

}  // namespace

FrameState frame_state_at(const Shape& shape, const FrameCell& cell,
                          const Affine& frame_to_reference) {
  const auto last = [](std::int64_t extent) { return static_cast<std::int32_t>(extent - 1); };
  FrameState state;
  state.first_column = std::max(cell.first_column, 1);
  state.end_column = std::min(cell.end_column, last(shape.width));
  state.first_row = std::max(cell.first_row, 1);
  state.end_row = std::min(cell.end_row, last(shape.height));
  const Affine& m = frame_to_reference;
  const Point first = m({static_cast<double>(state.first_column),  //
                         static_cast<double>(state.first_row)});
  const Point centre = centre_of(shape);
  state.reference_x = static_cast<std::int32_t>(std::floor(first.x));
  state.reference_y = static_cast<std::int32_t>(std::floor(first.y));
  state.fraction_x = static_cast<float>(first.x - std::floor(first.x));
  state.fraction_y = static_cast<float>(first.y - std::floor(first.y));
  state.a = static_cast<float>(m.a);
  state.b = static_cast<float>(m.b);
  state.d = static_cast<float>(m.d);
  state.e = static_cast<float>(m.e);
  state.from_centre_x = static_cast<float>(first.x - centre.x);
  state.from_centre_y = static_cast<float>(first.y - centre.y);
  return state;
}

void FrameFit::start(const Affine& frame_to_reference, const FrameFitLimits& limits) {
  start_ = matrix_ = frame_to_reference;
  limits_ = limits;
  gain_ = offset_ = scale_ = residual_variance_ = 0;
  evaluations_ = 0;
  active_ = true;
  converged_ = false;
}

FrameState FrameFit::state(const FrameCell& cell, double frame_mean, double reference_mean) const {
  FrameState state = frame_state_at(shape_, cell, matrix_);
  state.frame_mean = static_cast<float>(frame_mean);
  state.reference_mean = static_cast<float>(reference_mean);
  state.gain = static_cast<float>(gain_);
  state.offset = static_cast<float>(offset_);
  state.inverse_scale =
      static_cast<float>(evaluations_ >= first_robust && scale_ > 0 ? 1 / scale_ : 0);
  state.active = active_ ? 1 : 0;
  return state;
}

void FrameFit::take(const FrameSums& sums) {
  ++evaluations_;
  step(sums);
  rescale(sums);
}

void FrameFit::rescale(const FrameSums& sums) {
  if (evaluations_ < first_robust || evaluations_ > last_scale || !(sums.pixels > 0)) return;
  scale_ = tukey_constant * (evaluations_ == first_robust
                                 ? deviation_per_mean_absolute * sums.absolute / sums.pixels
                                 : deviation_of_weighted * std::sqrt(residual_variance_));
}

void FrameFit::step(const FrameSums& s) {
  const double variance = s.rr - s.r * s.r / s.weight;
  const double covariance = s.rm - s.r * s.m / s.weight;
  const double minimum = min_overlap_fraction * static_cast<double>(shape_.plane());
  if (!(s.pixels >= minimum) || !(variance > 0) || !(covariance > 0)) return fail();
  gain_ = covariance / variance;
  offset_ = (s.m - gain_ * s.r) / s.weight;
  residual_variance_ = std::max(s.mm - s.m * s.m / s.weight - gain_ * covariance, 0.0) / s.weight;
  const auto delta = step_of(s, gain_, offset_, motion_);
  if (!delta) return fail();
  const Affine next = update_of(*delta, shape_) * matrix_;
  const double moved = corner_distance(next, matrix_, shape_);
  if (!(corner_distance(next, start_, shape_) <= limits_.max_drift)) return fail();
  matrix_ = next;
  converged_ = moved < limits_.tolerance && evaluations_ > first_robust;
  active_ = !converged_ && evaluations_ < limits_.evaluations;
}

}  // namespace warpalign::detail
