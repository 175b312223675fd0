// The period of a texture that repeats itself, from the shifts at which it matches itself.
#include "registration/scoring/repetition.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::detail {

namespace {

// Vectors whose angle has a smaller sine lie on a line.
constexpr double min_sine = 0.2;
// How far a shift may lie from a point of the lattice, of the shortest vector's length.
constexpr double tolerance = 0.2;

double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
Point minus(Point a, double times, Point b) { return {a.x - times * b.x, a.y - times * b.y}; }

Point rightwards(Point p) {
  const bool is_vertical = std::abs(p.x) < 1e-3 * std::abs(p.y);
  return (is_vertical ? p.y < 0 : p.x < 0) ? Point{-p.x, -p.y} : p;
}

std::vector<Point> shortest_first(std::span<const Point> shifts) {
  std::vector<Point> sorted(shifts.begin(), shifts.end());
  std::sort(sorted.begin(), sorted.end(), [](Point a, Point b) { return length(a) < length(b); });
  return sorted;
}

std::optional<Point> first_across(std::span<const Point> sorted, Point along) {
  for (const Point& shift : sorted) {
    if (std::abs(cross(along, shift)) > min_sine * length(along) * length(shift)) return shift;
  }
  return std::nullopt;
}

// Lagrange and Gauss: subtracts multiples of the shorter vector until none shortens the longer.
void reduce(Point& shorter, Point& longer) {
  for (int i = 0; i < 64; ++i) {
    if (length(longer) < length(shorter)) std::swap(shorter, longer);
    const double times = std::round(dot(shorter, longer) / dot(shorter, shorter));
    if (times == 0) return;
    longer = minus(longer, times, shorter);
  }
}

// The vectors of a lattice by least squares from the shifts that are its points. Shorter shifts,
// whose coordinates are certain, come first and make those of longer ones certain.
class LatticeFit {
 public:
  LatticeFit(Point first, Point second) : first_(first), second_(second) {}

  void add(Point shift) {
    const double area = cross(first_, second_);
    const double m = std::round(cross(shift, second_) / area);
    const double n = std::round(cross(first_, shift) / area);
    const Point rest = minus(minus(shift, m, first_), n, second_);
    if ((m == 0 && n == 0) || length(rest) > tolerance * length(first_)) return;
    ++points_;
    mm_ += m * m;
    mn_ += m * n;
    nn_ += n * n;
    from_first_ = minus(from_first_, -m, shift);
    from_second_ = minus(from_second_, -n, shift);
    const double determinant = mm_ * nn_ - mn_ * mn_;
    if (!(determinant > 0.5)) return;  // of integers
    first_ = solved(nn_, from_first_, mn_, from_second_, determinant);
    second_ = solved(mm_, from_second_, mn_, from_first_, determinant);
  }
  [[nodiscard]] Point first() const { return first_; }
  [[nodiscard]] Point second() const { return second_; }
  [[nodiscard]] int points() const { return points_; }

 private:
  static Point solved(double a, Point p, double b, Point q, double determinant) {
    return {(a * p.x - b * q.x) / determinant, (a * p.y - b * q.y) / determinant};
  }

  Point first_, second_;
  int points_ = 0;
  double mm_ = 0, mn_ = 0, nn_ = 0;
  Point from_first_{}, from_second_{};
};

std::vector<Point> period_on_line(std::span<const Point> sorted, Point first) {
  double times_squared = 0;
  Point sum{};
  int points = 0;
  for (const Point& shift : sorted) {
    const double times = std::round(dot(shift, first) / dot(first, first));
    if (times == 0 || length(minus(shift, times, first)) > tolerance * length(first)) continue;
    ++points;
    times_squared += times * times;
    sum = minus(sum, -times, shift);
    first = {sum.x / times_squared, sum.y / times_squared};
  }
  return points < 2 ? std::vector<Point>{} : std::vector<Point>{rightwards(first)};
}

}  // namespace

std::vector<Point> period_of(std::span<const Point> shifts) {
  const std::vector<Point> sorted = shortest_first(shifts);
  if (sorted.empty() || !(length(sorted.front()) > 0)) return {};
  Point first = sorted.front();
  std::optional<Point> second = first_across(sorted, first);
  if (!second) return period_on_line(sorted, first);
  reduce(first, *second);
  LatticeFit fit(first, *second);
  for (const Point& shift : sorted) fit.add(shift);
  if (fit.points() < 3) return {};
  Point shorter = fit.first();
  Point longer = fit.second();
  reduce(shorter, longer);
  return {rightwards(shorter), rightwards(longer)};
}

}  // namespace warpalign::detail
