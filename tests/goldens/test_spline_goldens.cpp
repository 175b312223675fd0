// The oracle of splines, compared with SciPy's results (make_spline_goldens.py) and with its own
// properties.
#include "reference/spline/complex_bilinear.hpp"
#include "reference/spline/cpu_forms.hpp"
#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "support/random_images.hpp"

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

using reference::Edge;
using reference::Volume;
using Point = std::array<double, 3>;

const std::map<std::string, Edge> edges{{"mirror", Edge::mirror},
                                        {"reflect", Edge::reflect},
                                        {"nearest", Edge::nearest},
                                        {"constant", Edge::constant},
                                        {"grid-constant", Edge::grid_constant},
                                        {"wrap", Edge::wrap},
                                        {"grid-wrap", Edge::grid_wrap}};

/// The arrays and points that the records of a file refer to.
struct Golden {
  std::map<std::string, Volume> arrays;
  std::map<std::string, std::vector<Point>> points;
};

std::vector<double> numbers(std::istream& line, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) line >> value;
  REQUIRE(line);
  return values;
}

Volume read_array(std::istream& line) {
  std::int64_t w = 0, h = 0, d = 0;
  line >> w >> h >> d;
  Volume volume(w, h, d);
  volume.values = numbers(line, volume.values.size());
  return volume;
}

std::vector<Point> read_points(std::istream& line) {
  std::size_t dimensions = 0, count = 0;
  line >> dimensions >> count;
  std::vector<Point> points(count);
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    for (Point& point : points) line >> point[axis];
  }
  REQUIRE(line);
  return points;
}

/// Calls record(kind, line, golden) for every record except arrays and lists of points.
template <class Record>
void for_each_record(const std::string& file, Record&& record) {
  std::ifstream stream(std::string(WARPALIGN_GOLDENS) + "/" + file);
  REQUIRE_MESSAGE(stream, file);
  Golden golden;
  int records = 0;
  for (std::string text; std::getline(stream, text);) {
    std::istringstream line(text);
    std::string kind, name;
    line >> kind >> name;
    if (kind == "#") continue;
    if (kind == "array") {
      golden.arrays[name] = read_array(line);
    } else if (kind == "points") {
      golden.points[name] = read_points(line);
    } else {
      CAPTURE(text.substr(0, 60));
      record(line, name, golden);
      ++records;
    }
  }
  CHECK(records > 50);
}

struct Case {
  int dimensions = 0, order = 0;
  Edge edge = Edge::mirror;
  double cval = 0;
};

Case read_case(std::istream& line, bool with_cval) {
  Case c;
  std::string mode;
  line >> c.dimensions >> c.order >> mode;
  if (with_cval) line >> c.cval;
  c.edge = edges.at(mode);
  return c;
}

// SciPy's recursions and this linear system are both exact; what remains is rounding in double
// precision, of values up to 10 with prefilter gains up to 7.5^3.
constexpr double exact = 1e-9;

// SciPy approximates `nearest` and `grid-constant` of order >= 2: it pads 12 samples and mirrors
// those, while the mode continues forever. The mirrored image begins 24 samples beyond the edge,
// and its effect decreases as |pole|^(24 - distance); a point more than 12 samples outside has the
// effect of 12. The filters' largest gain along each axis multiplies the range, 20.
double tolerance(const Case& c, const Volume& volume, const Point& p) {
  if (c.order < 2 || (c.edge != Edge::nearest && c.edge != Edge::grid_constant)) return exact;
  constexpr std::array<double, 6> pole{0, 0, 0.171573, 0.267949, 0.361341, 0.430575};
  constexpr std::array<double, 6> gain{1, 1, 2, 3, 4.8, 7.5};
  double outside = 0;
  double range = 20;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.dimensions); ++i) {
    outside = std::max({outside, -p[i], p[i] - static_cast<double>(volume.extents()[i] - 1)});
    range *= gain[static_cast<std::size_t>(c.order)];
  }
  const double reach = std::min(12.0, outside + (c.order + 1) / 2.0);
  return exact + range * std::pow(pole[static_cast<std::size_t>(c.order)], 24 - reach);
}

void compare(const Case& c, const Volume& volume, const std::vector<Point>& points,
             const std::vector<double>& expected) {
  const auto spline = reference::solve(volume, c.dimensions, c.order, c.edge, c.cval);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    CAPTURE(p[0]);
    CAPTURE(p[1]);
    CAPTURE(p[2]);
    const double found = reference::evaluate(spline, p).value;
    CAPTURE(found);
    CAPTURE(expected[i]);
    CHECK(std::abs(found - expected[i]) <= tolerance(c, volume, p));
  }
}

}  // namespace

