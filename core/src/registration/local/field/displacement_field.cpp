// The displacement field: fits it, evaluates it on the host, and exports its control points for the
// device.
#include <warpalign/local_motion.hpp>

#include "device/check.hpp"
#include "registration/local/field/field_fit.hpp"
#include "registration/local/field/outliers.hpp"
#include "registration/local/field/spline_axis.hpp"
#include "registration/local/windows/shift_grid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* stage = "displacement field";

// The time to solve the equations grows with the third power of the smaller side of the grid: it
// takes 2 s for this number of intervals.
constexpr std::size_t max_intervals = 128;
// The standard deviation, in pixels, between the shift of a window and its mean motion, in addition
// to noise: the window's texture weights the motion. Without it, a fit of means would turn such
// differences between neighbouring windows into waves, because means hardly constrain motion at
// that wavelength.
constexpr double mean_uncertainty = 0.03;
// The limit along each axis for fits to samples at all pixels, which solve one axis at a time.
constexpr std::size_t max_sample_intervals = 1U << 20U;

detail::ShiftGrid checked_grid(std::span<const WindowShift> shifts, std::int64_t windows_x,
                               std::int64_t windows_y) {
  const bool fits =
      windows_x >= 1 && windows_y >= 1 && static_cast<std::size_t>(windows_x) <= shifts.size() &&
      shifts.size() % static_cast<std::size_t>(windows_x) == 0 &&
      shifts.size() / static_cast<std::size_t>(windows_x) == static_cast<std::size_t>(windows_y);
  if (!fits) {
    detail::refuse(stage, "the number of shifts, " + std::to_string(shifts.size()) +
                              ", does not match " + std::to_string(windows_x) + " x " +
                              std::to_string(windows_y) + " windows");
  }
  return {static_cast<std::size_t>(windows_x), static_cast<std::size_t>(windows_y)};
}

void check_centres(const Shape& frame, std::span<const WindowShift> shifts) {
  for (const WindowShift& shift : shifts) {
    const bool inside = shift.centre.x >= 0 && shift.centre.y >= 0 &&
                        shift.centre.x <= static_cast<double>(frame.width - 1) &&
                        shift.centre.y <= static_cast<double>(frame.height - 1);
    if (!inside) {
      detail::refuse(stage, "a window's centre lies outside of the frame of " + to_string(frame));
    }
  }
}

// The distance between windows along one axis, in pixels; for a single window, the frame's side.
double pitch(double first, double last, std::size_t windows, std::int64_t pixels) {
  if (windows == 1) return static_cast<double>(pixels);
  const double distance = (last - first) / static_cast<double>(windows - 1);
  if (!(distance > 0)) {
    detail::refuse(stage, "the windows' centres are not in order, row by row");
  }
  return distance;
}

detail::SplineAxis axis_of(double origin, double spacing, std::int64_t controls) {
  return {origin, spacing, static_cast<std::size_t>(controls - 3)};
}

// The distances from a window's first pixel to its last along each axis, over which means are
// taken.
Point lengths_of(const Shape& window) {
  return {static_cast<double>(window.width - 1), static_cast<double>(window.height - 1)};
}

void check_fit(const Shape& frame, std::span<const WindowShift> shifts,
               const std::vector<bool>& outliers, const FieldOptions& options) {
  detail::check_shape(stage, "the frame", frame);
  if (!(options.smoothness > 0) || !std::isfinite(options.smoothness)) {
    detail::refuse(stage, "the smoothness must be a number above 0");
  }
  check_centres(frame, shifts);
  if (outliers.size() != shifts.size()) {
    detail::refuse(stage, "outliers must have one entry for each shift");
  }
}

void check_windows(const Shape& frame, const Shape& window, std::span<const WindowShift> shifts) {
  detail::check_shape(stage, "the window", window);
  const Point half{lengths_of(window).x / 2, lengths_of(window).y / 2};
  for (const WindowShift& shift : shifts) {
    const Point& centre = shift.centre;
    const bool inside = centre.x - half.x >= 0 && centre.y - half.y >= 0 &&
                        centre.x + half.x <= static_cast<double>(frame.width - 1) &&
                        centre.y + half.y <= static_cast<double>(frame.height - 1);
    if (!inside) {
      detail::refuse(stage, "a window lies outside of the frame of " + to_string(frame));
    }
  }
}

