// Gauss-Newton estimation of the shift of one window.
#include "registration/local/windows/window_fit.hpp"

#include "registration/numerics/centred_moments.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/small_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace warpalign::detail {

namespace {

constexpr int max_evaluations = 16;
// The fit ends after a step shorter than either limit: in pixels, or in standard deviations of the
// shift.
constexpr double tolerance = 0.001;
constexpr double tolerance_in_noise = 0.05;
constexpr double max_drift = 1.5;
constexpr double min_overlap_fraction = 0.25;  // of the window

// Smoothing with the weights 1/6, 4/6, 1/6 along both axes reduces the variance of white noise to a
// quarter, but not the variance of its mean over larger distances. This factor corrects for it.
constexpr double noise_correlation = 4;

// The limits of reliable shifts. Windows with unrelated content rarely meet both, because their
// gradients do not match, which makes the shift uncertain (docs/registration.md).
constexpr double min_significance = 8;
constexpr double max_uncertainty = 0.5;

Matrix2 difference(const Matrix2& a, const Matrix2& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]};
}

double larger_eigenvalue(const Matrix2& m) {
  return (m[0] + m[3]) / 2 + std::hypot((m[0] - m[3]) / 2, (m[1] + m[2]) / 2);
}

struct Step {
  double x = 0, y = 0;
  double variance = 0;  // of the shift in its least certain direction, for residuals of variance 1
};

// Solves sum z (e + gain (rx x + ry y) - r da - db) = 0 with the instrumental variables z = mx, my,
// r and 1, where e is the residual at the best gain and offset. Gauss-Newton would use the gradient
// of the reference instead of the frame's gradient (mx, my). The frame's gradient is independent of
// the reference's noise and, because it is taken at samples, uncorrelated with the frame's own
// noise. Noise therefore neither shortens the steps nor biases the solution.
std::optional<Step> step_of(const ShiftSums& s, double gain, double offset) {
  const Matrix2 gradients{s.mx_rx, s.mx_ry, s.my_rx, s.my_ry};
  const Matrix2 with_model{s.mx_r, s.mx, s.my_r, s.my};
  const Matrix2 reference_with_model{s.rx_r, s.ry_r, s.rx, s.ry};
  const auto model = inverse(Matrix2{s.rr, s.r, s.r, s.weight});
  if (!model) return std::nullopt;
  // Eliminates gain and offset.
  const Matrix2 eliminated = product(with_model, *model);
  Matrix2 a = difference(gradients, product(eliminated, reference_with_model));
  for (double& number : a) number *= gain;
  const auto solved = inverse(a);
  if (!solved) return std::nullopt;
  const double x = s.mx_m - gain * s.mx_r - offset * s.mx;
  const double y = s.my_m - gain * s.my_r - offset * s.my;
  const Matrix2 instruments =
      difference({s.mx_mx, s.mx_my, s.mx_my, s.my_my}, product(eliminated, transposed(with_model)));
  return Step{-((*solved)[0] * x + (*solved)[1] * y), -((*solved)[2] * x + (*solved)[3] * y),
              larger_eigenvalue(product(product(*solved, instruments), transposed(*solved)))};
}

}  // namespace

ShiftState state_at(const Shape& frame, const Shape& window, const WindowOrigin& origin,
                    const WindowOrigin& peak, const Point& shift) {
  ShiftState state;
  const double x = peak.x - shift.x;
  const double y = peak.y - shift.y;
  state.frame_x = origin.x + peak.x;
  state.frame_y = origin.y + peak.y;
  state.reference_x = origin.x + static_cast<std::int32_t>(std::floor(x));
  state.reference_y = origin.y + static_cast<std::int32_t>(std::floor(y));
  state.fraction_x = static_cast<float>(x - std::floor(x));
  state.fraction_y = static_cast<float>(y - std::floor(y));
  // Each pixel of the frame needs one neighbour on either side, each point of the reference two.
  const auto first = [](std::int32_t in_frame, std::int32_t in_reference) {
    return std::max({0, 1 - in_frame, 1 - in_reference});
  };
  const auto end = [](std::int64_t side, std::int64_t extent, std::int32_t in_frame,
                      std::int32_t in_reference) {
    return static_cast<std::int32_t>(
        std::min({side, extent - 1 - in_frame, extent - 2 - in_reference}));
  };
  state.first_column = first(state.frame_x, state.reference_x);
  state.first_row = first(state.frame_y, state.reference_y);
  state.end_column = end(window.width, frame.width, state.frame_x, state.reference_x);
  state.end_row = end(window.height, frame.height, state.frame_y, state.reference_y);
  return state;
}