TEST_CASE("spline oracle: the solution of the B-spline system is SciPy's spline_filter") {
  for_each_record(
      "spline_filter.txt", [](std::istream& line, const std::string& name, const Golden& golden) {
        const Case c = read_case(line, false);
        const Volume& volume = golden.arrays.at(name);
        const auto expected = numbers(line, volume.values.size());
        const auto found = reference::solve(volume, c.dimensions, c.order, c.edge).coefficients;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(std::abs(found.values[i] - expected[i]) <= exact);
        }
      });
}

// SciPy and the oracle differ in these cases, according to SciPy's ni_interpolation.c, and the
// goldens leave them out:
// - order 0 between two samples outside of the image: SciPy folds the point into the image, then
//   rounds up; the oracle rounds up in the extended image, so that a mirrored tie goes the other
//   way;
// - NaN and infinite coordinates: SciPy converts them to integers, which is undefined in C++.
// Both agree in these: any point outside of [0, n - 1] is cval under `constant`; negative
// multiples of n - 1 give n - 1 under `wrap`, and positive ones 0; `wrap` of one sample gives that
// sample.
TEST_CASE("spline oracle: values inside and outside agree with SciPy's map_coordinates") {
  for_each_record("spline_map.txt",
                  [](std::istream& line, const std::string& name, const Golden& golden) {
                    std::string points;
                    line >> points;
                    const Case c = read_case(line, true);
                    const auto& p = golden.points.at(points);
                    compare(c, golden.arrays.at(name), p, numbers(line, p.size()));
                  });
}

TEST_CASE("spline oracle: affine transforms agree with SciPy's affine_transform") {
  for_each_record("spline_affine.txt",
                  [](std::istream& line, const std::string& name, const Golden& golden) {
                    const Case c = read_case(line, true);
                    const auto d = static_cast<std::size_t>(c.dimensions);
                    const auto m = numbers(line, d * (d + 1));
                    const Volume values = read_array(line);
                    std::vector<Point> points;
                    for (std::int64_t z = 0; z < values.depth; ++z) {
                      for (std::int64_t y = 0; y < values.height; ++y) {
                        for (std::int64_t x = 0; x < values.width; ++x) {
                          const std::array<double, 3> o{double(x), double(y), double(z)};
                          Point p{};
                          for (std::size_t i = 0; i < d; ++i) {
                            p[i] = m[i * (d + 1) + d];
                            for (std::size_t j = 0; j < d; ++j) p[i] += m[i * (d + 1) + j] * o[j];
                          }
                          points.push_back(p);
                        }
                      }
                    }
                    compare(c, golden.arrays.at(name), points, values.values);
                  });
}

// map_coordinates([1, 5, 2, 7], ..., order=2, mode="nearest", prefilter=False): the samples
// continue beyond the edges, and the value is the edge's where the spline reaches no other sample.
TEST_CASE("spline oracle: samples as coefficients under `nearest`") {
  Volume samples(4);
  samples.values = {1, 5, 2, 7};
  const auto spline = reference::unfiltered(samples, 1, 2, Edge::nearest);
  const std::array<double, 5> places{-0.83, -3, 0, 3.9, 8};
  const std::array<double, 5> scipy{1, 1, 1.5, 7, 7};
  for (std::size_t i = 0; i < places.size(); ++i) {
    CHECK(std::abs(reference::evaluate(spline, {places[i], 0, 0}).value - scipy[i]) < exact);
  }
}

TEST_CASE("spline oracle: B-splines sum to one, are smooth, and have the right derivative") {
  for (int degree = 0; degree <= 5; ++degree) {
    CAPTURE(degree);
    for (double x = -0.5; x < 0.5; x += 1.0 / 32) {
      double sum = 0, slopes = 0;
      for (int k = -4; k <= 4; ++k) {
        sum += reference::beta(degree, x - k);
        if (degree > 0) slopes += reference::beta_slope(degree, x - k);
      }
      CHECK(std::abs(sum - 1) < 1e-13);
      CHECK(std::abs(slopes) < 1e-13);
    }
    for (double x = -3.267; degree >= 1 && x < 3.3; x += 0.04) {
      const double h = 1e-5;
      const double difference =
          (reference::beta(degree, x + h) - reference::beta(degree, x - h)) / (2 * h);
      // The central difference is off by h^2 |beta'''| / 6 and by rounding divided by h: below
      // 1e-9.
      CHECK(std::abs(difference - reference::beta_slope(degree, x)) < 1e-9);
    }
  }
  CHECK(reference::beta(3, 0) == doctest::Approx(2.0 / 3));
  CHECK(reference::beta(3, 1) == doctest::Approx(1.0 / 6));
  CHECK(reference::beta(5, 2) == doctest::Approx(1.0 / 120));
}

