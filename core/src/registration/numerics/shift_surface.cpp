// The correlation of two pyramid levels at every shift.
#include "registration/numerics/shift_surface.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "stages/spectrum/parabola.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

// The vertex of the parabola through three samples, of which the middle one is the highest: its
// distance from the middle one, and how much higher it is.
struct Vertex {
  double at, above;
};
Vertex vertex_of(double before, double middle, double after) {
  const double at = parabola_vertex(before, middle, after);
  return {at, -0.25 * (before - after) * at};
}

// Lanczos's windowed sinc, of this many zeros on either side.
constexpr int lanczos_zeros = 3;
using LanczosWeights = std::array<double, 2 * lanczos_zeros + 1>;  // of samples -3 to 3

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::abs(x) < 1e-9 ? 1 : std::sin(angle) / angle;
}

// The weights with which the samples add up to the value at `at`, which is nearer to sample 0 than
// to the next but one.
LanczosWeights lanczos_weights(double at) {
  LanczosWeights weights{};
  double sum = 0;
  for (int i = -lanczos_zeros; i <= lanczos_zeros; ++i) {
    const double x = i - at;
    const double weight = std::abs(x) < lanczos_zeros ? sinc(x) * sinc(x / lanczos_zeros) : 0;
    weights.at(static_cast<std::size_t>(i + lanczos_zeros)) = weight;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

Point CorrelationFrame::origin() const {
  const Point centre = centre_of(reference);
  const auto middle = static_cast<double>(side / 2);
  return {std::round(centre.x - middle), std::round(centre.y - middle)};
}

ShiftSurface::ShiftSurface(const CorrelationFrame& frame, std::span<const float> correlations,
                           std::span<const float> overlaps)
    : frame_(frame),
      correlations_(correlations),
      overlaps_(overlaps),
      origin_x_(static_cast<std::int64_t>(frame.origin().x)),
      origin_y_(static_cast<std::int64_t>(frame.origin().y)),
      min_overlap_(static_cast<float>(frame.min_overlap * static_cast<double>(frame.side) *
                                      static_cast<double>(frame.side))) {}

// The reference's level itself lies in the corner of its frame.
std::size_t ShiftSurface::index(Shift shift) const {
  const std::int64_t n = frame_.side;
  const std::int64_t x = ((origin_x_ + shift.x) % n + n) % n;
  const std::int64_t y = ((origin_y_ + shift.y) % n + n) % n;
  return static_cast<std::size_t>(y * n + x);
}

float ShiftSurface::score(Shift shift) const {
  const std::size_t i = index(shift);
  const float overlap = overlaps_[i];
  if (overlap < min_overlap_) return 0;
  return correlations_[i] / (std::sqrt(overlap) * static_cast<float>(frame_.side));
}

double ShiftSurface::correlation(Shift shift) const {
  const std::size_t i = index(shift);
  if (overlaps_[i] < min_overlap_) return 0;
  return static_cast<double>(correlations_[i]) / static_cast<double>(overlaps_[i]);
}

// The overlap tilts the score, and would pull peaks towards small shifts: the correlation over the
// overlap is located.
ShiftSurface::Peak ShiftSurface::peak_at(Shift shift) const {
  const auto at = [&](std::int64_t dx, std::int64_t dy) {
    return correlation({shift.x + dx, shift.y + dy});
  };
  const double middle = at(0, 0);
  const Vertex x = vertex_of(at(-1, 0), middle, at(1, 0));
  const Vertex y = vertex_of(at(0, -1), middle, at(0, 1));
  const double height = middle + x.above + y.above;
  return {{static_cast<double>(shift.x) + x.at, static_cast<double>(shift.y) + y.at},
          middle > 0 ? static_cast<double>(score(shift)) * height / middle : 0};
}

double ShiftSurface::interpolated(Shift shift, double dx, double dy) const {
  const LanczosWeights across = lanczos_weights(dx);
  const LanczosWeights down = lanczos_weights(dy);
  double sum = 0;
  for (int y = -lanczos_zeros; y <= lanczos_zeros; ++y) {
    double row = 0;
    for (int x = -lanczos_zeros; x <= lanczos_zeros; ++x) {
      row += across.at(static_cast<std::size_t>(x + lanczos_zeros)) *
             correlation({shift.x + x, shift.y + y});
    }
    sum += down.at(static_cast<std::size_t>(y + lanczos_zeros)) * row;
  }
  return sum;
}

// Steps of a quarter of a sample miss at most a hundredth of the height of what a level can show.
double ShiftSurface::crest_at(Shift shift) const {
  constexpr int steps = 3;
  constexpr double step = 0.25;
  double highest = 0;
  for (int y = -steps; y <= steps; ++y) {
    for (int x = -steps; x <= steps; ++x) {
      highest = std::max(highest, interpolated(shift, step * x, step * y));
    }
  }
  return highest;
}

// Of equal neighbours the first one is the maximum.
bool ShiftSurface::is_local_maximum(Shift shift) const {
  const float middle = score(shift);
  for (std::int64_t dy = -1; dy <= 1; ++dy) {
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      const float other = score({shift.x + dx, shift.y + dy});
      const bool is_before = dy < 0 || (dy == 0 && dx < 0);
      if (other > middle || (other == middle && is_before)) return false;
    }
  }
  return true;
}

}  // namespace warpalign::detail
