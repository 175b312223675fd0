// Bounds of points in boxes of any size, compared with the box's points one by one.
#include "tiles/point_bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {

using warpalign::Region;
using warpalign::Shape;
using warpalign::detail::Interval;
using warpalign::detail::PointBounds;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Interval expected(const std::vector<float>& values, const Shape& shape, const Region& region) {
  double low = infinity, high = -infinity;
  for (std::int64_t z = 0; z < region.shape.depth; ++z) {
    for (std::int64_t y = 0; y < region.shape.height; ++y) {
      for (std::int64_t x = 0; x < region.shape.width; ++x) {
        const std::int64_t line = (region.begin[2] + z) * shape.height + region.begin[1] + y;
        const double value =
            values[static_cast<std::size_t>(line * shape.width + region.begin[0] + x)];
        if (std::isnan(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  return low <= high ? Interval{low, high} : Interval{};
}

Region random_region(std::mt19937& engine, const Shape& shape) {
  const auto along = [&](std::int64_t length) {
    std::uniform_int_distribution<std::int64_t> anywhere(0, length - 1);
    const auto ends = std::minmax({anywhere(engine), anywhere(engine)});
    return std::pair{ends.first, ends.second - ends.first + 1};
  };
  const auto x = along(shape.width), y = along(shape.height), z = along(shape.depth);
  return {{x.first, y.first, z.first}, {x.second, y.second, z.second}};
}

}  // namespace

TEST_CASE("point bounds: any box, with NaN and infinity in some") {
  std::mt19937 engine(91);
  std::normal_distribution<float> position(50, 400);
  for (const Shape& shape :
       {Shape{203, 117, 1}, Shape{70, 40, 9}, Shape{1, 1, 1}, Shape{64, 32, 2}}) {
    std::vector<float> values(static_cast<std::size_t>(shape.pixels()));
    for (float& value : values) value = position(engine);
    for (std::size_t i = 7; i < values.size(); i += 31) values[i] = not_a_number;
    if (values.size() > 5000) values[5000] = -infinity;
    const PointBounds bounds(values.data(), shape, 3);
    for (int i = 0; i < 200; ++i) {
      const Region region = random_region(engine, shape);
      const Interval found = bounds.of(region), right = expected(values, shape, region);
      CHECK(found.low == right.low);
      CHECK(found.high == right.high);
    }
  }
}

TEST_CASE("point bounds: points that read nothing have bounds of 0") {
  const Shape shape{40, 20, 1};
  const std::vector<float> values(800, not_a_number);
  const PointBounds bounds(values.data(), shape, 1);
  CHECK(bounds.of({{3, 5, 0}, {37, 15, 1}}).low == 0);
  CHECK(bounds.of({{0, 0, 0}, shape}).high == 0);
}
