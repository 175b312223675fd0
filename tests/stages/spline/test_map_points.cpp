// Transforms on devices against the oracle, on every device with double precision.
#include "support/devices.hpp"
#include "support/drawn_field.hpp"

#include <warpalign/device_transform.hpp>
#include <warpalign/error.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using test::DrawnField;
using test::Samples;
using warpalign::DeviceTransform;
using warpalign::OutsideField;
using warpalign::PixelType;
using warpalign::PointGrid;
using warpalign::Transform;

using Point = std::array<double, 3>;

// Coordinates are below 100, and a sum has up to 64 products: roundings of 1e-14 each.
constexpr double rounding = 1e-11;

std::vector<Point> random_points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-8, 40);  // beyond the grids as well
  std::vector<Point> points(count);
  for (Point& point : points) {
    for (double& coordinate : point) coordinate = uniform(random);
  }
  return points;
}

/// Maps points on a device: rows of coordinates, x last, as Python has them.
std::vector<Point> mapped(const warpalign::Device& device, const Transform& transform,
                          const std::vector<Point>& points,
                          OutsideField outside = OutsideField::edge) {
  const auto d = static_cast<std::size_t>(transform.dimensions());
  std::vector<double> rows;
  for (const Point& point : points) {
    for (std::size_t a = d; a-- > 0;) rows.push_back(point[a]);
  }
  warpalign::Stream stream = device.make_stream();
  warpalign::Image image =
      device.make_image(PixelType::f64, {static_cast<std::int64_t>(rows.size()), 1, 1});
  stream.upload(rows.data(), rows.size() * sizeof(double), image.buffer());
  const DeviceTransform on_device(device, transform);
  on_device.points(stream, image, points.size(), d - 1, {static_cast<std::ptrdiff_t>(d), -1},
                   outside);
  stream.download(image.buffer(), rows.data(), rows.size() * sizeof(double));
  stream.finish();
  std::vector<Point> result(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t a = 0; a < d; ++a) result[i][a] = rows[i * d + d - 1 - a];
    if (d == 2) result[i][2] = points[i][2];
  }
  return result;
}

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

PointGrid grid_of(int dimensions) {
  return dimensions == 2
             ? PointGrid{.shape = {23, 17, 1}, .origin = {-1, 2, 0}, .spacing = {1.5, 2, 1}}
             : PointGrid{.shape = {14, 11, 9}, .origin = {1, 0, 2}, .spacing = {2, 3, 2.5}};
}

void on_devices_with_double(const std::function<void(const warpalign::Device&)>& body) {
  test::on_every_device([&](const warpalign::Device& device) {
    if (device.info().double_precision) body(device);
  });
}

}  // namespace

TEST_CASE("map_points: a field moves a point by the sum of its splines") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const Samples samples : {Samples::linear, Samples::coefficients}) {
        for (const bool as_double : {false, true}) {
          CAPTURE(dimensions);
          CAPTURE(static_cast<int>(samples));
          CAPTURE(as_double);
          const DrawnField field(dimensions, grid_of(dimensions), samples, 3, 7, as_double);
          const std::vector<Point> points = random_points(300, 1);
          const std::vector<Point> found = mapped(device, field.transform, points);
          double worst = 0;
          for (std::size_t i = 0; i < points.size(); ++i)
            worst = std::max(worst, distance(found[i], field(points[i])));
          CHECK(worst <= rounding);
        }
      }
    }
  });
}

