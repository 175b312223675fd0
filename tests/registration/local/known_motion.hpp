// Shifts of windows under a known motion.
#pragma once

#include "support/compare.hpp"

#include <warpalign/local_motion.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

namespace test {

using Motion = std::function<warpalign::Point(const warpalign::Point&)>;

/// The windows of a frame and their positions.
struct Windows {
  warpalign::Shape frame;
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  double side = 32;  ///< side of a window in pixels

  [[nodiscard]] warpalign::Point centre(std::int64_t column, std::int64_t row) const {
    return {place(column, columns, frame.width), place(row, rows, frame.height)};
  }

 private:
  [[nodiscard]] double place(std::int64_t index, std::int64_t count, std::int64_t pixels) const {
    if (count == 1) return static_cast<double>(pixels - 1) / 2;
    const double last = static_cast<double>(pixels) - side;
    return (side - 1) / 2 + last * static_cast<double>(index) / static_cast<double>(count - 1);
  }
};

/// The motion at the windows' centres as reliable shifts that are all equally certain.
inline std::vector<warpalign::WindowShift> shifts_of(const Windows& windows, const Motion& motion,
                                                     double uncertainty = 0.01) {
  std::vector<warpalign::WindowShift> shifts;
  for (std::int64_t row = 0; row < windows.rows; ++row) {
    for (std::int64_t column = 0; column < windows.columns; ++column) {
      warpalign::WindowShift shift;
      shift.centre = windows.centre(column, row);
      shift.shift = motion(shift.centre);
      shift.uncertainty = uncertainty;
      shift.correlation = 0.9;
      shift.significance = 30;
      shift.reliable = true;
      shifts.push_back(shift);
    }
  }
  return shifts;
}

/// Waves of `amplitude` pixels, `period` pixels long, along both axes and in both components.
inline Motion waves(double amplitude, double period) {
  return [=](const warpalign::Point& p) {
    const double two_pi = 2 * std::numbers::pi / period;
    return warpalign::Point{amplitude * std::sin(two_pi * p.x) * std::cos(two_pi * p.y),
                            amplitude * std::cos(two_pi * (p.x + p.y) / 2)};
  };
}

/// The largest distance between a field and the motion, over all pixels at least `edge` pixels
/// from the frame's border.
inline double worst_difference(const warpalign::DisplacementField& field, const Motion& motion,
                               std::int64_t edge = 0) {
  WorstError worst;
  for (std::int64_t y = edge; y < field.frame().height - edge; ++y) {
    for (std::int64_t x = edge; x < field.frame().width - edge; ++x) {
      const warpalign::Point p{static_cast<double>(x), static_cast<double>(y)};
      const warpalign::Point found = field.at(p);
      const warpalign::Point true_shift = motion(p);
      worst.add(std::hypot(found.x - true_shift.x, found.y - true_shift.y));
    }
  }
  return worst.value();
}

}  // namespace test