// `lengths`: the sides of the windows over which the field's means are fitted; 0 fits the values at
// the windows' centres.
detail::FieldSplines splines_through(const Shape& frame, std::span<const WindowShift> shifts,
                                     const std::vector<bool>& outliers,
                                     const detail::ShiftGrid& grid, const Point& lengths,
                                     double smoothness) {
  std::vector<bool> consistent(shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    consistent[i] = detail::is_usable(shifts[i]) && !outliers[i];
  }
  if (std::find(consistent.begin(), consistent.end(), true) == consistent.end()) {
    detail::refuse(stage, "no window has a reliable shift; try larger windows");
  }
  const Point unit{
      pitch(shifts.front().centre.x, shifts.back().centre.x, grid.columns, frame.width),
      pitch(shifts.front().centre.y, shifts.back().centre.y, grid.rows, frame.height)};
  // Means over windows do not determine details finer than half a window.
  const auto axis = [](std::int64_t pixels, double distance, double length) {
    return detail::spline_axis(pixels, std::max(distance, (length + 1) / 2), max_intervals);
  };
  detail::FieldSplines splines{
      axis(frame.width, unit.x, lengths.x), axis(frame.height, unit.y, lengths.y), {}};
  const bool means = lengths.x > 0 || lengths.y > 0;
  splines.controls = detail::fit_field(
      splines.x, splines.y,
      detail::weighted_shifts(shifts, consistent, grid, means ? mean_uncertainty : 0), lengths,
      unit, smoothness);
  return splines;
}

// Evaluates a tensor product spline row by row.
class RowValues {
 public:
  RowValues(const detail::SplineAxis& x, const detail::SplineAxis& y, std::int64_t width)
      : y_(y), line_(x.controls()) {
    for (std::int64_t i = 0; i < width; ++i) {
      at_x_.push_back(detail::weights_at(x, static_cast<double>(i)));
    }
  }

  void evaluate(const std::vector<double>& controls, std::int64_t row, float* values) {
    const detail::AxisWeights at_y = detail::weights_at(y_, static_cast<double>(row));
    for (std::size_t k = 0; k < line_.size(); ++k) {
      line_[k] = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        line_[k] += at_y.weight[i] * controls[(at_y.first + i) * line_.size() + k];
      }
    }
    for (const detail::AxisWeights& at : at_x_) {
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i) sum += at.weight[i] * line_[at.first + i];
      *values++ = static_cast<float>(sum);
    }
  }

 private:
  const detail::SplineAxis& y_;
  std::vector<detail::AxisWeights> at_x_;
  std::vector<double> line_;
};

}  // namespace

std::vector<bool> find_outliers(std::span<const WindowShift> shifts, std::int64_t windows_x,
                                std::int64_t windows_y) {
  const detail::ShiftGrid grid = checked_grid(shifts, windows_x, windows_y);
  std::vector<bool> outliers = detail::consistent_shifts(shifts, grid);
  for (std::size_t i = 0; i < outliers.size(); ++i) {
    outliers[i] = detail::is_usable(shifts[i]) && !outliers[i];
  }
  return outliers;
}

DisplacementField DisplacementField::fit(const Shape& frame, std::span<const WindowShift> shifts,
                                         std::int64_t windows_x, std::int64_t windows_y,
                                         const FieldOptions& options) {
  return fit(frame, shifts, find_outliers(shifts, windows_x, windows_y), windows_x, windows_y,
             options);
}

DisplacementField DisplacementField::fit(const Shape& frame, std::span<const WindowShift> shifts,
                                         const std::vector<bool>& outliers, std::int64_t windows_x,
                                         std::int64_t windows_y, const FieldOptions& options) {
  check_fit(frame, shifts, outliers, options);
  return {frame,
          splines_through(frame, shifts, outliers, checked_grid(shifts, windows_x, windows_y),
                          {0, 0}, options.smoothness)};
}

DisplacementField DisplacementField::fit_means(const Shape& frame, const Shape& window,
                                               std::span<const WindowShift> shifts,
                                               const std::vector<bool>& outliers,
                                               std::int64_t windows_x, std::int64_t windows_y,
                                               const FieldOptions& options) {
  check_fit(frame, shifts, outliers, options);
  check_windows(frame, window, shifts);
  return {frame,
          splines_through(frame, shifts, outliers, checked_grid(shifts, windows_x, windows_y),
                          lengths_of(window), options.smoothness)};
}

