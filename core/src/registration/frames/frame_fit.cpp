// Gauss-Newton estimation of the similarity of one frame.
#include "registration/frames/frame_fit.hpp"

#include "registration/fitting/similarity_fit.hpp"
#include "registration/numerics/centred_moments.hpp"
#include "registration/numerics/small_solver.hpp"
#include "registration/numerics/transform_distance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace warpalign::detail {

namespace {

constexpr double min_overlap_fraction = 0.25;  // of the frame

constexpr std::size_t max_parameters = 4;
using Parameters = std::array<double, max_parameters>;

std::span<const std::size_t> free_parameters(Motion motion) {
  static constexpr std::array<std::size_t, max_parameters> all{0, 1, 2, 3};
  static constexpr std::array<std::size_t, 3> rigid{0, 1, 3};
  if (motion == Motion::rigid) return rigid;
  return all;
}

// Solves sum z (e - gain j delta - r da - db) = 0 for delta, where z are the instrumental variables
// of the four parameters, r and 1, and e is the residual at the best gain and offset. The step_of()
// of WindowFit does the same for shifts. The changes da and db of gain and offset are eliminated.
// Parameters that are not free stay 0.
std::optional<Parameters> step_of(const FrameSums& s, double gain, double offset, Motion motion) {
  const double determinant = s.rr * s.weight - s.r * s.r;
  if (!(determinant > 0)) return std::nullopt;
  const std::span<const std::size_t> free = free_parameters(motion);
  const std::size_t count = free.size();
  std::array<double, max_parameters * max_parameters> matrix{};
  Parameters solution{};
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t i = free[row];
    const double of_r = (s.weight * s.zr[i] - s.r * s.z[i]) / determinant;
    const double of_one = (s.rr * s.z[i] - s.r * s.zr[i]) / determinant;
    for (std::size_t column = 0; column < count; ++column) {
      const std::size_t k = free[column];
      matrix[row * count + column] =
          gain * (s.zj[max_parameters * i + k] - of_r * s.jr[k] - of_one * s.j[k]);
    }
    solution[row] = s.zm[i] - gain * s.zr[i] - offset * s.z[i];
  }
  if (!solve_general(std::span(matrix).first(count * count), std::span(solution).first(count))) {
    return std::nullopt;
  }
  Parameters delta{};
  for (std::size_t i = 0; i < count; ++i) delta[free[i]] = solution[i];
  return delta;
}

// Converts the parameters of a step to a similarity in the reference's coordinates.
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
  gain_ = offset_ = residual_variance_ = 0;
  scale_.restart();
  active_ = true;
  converged_ = false;
}

FrameState FrameFit::state(const FrameCell& cell, double frame_mean, double reference_mean) const {
  FrameState state = frame_state_at(shape_, cell, matrix_);
  state.frame_mean = static_cast<float>(frame_mean);
  state.reference_mean = static_cast<float>(reference_mean);
  state.gain = static_cast<float>(gain_);
  state.offset = static_cast<float>(offset_);
  state.inverse_scale = scale_.inverse();
  state.active = active_ ? 1 : 0;
  return state;
}

void FrameFit::take(const FrameSums& sums) {
  scale_.count_evaluation();
  step(sums);
  scale_.update(sums.absolute, sums.pixels, residual_variance_);
}

void FrameFit::step(const FrameSums& s) {
  const CentredMoments moments(weighted_moments(s));
  const double minimum = min_overlap_fraction * static_cast<double>(shape_.plane());
  if (!(s.pixels >= minimum) || !(moments.rr > 0) || !(moments.rm > 0)) return fail();
  gain_ = moments.regression_gain();
  offset_ = moments.offset(gain_);
  residual_variance_ = moments.residual_variance(gain_);
  const auto delta = step_of(s, gain_, offset_, motion_);
  if (!delta) return fail();
  const Affine next = update_of(*delta, shape_) * matrix_;
  const double moved = corner_distance(next, matrix_, shape_);
  if (!(corner_distance(next, start_, shape_) <= limits_.max_drift)) return fail();
  matrix_ = next;
  converged_ = moved < limits_.tolerance && scale_.was_robust();
  active_ = !converged_ && scale_.evaluations() < limits_.evaluations;
}

}  // namespace warpalign::detail