TEST_CASE("map_points: a cubic field goes through its samples") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      const DrawnField field(dimensions, grid_of(dimensions), Samples::cubic, 2, 5, true);
      const PointGrid& grid = field.grid;
      std::vector<Point> points;
      std::vector<Point> expected;
      for (std::int64_t i = 0; i < grid.shape.pixels(); i += 7) {
        points.push_back(
            {grid.origin.x + grid.spacing.x * static_cast<double>(i % grid.shape.width),
             grid.origin.y +
                 grid.spacing.y * static_cast<double>(i / grid.shape.width % grid.shape.height),
             dimensions == 3
                 ? grid.origin.z + grid.spacing.z * static_cast<double>(i / grid.shape.plane())
                 : 0});
        expected.push_back(points.back());
        for (std::size_t c = 0; c < field.components.size(); ++c)
          expected.back()[c] += field.components[c].values[static_cast<std::size_t>(i)];
      }
      const std::vector<Point> found = mapped(device, field.transform, points);
      for (std::size_t i = 0; i < points.size(); ++i)
        CHECK(distance(found[i], expected[i]) <= rounding);
    }
  });
}

TEST_CASE("map_points: an inverse leads back, and beyond the grid as it is told") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const Samples samples : {Samples::linear, Samples::coefficients}) {
        CAPTURE(dimensions);
        CAPTURE(static_cast<int>(samples));
        // 0.5 largest * frequency: derivatives below 0.7, so that nothing folds.
        const DrawnField field(dimensions, grid_of(dimensions), samples, 1.2, 3, false);
        const std::vector<Point> points = random_points(300, 2);
        const std::vector<Point> found = mapped(device, field.transform.inverse(), points);
        // The iteration ends at 1e-10 of the smallest spacing, 1.5 or 2.
        for (std::size_t i = 0; i < points.size(); ++i)
          CHECK(distance(field(found[i]), points[i]) <= 3e-10);
        const std::vector<Point> marked =
            mapped(device, field.transform.inverse(), {{500, 500, 500}}, OutsideField::nan);
        CHECK(std::isnan(marked[0][0]));
        const std::vector<Point> kept =
            mapped(device, field.transform.inverse(), {{500, 500, 500}}, OutsideField::zero);
        CHECK(kept[0] == Point{500, 500, 500});
      }
    }
  });
}

// The first steps are single precision, in which coordinates of 8192 are off by 5e-4.
TEST_CASE("map_points: an inverse is as exact far from the origin, and beyond the grid") {
  on_devices_with_double([](const warpalign::Device& device) {
    for (const bool as_double : {false, true}) {
      CAPTURE(as_double);
      const DrawnField field(2, {.shape = {513, 7, 1}, .origin = {-3, 2, 0}, .spacing = {16, 4, 1}},
                             Samples::linear, 5, 7, as_double);
      std::mt19937 random(3);
      std::uniform_real_distribution<double> across(-50, 8300);
      std::uniform_real_distribution<double> down(-20, 50);
      std::vector<Point> points(3000);
      for (Point& point : points) point = {across(random), down(random), 0};
      const std::vector<Point> found = mapped(device, field.transform.inverse(), points);
      double worst = 0;
      for (std::size_t i = 0; i < points.size(); ++i)
        worst = std::max(worst, distance(field(found[i]), points[i]));
      // The iteration ends at 1e-10 of the smallest spacing, 4; coordinates are rounded to 1e-12.
      CHECK(worst <= 4.1e-10);
    }
  });
}

TEST_CASE("map_points: beyond its grid, a field has the value at the edge, none, or NaN") {
  on_devices_with_double([](const warpalign::Device& device) {
    const DrawnField field(2, grid_of(2), Samples::linear, 3, 4, true);
    const std::vector<Point> beyond{{-20, 10, 0}};
    CHECK(distance(mapped(device, field.transform, beyond)[0], field(beyond[0])) <= rounding);
    CHECK(mapped(device, field.transform, beyond, OutsideField::zero)[0] == beyond[0]);
    CHECK(std::isnan(mapped(device, field.transform, beyond, OutsideField::nan)[0][0]));
  });
}