DisplacementField DisplacementField::from_samples(const Shape& frame,
                                                  std::span<const float> samples, double spacing) {
  detail::check_shape(stage, "the frame", frame);
  if (!(spacing >= 1) || !std::isfinite(spacing)) {
    detail::refuse(stage, "the spacing of control points must be at least 1 pixel");
  }
  const auto plane = static_cast<std::size_t>(frame.plane());
  if (samples.size() != 2 * plane) {
    detail::refuse(stage, std::to_string(samples.size()) + " samples given; a frame of " +
                              to_string(frame) + " needs " + std::to_string(2 * plane) +
                              ", two for each pixel");
  }
  for (const float sample : samples) {
    if (!std::isfinite(sample)) detail::refuse(stage, "a displacement is not finite");
  }
  const auto x = detail::spline_axis(frame.width, spacing, max_sample_intervals);
  const auto y = detail::spline_axis(frame.height, spacing, max_sample_intervals);
  const auto width = static_cast<std::size_t>(frame.width);
  return {frame, detail::FieldSplines{x,
                                      y,
                                      {detail::fit_samples(x, y, samples.first(plane), width),
                                       detail::fit_samples(x, y, samples.subspan(plane), width)}}};
}

DisplacementField::DisplacementField(const Shape& frame, detail::FieldSplines splines)
    : frame_(frame),
      control_shape_{static_cast<std::int64_t>(splines.x.controls()),
                     static_cast<std::int64_t>(splines.y.controls()), 1},
      origin_{splines.x.origin, splines.y.origin},
      spacing_{splines.x.spacing, splines.y.spacing},
      control_x_(std::move(splines.controls.x)),
      control_y_(std::move(splines.controls.y)) {}

Point DisplacementField::at(const Point& point) const noexcept {
  const auto x = detail::weights_at(axis_of(origin_.x, spacing_.x, control_shape_.width), point.x);
  const auto y = detail::weights_at(axis_of(origin_.y, spacing_.y, control_shape_.height), point.y);
  Point sum;
  for (std::size_t i = 0; i < 16; ++i) {
    const double weight = x.weight[i % 4] * y.weight[i / 4];
    const std::size_t index =
        (y.first + i / 4) * static_cast<std::size_t>(control_shape_.width) + x.first + i % 4;
    sum.x += weight * control_x_[index];
    sum.y += weight * control_y_[index];
  }
  return sum;
}

Point DisplacementField::mean(const Point& centre, const Shape& window) const noexcept {
  const Point lengths = lengths_of(window);
  const auto x =
      detail::mean_about(axis_of(origin_.x, spacing_.x, control_shape_.width), centre.x, lengths.x);
  const auto y = detail::mean_about(axis_of(origin_.y, spacing_.y, control_shape_.height), centre.y,
                                    lengths.y);
  Point sum;
  for (std::size_t j = 0; j < y.count; ++j) {
    for (std::size_t i = 0; i < x.count; ++i) {
      const double weight = x.weight[i] * y.weight[j];
      const std::size_t index =
          (y.first + j) * static_cast<std::size_t>(control_shape_.width) + x.first + i;
      sum.x += weight * control_x_[index];
      sum.y += weight * control_y_[index];
    }
  }
  return sum;
}

std::vector<float> DisplacementField::samples() const {
  const auto x = axis_of(origin_.x, spacing_.x, control_shape_.width);
  const auto y = axis_of(origin_.y, spacing_.y, control_shape_.height);
  RowValues values(x, y, frame_.width);
  std::vector<float> all(2 * static_cast<std::size_t>(frame_.plane()));
  float* row = all.data();
  for (const std::vector<double>* controls : {&control_x_, &control_y_}) {
    for (std::int64_t j = 0; j < frame_.height; ++j, row += frame_.width) {
      values.evaluate(*controls, j, row);
    }
  }
  return all;
}

std::vector<float> DisplacementField::control_coordinates() const {
  const auto columns = static_cast<std::size_t>(control_shape_.width);
  const std::size_t count = control_x_.size();
  std::vector<float> coordinates(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i / columns;
    const double x = origin_.x + static_cast<double>(i % columns) * spacing_.x;
    const double y = origin_.y + static_cast<double>(row) * spacing_.y;
    coordinates[i] = static_cast<float>(x + control_x_[i]);
    coordinates[count + i] = static_cast<float>(y + control_y_[i]);
  }
  return coordinates;
}

Affine DisplacementField::pixel_to_control() const noexcept {
  return {1 / spacing_.x, 0, -origin_.x / spacing_.x, 0, 1 / spacing_.y, -origin_.y / spacing_.y};
}

}  // namespace warpalign
