// The displacement field that is fitted to the shifts of windows.
#include "registration/local/known_motion.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using warpalign::DisplacementField;
using warpalign::Point;
using warpalign::Shape;
using warpalign::WindowShift;

constexpr Shape frame{256, 192, 1};

// 15 x 11 windows of 32 pixels, 16 pixels apart.
const test::Windows grid{frame, 15, 11, 32};

DisplacementField fitted(const test::Windows& windows, const std::vector<WindowShift>& shifts,
                         double smoothness = 0.1) {
  return DisplacementField::fit(windows.frame, shifts, windows.columns, windows.rows,
                                {.smoothness = smoothness});
}

std::vector<WindowShift> with_noise(std::vector<WindowShift> shifts, double deviation,
                                    std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  for (WindowShift& shift : shifts) {
    shift.shift.x += normal(random);
    shift.shift.y += normal(random);
  }
  return shifts;
}

// Every fifth shift, at random places, becomes one of up to 16 pixels.
std::vector<bool> spoil(std::vector<WindowShift>& shifts, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> anywhere(-16, 16);
  std::vector<std::size_t> order(shifts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<bool> spoilt(shifts.size());
  for (std::size_t i = 0; i < shifts.size() / 5; ++i) {
    shifts[order[i]].shift = {anywhere(random), anywhere(random)};
    spoilt[order[i]] = true;
  }
  return spoilt;
}

}  // namespace

TEST_CASE("field fit: a translation is exact, whatever the windows") {
  const test::Motion motion = [](const Point&) { return Point{3.25, -1.5}; };
  for (const auto& [columns, rows] : {std::pair{15, 11}, {1, 11}, {15, 1}, {1, 1}, {2, 2}}) {
    CAPTURE(columns);
    CAPTURE(rows);
    const test::Windows windows{frame, columns, rows, 32};
    const DisplacementField field = fitted(windows, test::shifts_of(windows, motion));
    // Rounding of the solution of some hundred equations.
    CHECK(test::worst_difference(field, motion) < 1e-10);
  }
}

TEST_CASE("field fit: linear motion costs no roughness, and is recovered up to the corners") {
  const test::Motion motion = [](const Point& p) {
    return Point{0.02 * p.x - 0.01 * p.y + 1, 0.015 * p.x + 0.03 * p.y - 2};
  };
  // What keeps undetermined slopes flat counts 1e-9 of the shifts, times slopes of half a pixel.
  CHECK(test::worst_difference(fitted(grid, test::shifts_of(grid, motion)), motion) < 1e-7);
}

TEST_CASE("field fit: a field that a fit can give is recovered from its own shifts") {
  // Of all fields with its values at the windows, a fitted one is the least rough. So a second fit,
  // to these exact values, must give the same field everywhere.
  const DisplacementField known = fitted(grid, test::shifts_of(grid, test::waves(0.5, 150)), 1);
  const test::Motion motion = [&](const Point& p) { return known.at(p); };
  const DisplacementField again = fitted(grid, test::shifts_of(grid, motion), 0.1);
  // The roughness pulls at each shift by 0.1 times the jump of the third derivative there (up to 4
  // pixels, as the second is up to 0.2 and changes its sign), against a weight of 1e4.
  CHECK(test::worst_difference(again, motion) < 4e-5);
}

TEST_CASE("field fit: waves are followed within the interpolation's error") {
  const double period = 200;
  const test::Motion motion = test::waves(1, period);
  const DisplacementField field = fitted(grid, test::shifts_of(grid, motion));
  // A cubic spline with knots at distance h follows a wave within (2 pi h / period)^4 / 384 of its
  // amplitude along each axis (de Boor 1978, chapter V: 5/384 with free ends): 16 pixels of 200,
  // and the influence of the ends, where there is no roughness, halves with every 8 pixels.
  const double step = 2 * std::numbers::pi * 16 / period;
  const double bound = 2 * 5.0 / 384 * std::pow(step, 4);
  CHECK(test::worst_difference(field, motion, 64) < bound);
}

TEST_CASE("field fit: a fifth of gross outliers does not show") {
  const test::Motion motion = test::waves(1, 300);
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    auto shifts = with_noise(test::shifts_of(grid, motion), 0.01, seed);
    const std::vector<bool> spoilt = spoil(shifts, seed);
    const DisplacementField field = fitted(grid, shifts);
    double squares = 0;
    for (const WindowShift& shift : shifts) {
      const Point found = field.at(shift.centre);
      const Point truth = motion(shift.centre);
      squares += std::pow(found.x - truth.x, 2) + std::pow(found.y - truth.y, 2);
    }
    // The noise alone is 0.014 (two components), and the spline follows it.
    CHECK(std::sqrt(squares / static_cast<double>(shifts.size())) < 0.02);
    const std::vector<bool> found = warpalign::find_outliers(shifts, grid.columns, grid.rows);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const Point truth = motion(shifts[i].centre);
      const double error = std::hypot(shifts[i].shift.x - truth.x, shifts[i].shift.y - truth.y);
      CAPTURE(i);
      if (spoilt[i] && error > 1) CHECK(found[i]);
    }
  }
}

