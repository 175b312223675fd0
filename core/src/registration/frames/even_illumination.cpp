// Detects illumination that varies over a frame relative to the reference.
#include "registration/frames/even_illumination.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

constexpr std::int64_t min_cell_side = 32;
constexpr std::int64_t max_cells_along = 8;
constexpr double min_cell_pixels = 64;

// The parameters of a cell: gain and offset.
constexpr double parameters = 2;
// The number of pixels over which noise is correlated after smoothing with the weights 1/6, 4/6,
// 1/6 along both axes.
constexpr double noise_correlation = 4;

// The largest accepted mean square residual of uneven illumination, as fractions of the mean square
// of the slopes and of the residual. On waves of 6 to 60 pixels, an illumination residual with the
// root mean square of the slopes biased the shift by 0.035 pixels. A mean square of 0.003, which is
// 0.055 of the root, thus biases it by 0.002 pixels. An illumination residual that is small
// relative to the noise biases the shift less than the noise does.
constexpr double max_of_slopes = 0.003;
constexpr double max_of_residual = 0.03;

std::int64_t cells_along(std::int64_t extent) {
  return std::clamp<std::int64_t>(extent / min_cell_side, 1, max_cells_along);
}

std::int32_t part_of(std::int64_t extent, std::int64_t part, std::int64_t parts) {
  return static_cast<std::int32_t>(extent * part / parts);
}

/// The residual sums of squares of a cell with the frame's gain and offset, and with its own.
struct Residuals {
  double common = 0, own = 0;
};

Residuals residuals_of(const ShiftSums& s, double gain, double offset) {
  const double frame = s.mm - s.m * s.m / s.weight;
  const double reference = s.rr - s.r * s.r / s.weight;
  const double covariance = s.rm - s.r * s.m / s.weight;
  const double common = s.mm - 2 * (gain * s.rm + offset * s.m) + gain * gain * s.rr +
                        2 * gain * offset * s.r + offset * offset * s.weight;
  const double explained = reference > 0 ? covariance * covariance / reference : 0;
  return {common, std::max(frame - explained, 0.0)};
}

}  // namespace

std::vector<FrameCell> cells_of(const Shape& frame) {
  const std::int64_t across = cells_along(frame.width);
  const std::int64_t down = cells_along(frame.height);
  std::vector<FrameCell> cells;
  for (std::int64_t y = 0; y < down; ++y) {
    for (std::int64_t x = 0; x < across; ++x) {
      cells.push_back({part_of(frame.width, x, across), part_of(frame.width, x + 1, across),
                       part_of(frame.height, y, down), part_of(frame.height, y + 1, down)});
    }
  }
  return cells;
}

ShiftState restrict_to_cell(ShiftState state, const FrameCell& cell) {
  state.first_column = std::max(state.first_column, cell.first_column);
  state.end_column = std::min(state.end_column, cell.end_column);
  state.first_row = std::max(state.first_row, cell.first_row);
  state.end_row = std::min(state.end_row, cell.end_row);
  return state;
}

bool has_even_illumination(std::span<const ShiftSums> cells, double gain, double offset) {
  double common = 0, own = 0, weight = 0, slopes = 0, noise_residual = 0;
  for (const ShiftSums& cell : cells) {
    if (!(cell.weight >= min_cell_pixels)) continue;
    const Residuals left = residuals_of(cell, gain, offset);
    common += left.common;
    own += left.own;
    weight += cell.weight;
    slopes += (cell.mx_mx + cell.my_my) / 2;
    noise_residual += parameters * noise_correlation * left.own / cell.weight;
  }
  if (!(weight > 0)) return false;
  const double uneven = common - own - noise_residual;
  return uneven <= max_of_slopes * slopes || uneven <= max_of_residual * own;
}

}  // namespace warpalign::detail
