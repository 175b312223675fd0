// The fit of a displacement field to the shifts of windows.
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

// Replaces every fifth shift, at random windows, by an outlier of up to 16 pixels.
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

TEST_CASE("field fit: a translation is exact for any windows") {
  const test::Motion motion = [](const Point&) { return Point{3.25, -1.5}; };
  for (const auto& [columns, rows] : {std::pair{15, 11}, {1, 11}, {15, 1}, {1, 1}, {2, 2}}) {
    CAPTURE(columns);
    CAPTURE(rows);
    const test::Windows windows{frame, columns, rows, 32};
    const DisplacementField field = fitted(windows, test::shifts_of(windows, motion));
    // Rounding error of the solution of some hundred equations.
    CHECK(test::worst_difference(field, motion) < 1e-10);
  }
}

TEST_CASE("field fit: linear motion has no roughness, and is recovered up to the corners") {
  const test::Motion motion = [](const Point& p) {
    return Point{0.02 * p.x - 0.01 * p.y + 1, 0.015 * p.x + 0.03 * p.y - 2};
  };
  // The term that keeps undetermined slopes flat has 1e-9 of the weight of the shifts, times
  // slopes of half a pixel.
  CHECK(test::worst_difference(fitted(grid, test::shifts_of(grid, motion)), motion) < 1e-7);
}

TEST_CASE("field fit: a fitted field is recovered from its own shifts") {
  // Of all fields with its values at the windows, a fitted field is the smoothest. So a second fit
  // to these exact values must give the same field everywhere.
  const DisplacementField known = fitted(grid, test::shifts_of(grid, test::waves(0.5, 150)), 1);
  const test::Motion motion = [&](const Point& p) { return known.at(p); };
  const DisplacementField again = fitted(grid, test::shifts_of(grid, motion), 0.1);
  // The roughness term moves each shift by 0.1 times the jump of the third derivative there (up to
  // 4 pixels, since the second derivative is up to 0.2 and changes its sign), against a weight of
  // 1e4.
  CHECK(test::worst_difference(again, motion) < 4e-5);
}

TEST_CASE("field fit: waves are fitted within the interpolation error") {
  const double period = 200;
  const test::Motion motion = test::waves(1, period);
  const DisplacementField field = fitted(grid, test::shifts_of(grid, motion));
  // A cubic spline with knots at distance h follows a wave within (2 pi h / period)^4 / 384 of its
  // amplitude along each axis (de Boor 1978, chapter V: 5/384 with free ends). Here these are 16
  // and 200 pixels. The influence of the ends, which have no roughness, halves every 8 pixels.
  const double step = 2 * std::numbers::pi * 16 / period;
  const double bound = 2 * 5.0 / 384 * std::pow(step, 4);
  CHECK(test::worst_difference(field, motion, 64) < bound);
}

TEST_CASE("field fit: a fifth of gross outliers has no effect") {
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
    // The noise alone is 0.014 (two components), and the spline follows the noise.
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

TEST_CASE("field fit: sloped motion is no outlier, even at edges and corners") {
  // Shifts differ by 1.6 and 0.8 pixels between windows; the plain median test would reject the
  // edges.
  const test::Motion motion = [](const Point& p) { return Point{0.1 * p.x, -0.05 * p.y}; };
  const auto shifts = test::shifts_of(grid, motion);
  for (const bool outlier : warpalign::find_outliers(shifts, grid.columns, grid.rows)) {
    CHECK_FALSE(outlier);
  }
}

TEST_CASE("field fit: gaps are interpolated, and large gaps continue the nearest shifts") {
  const test::Motion motion = test::waves(2, 400);
  auto shifts = test::shifts_of(grid, motion);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const std::size_t column = i % 15;
    const std::size_t row = i / 15;
    if (column == 7 && row == 5) shifts[i].reliable = false;
    if (column >= 11) {  // no texture in the right quarter
      shifts[i].reliable = false;
      shifts[i].uncertainty = std::numeric_limits<double>::infinity();
      shifts[i].shift = {std::nan(""), std::nan("")};
    }
  }
  const DisplacementField field = fitted(grid, shifts);
  const Point gap = grid.centre(7, 5);
  const Point found = field.at(gap);
  // The error of the spline through neighbours 16 pixels away, as in the test of waves.
  CHECK(std::abs(found.x - motion(gap).x) < 0.01);
  CHECK(std::abs(found.y - motion(gap).y) < 0.01);
  for (std::int64_t y = 0; y < frame.height; ++y) {
    const Point far = field.at({frame.width - 1.0, static_cast<double>(y)});
    // No shift is longer than 2.9, and extrapolated ones must stay about as short.
    CHECK(std::hypot(far.x, far.y) < 4);
  }
}

TEST_CASE("field fit: certain shifts have more weight than uncertain ones") {
  auto shifts = test::shifts_of(
      grid,
      [](const Point&) {
        return Point{1, 1};
      },
      0.01);
  const std::size_t middle = 5 * 15 + 7;
  shifts[middle].shift.x += 0.15;  // less than the median test rejects
  const Point centre = shifts[middle].centre;
  const double certain = fitted(grid, shifts).at(centre).x;
  shifts[middle].uncertainty = 10;
  const double uncertain = fitted(grid, shifts).at(centre).x;
  // A weight of 1e4 against the roughness term's 0.1, and a weight of 0.01.
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

TEST_CASE("field fit: invalid input is refused") {
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
  refused(shifts, 15, 11, 0.1, {128, 192, 1});  // the windows' centres lie outside
  refused(shifts, 15, 11, 0.1, {256, 192, 2});
  auto unordered = shifts;
  std::reverse(unordered.begin(), unordered.end());
  refused(unordered, 15, 11, 0.1);
  auto unreliable = shifts;
  for (WindowShift& shift : unreliable) shift.reliable = false;
  refused(unreliable, 15, 11, 0.1);
  CHECK_THROWS_AS((void)warpalign::find_outliers(shifts, 4, 4), warpalign::Error);
}