TEST_CASE("field fit: motion with a slope is no outlier, at edges and corners either") {
  // 1.6 and 0.8 pixels from window to window; the plain median test would refuse the edges.
  const test::Motion motion = [](const Point& p) { return Point{0.1 * p.x, -0.05 * p.y}; };
  const auto shifts = test::shifts_of(grid, motion);
  for (const bool outlier : warpalign::find_outliers(shifts, grid.columns, grid.rows)) {
    CHECK_FALSE(outlier);
  }
}

TEST_CASE("field fit: windows without a shift are bridged, and far from any continue the nearest") {
  const test::Motion motion = test::waves(2, 400);
  auto shifts = test::shifts_of(grid, motion);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const std::size_t column = i % 15;
    const std::size_t row = i / 15;
    if (column == 7 && row == 5) shifts[i].reliable = false;
    if (column >= 11) {  // nothing to be seen in the right quarter
      shifts[i].reliable = false;
      shifts[i].uncertainty = std::numeric_limits<double>::infinity();
      shifts[i].shift = {std::nan(""), std::nan("")};
    }
  }
  const DisplacementField field = fitted(grid, shifts);
  const Point gap = grid.centre(7, 5);
  const Point found = field.at(gap);
  // The spline through neighbours 16 pixels away, as in the test of waves.
  CHECK(std::abs(found.x - motion(gap).x) < 0.01);
  CHECK(std::abs(found.y - motion(gap).y) < 0.01);
  for (std::int64_t y = 0; y < frame.height; ++y) {
    const Point far = field.at({frame.width - 1.0, static_cast<double>(y)});
    // No shift is longer than 2.9: what has been continued stays about as long.
    CHECK(std::hypot(far.x, far.y) < 4);
  }
}

TEST_CASE("field fit: certain shifts count more than uncertain ones") {
  auto shifts = test::shifts_of(
      grid,
      [](const Point&) {
        return Point{1, 1};
      },
      0.01);
  const std::size_t middle = 5 * 15 + 7;
  shifts[middle].shift.x += 0.15;  // below what the median test refuses
  const Point centre = shifts[middle].centre;
  const double certain = fitted(grid, shifts).at(centre).x;
  shifts[middle].uncertainty = 10;
  const double uncertain = fitted(grid, shifts).at(centre).x;
  // A weight of 1e4 against the roughness' 0.1, or one of 0.01.
  CHECK(certain > 1.14);
  CHECK(std::abs(uncertain - 1) < 0.002);
}

TEST_CASE("field fit: more smoothness gives less roughness") {
  const auto shifts = with_noise(test::shifts_of(
                                     grid, [](const Point&) { return Point{}; }, 0.1),
                                 0.1, 7);
  double before = std::numeric_limits<double>::infinity();
  for (const double smoothness : {0.1, 100.0, 10000.0}) {
    const std::vector<float> samples = fitted(grid, shifts, smoothness).samples();
    double squares = 0;
    for (const float sample : samples) squares += sample * sample;
    CHECK(squares < before);
    before = squares;
  }
}

TEST_CASE("field fit: what cannot be fitted is refused") {
  const auto shifts = test::shifts_of(grid, [](const Point&) { return Point{1, 1}; });
  const auto refused = [](const std::vector<WindowShift>& given, std::int64_t columns,
                          std::int64_t rows, double smoothness, const Shape& shape = frame) {
    CHECK_THROWS_AS(
        (void)DisplacementField::fit(shape, given, columns, rows, {.smoothness = smoothness}),
        warpalign::Error);
  };
  refused(shifts, 11, 14, 0.1);
  refused(shifts, 0, 0, 0.1);
  refused({}, 0, 0, 0.1);
  refused(shifts, 165, 0, 0.1);
  refused(shifts, 15, 11, 0);
  refused(shifts, 15, 11, -1);
  refused(shifts, 15, 11, std::nan(""));
  refused(shifts, 15, 11, 0.1, {128, 192, 1});  // centres lie outside
  refused(shifts, 15, 11, 0.1, {256, 192, 2});
  auto unordered = shifts;
  std::reverse(unordered.begin(), unordered.end());
  refused(unordered, 15, 11, 0.1);
  auto unreliable = shifts;
  for (WindowShift& shift : unreliable) shift.reliable = false;
  refused(unreliable, 15, 11, 0.1);
  CHECK_THROWS_AS((void)warpalign::find_outliers(shifts, 4, 4), warpalign::Error);
}