TEST_CASE("spline oracle: a spline passes through its samples and the FIR filter approaches it") {
  const auto plane = test::random_plane(23, 17, -1, 1, 5);
  Volume samples(plane.width, plane.height);
  samples.values = plane.values;
  for (const auto& [name, edge] : edges) {
    CAPTURE(name);
    for (int degree = 0; degree <= 5; ++degree) {
      const auto spline = reference::solve(samples, 2, degree, edge, 0.25);
      for (std::int64_t y = 0; y < samples.height; ++y) {
        for (std::int64_t x = 0; x < samples.width; ++x) {
          const Point p{static_cast<double>(x), static_cast<double>(y), 0};
          CHECK(std::abs(reference::evaluate(spline, p).value - samples.at(x, y)) < 1e-12);
        }
      }
    }
    const auto cubic = reference::solve(samples, 2, 3, edge, 0.25, 0).coefficients;
    const auto fir = reference::prefilter_fir(samples, 2, 41, edge, 0.25);
    for (std::size_t i = 0; i < fir.values.size(); ++i) {
      // The 41 taps leave out |pole|^21 = 1e-12, multiplied by gains of 3 along each axis.
      CHECK(std::abs(fir.values[i] - cubic.values[i]) < 1e-10);
    }
  }
}

TEST_CASE("CPU forms: the papers' single-precision code agrees with the oracle") {
  for (const auto& [w, h, d] :
       {std::array<std::int64_t, 3>{33, 18, 1}, {1, 7, 1}, {2, 2, 2}, {9, 8, 7}}) {
    const int dimensions = d == 1 ? 2 : 3;
    Volume samples(w, h, d);
    samples.values = test::random_plane(w, h * d, -1, 1, 6).values;
    std::vector<float> c(samples.values.begin(), samples.values.end());
    reference::recursive_prefilter(c.data(), w, h, d);
    const auto spline = reference::solve(samples, dimensions, 3, Edge::mirror);
    for (std::size_t i = 0; i < c.size(); ++i) {
      // Each axis multiplies by 6 before it subtracts: a few ulp of 6^dimensions, at most 216.
      CHECK(std::abs(c[i] - spline.coefficients.values[i]) < 4e-5);
    }
    for (float t = -3; t < 12; t += 0.37F) {
      const Point p{t, 1.5F * t - 1, 0.75F * t};
      const float found =
          d == 1 ? reference::cubic_2d(c.data(), w, h, float(p[0]), float(p[1]))
                 : reference::cubic_3d(c.data(), w, h, d, float(p[0]), float(p[1]), float(p[2]));
      const Point q{float(p[0]), float(p[1]), float(p[2])};
      CHECK(std::abs(found - reference::evaluate(spline, q).value) < 4e-5);
    }
  }
}

TEST_CASE("CPU forms: complex bilinear agrees with the oracle, negative coordinates included") {
  reference::ComplexVolume image(7, 5);
  const auto re = test::random_plane(7, 5, -1, 1, 7).values;
  const auto im = test::random_plane(7, 5, -1, 1, 8).values;
  std::vector<std::complex<float>> data;
  for (std::size_t i = 0; i < re.size(); ++i) {
    image.values[i] = {re[i], im[i]};
    data.emplace_back(float(re[i]), float(im[i]));
  }
  auto x = test::random_plane(40, 10, -2.5, 9, 9).values;
  auto y = test::random_plane(40, 10, -2.5, 7, 10).values;
  x[0] = NAN;
  y[1] = INFINITY;
  x[2] = -1e30;
  std::vector<float> xf(x.begin(), x.end()), yf(y.begin(), y.end());
  std::vector<std::complex<float>> found(x.size());
  reference::bilinear_complex(found.data(), data.data(), xf.data(), yf.data(), 7, 5, 40, 10);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto expected = reference::bilinear_zero_outside(image, xf[i], yf[i]);
    CHECK(std::abs(std::complex<double>(found[i]) - expected) < 1e-6);  // eight roundings of 1
  }
}