WindowFit::WindowFit(const Shape& window, const WindowOrigin& origin)
    : window_(window), origin_(origin), active_(false) {
  result_.centre = {origin.x + static_cast<double>(window.width - 1) / 2,
                    origin.y + static_cast<double>(window.height - 1) / 2};
  result_.uncertainty = std::numeric_limits<double>::infinity();
}

WindowFit::WindowFit(const Shape& frame, const Shape& window, const WindowOrigin& origin,
                     const WindowOrigin& peak)
    : WindowFit(window, origin) {
  frame_ = frame;
  peak_ = peak;
  inside_ = {0, static_cast<std::int32_t>(frame.width), 0, static_cast<std::int32_t>(frame.height)};
  shift_ = result_.shift = {static_cast<double>(peak.x), static_cast<double>(peak.y)};
  active_ = overlaps();
}

bool WindowFit::overlaps() const {
  const ShiftState start = state();
  const double columns = start.end_column - start.first_column;
  const double rows = start.end_row - start.first_row;
  return columns > 0 && rows > 0 &&
         columns * rows >= min_overlap_fraction * static_cast<double>(window_.plane());
}

WindowFit WindowFit::again(const PixelRange& inside) const {
  WindowFit next = *this;
  next.peak_ = {};
  next.shift_ = {};
  next.inside_ = inside;
  next.scale_.restart_with_scale();
  next.result_.reliable = false;
  next.active_ = next.overlaps();
  return next;
}

ShiftState WindowFit::state() const {
  ShiftState state = state_at(frame_, window_, origin_, peak_, shift_);
  // The gradient of the frame needs the neighbours of each pixel.
  state.first_column = std::max(state.first_column, inside_.first_column + 1 - state.frame_x);
  state.end_column = std::min(state.end_column, inside_.end_column - 1 - state.frame_x);
  state.first_row = std::max(state.first_row, inside_.first_row + 1 - state.frame_y);
  state.end_row = std::min(state.end_row, inside_.end_row - 1 - state.frame_y);
  state.gain = static_cast<float>(gain_);
  state.offset = static_cast<float>(offset_);
  state.inverse_scale = scale_.inverse();
  state.active = active_ ? 1 : 0;
  return state;
}

void WindowFit::fail() {
  active_ = false;
  result_.reliable = false;
}

void WindowFit::take(const ShiftSums& sums) {
  scale_.count_evaluation();
  step(sums);
  scale_.update(sums.absolute, sums.pixels, residual_variance_);
}

void WindowFit::step(const ShiftSums& s) {
  const double minimum = min_overlap_fraction * static_cast<double>(window_.plane());
  const CentredMoments moments(weighted_moments(s));
  if (!(s.pixels >= minimum) || !(moments.rr > 0) || !(moments.rm > 0)) return fail();
  gain_ = moments.regression_gain();
  offset_ = moments.offset(gain_);
  const auto step = step_of(s, gain_, offset_);
  if (!step) return fail();
  describe(s, moments, step->variance);
  shift_.x += step->x;
  shift_.y += step->y;
  if (!(std::abs(shift_.x - peak_.x) <= max_drift) ||
      !(std::abs(shift_.y - peak_.y) <= max_drift)) {
    return fail();
  }
  result_.shift = shift_;
  const bool converged =
      std::hypot(step->x, step->y) < std::max(tolerance, tolerance_in_noise * result_.uncertainty);
  if (converged && scale_.was_robust()) {
    active_ = false;
    result_.reliable =
        result_.significance >= min_significance && result_.uncertainty <= max_uncertainty;
  } else if (scale_.evaluations() == max_evaluations) {
    fail();
  }
}

void WindowFit::describe(const ShiftSums& s, const CentredMoments& moments,
                         double variance_of_step) {
  if (!(moments.mm > 0)) return;
  result_.correlation = moments.rm / std::sqrt(moments.rr * moments.mm);
  // The mean squared slope divided by the variance is the inverse square of a correlation length.
  const double independent = s.pixels * (s.mx_mx + s.my_my) / moments.mm;
  result_.significance = significance_of(result_.correlation, independent);
  residual_variance_ = moments.residual_variance(gain_);
  result_.uncertainty = std::sqrt(noise_correlation * residual_variance_ * variance_of_step);
}

WindowShift WindowFit::result() const { return result_; }

}  // namespace warpalign::detail