TEST_CASE("map_points: a chain on a grid applies its members in order") {
  on_devices_with_double([](const warpalign::Device& device) {
    const DrawnField field(3, grid_of(3), Samples::linear, 2, 9, false);
    warpalign::HomogeneousMatrix m;
    m.m = {1.1, 0.1, 0, 2, -0.1, 0.9, 0.05, 1, 0, 0.1, 1, -1, 0, 0, 0, 1};
    const Transform affine = Transform::of_matrix(warpalign::TransformKind::affine, 3, m);
    const Transform chain = affine * field.transform * affine;
    const PointGrid grid{.shape = {9, 8, 7}, .origin = {1, 2, 3}, .spacing = {2, 1, 1.5}};
    warpalign::Stream stream = device.make_stream();
    warpalign::Image positions = device.make_image(PixelType::f64, {9, 8, 21});
    warpalign::Image displacements = device.make_image(PixelType::f64, {9, 8, 21});
    const DeviceTransform on_device(device, chain);
    on_device.positions(stream, grid, positions);
    on_device.field(stream, grid, displacements, OutsideField::edge,
                    warpalign::ComponentOrder::zyx);
    std::vector<double> found(9 * 8 * 21);
    std::vector<double> relative(found.size());
    stream.download(positions.buffer(), found.data(), found.size() * sizeof(double));
    stream.download(displacements.buffer(), relative.data(), relative.size() * sizeof(double));
    stream.finish();
    const auto by_matrix = [&](const Point& p) {
      Point q{};
      for (std::size_t a = 0; a < 3; ++a)
        q[a] = m.m[4 * a] * p[0] + m.m[4 * a + 1] * p[1] + m.m[4 * a + 2] * p[2] + m.m[4 * a + 3];
      return q;
    };
    for (std::size_t i = 0; i < 9 * 8 * 7; ++i) {
      const Point p{1 + 2 * static_cast<double>(i % 9), 2 + static_cast<double>(i / 9 % 8),
                    3 + 1.5 * static_cast<double>(i / 72)};
      const Point expected = by_matrix(field(by_matrix(p)));
      for (std::size_t a = 0; a < 3; ++a) {
        CHECK(std::abs(found[a * 504 + i] - expected[a]) <= rounding);
        CHECK(std::abs(relative[(2 - a) * 504 + i] - (expected[a] - p[a])) <= rounding);
      }
    }
  });
}

TEST_CASE("map_points: a homography divides") {
  on_devices_with_double([](const warpalign::Device& device) {
    const warpalign::Homography h({1, 0.1, 2, 0, 1.2, 3, 1e-3, 2e-3, 1});
    const Point found = mapped(device, Transform::homography(h), {{12, -5, 0}})[0];
    const double w = 1 + 12e-3 - 10e-3;
    CHECK(std::abs(found[0] - (12 - 0.5 + 2) / w) <= rounding);
    CHECK(std::abs(found[1] - (-6 + 3) / w) <= rounding);
  });
}

TEST_CASE("map_points: wrong arguments are refused before anything runs") {
  on_devices_with_double([](const warpalign::Device& device) {
    const std::vector<double> corners{0, 0, 10, 0, 0, 10, 10, 10};
    const std::vector<double> moved{0, 0, 10, 0, 0, 10, 11, 12};
    const Transform plate = Transform::thin_plate(2, corners, moved);
    CHECK(!DeviceTransform::is_supported(device, plate));
    CHECK_THROWS_AS(DeviceTransform(device, plate), warpalign::Error);
    const DeviceTransform identity(device, Transform());
    warpalign::Stream stream = device.make_stream();
    warpalign::Image few = device.make_image(PixelType::f64, {4, 1, 1});
    CHECK_THROWS_AS(identity.points(stream, few, 3, 0, {2, 1}), warpalign::Error);
    CHECK_THROWS_AS(identity.points(stream, few, 2, 0, {2, -1}), warpalign::Error);
    CHECK_THROWS_AS(identity.positions(stream, PointGrid{.shape = {4, 4, 1}}, few),
                    warpalign::Error);
    warpalign::Image floats = device.make_image(PixelType::f32, {4, 1, 1});
    CHECK_THROWS_AS(identity.points(stream, floats, 2, 0, {2, 1}), warpalign::Error);
    CHECK_NOTHROW(identity.points(stream, few, 0, 0, {2, 1}));
  });
}
