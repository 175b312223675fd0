// Transforms of points and of whole grids, divided among the processors.
#include "device/lanes.hpp"
#include "transforms/evaluation.hpp"
#include "transforms/matrices.hpp"
#include "transforms/refuse.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <string>

namespace warpalign {

using detail::Matrix3;
using detail::TransformState;
using detail::Vector3;

namespace {

// Points that are mapped together: their coordinates stay in the first cache.
constexpr std::size_t block_size = 512;
// A thread starts in about the time in which another one maps this many points.
constexpr std::size_t points_per_part = 16384;

/// The coordinates of a block of points.
class Block {
 public:
  [[nodiscard]] double* axis(std::size_t a) { return values_[a].data(); }
  [[nodiscard]] std::span<double* const> axes(int dimensions) {
    pointers_ = {axis(0), axis(1), axis(2)};
    return {pointers_.data(), static_cast<std::size_t>(dimensions)};
  }

 private:
  std::array<std::array<double, block_size>, 3> values_{};
  std::array<double*, 3> pointers_{};
};

/// Calls process(first, end) for blocks that cover `count` points.
template <class Process>
void in_parallel(std::size_t count, const Process& process) {
  const std::size_t parts = (count + points_per_part - 1) / points_per_part;
  const std::size_t lanes = std::min(detail::host_threads(), parts);
  detail::run_in_lanes(lanes, parts, [&](std::size_t /*lane*/, std::size_t part) {
    const std::size_t end = std::min((part + 1) * points_per_part, count);
    for (std::size_t first = part * points_per_part; first < end; first += block_size) {
      process(first, std::min(first + block_size, end));
    }
  });
}

/// The points of a grid, by their number.
class GridPoints {
 public:
  explicit GridPoints(const PointGrid& grid)
      : matrix_(grid.index_to_point()),
        width_(static_cast<std::size_t>(grid.shape.width)),
        height_(static_cast<std::size_t>(grid.shape.height)) {}

  void copy(std::size_t first, std::size_t end, Block& block) const {
    const auto& m = matrix_.m;
    std::size_t x = first % width_;
    std::size_t y = first / width_ % height_;
    std::size_t z = first / width_ / height_;
    for (std::size_t i = 0; i < end - first; ++i) {
      const auto u = static_cast<double>(x);
      const auto v = static_cast<double>(y);
      const auto w = static_cast<double>(z);
      block.axis(0)[i] = m[0] * u + m[1] * v + m[2] * w + m[3];
      block.axis(1)[i] = m[4] * u + m[5] * v + m[6] * w + m[7];
      block.axis(2)[i] = m[8] * u + m[9] * v + m[10] * w + m[11];
      if (++x < width_) continue;
      x = 0;
      if (++y < height_) continue;
      y = 0;
      ++z;
    }
  }

 private:
  HomogeneousMatrix matrix_;
  std::size_t width_, height_;
};

std::size_t points_of(const TransformState& state, const PointGrid& grid) {
  detail::check_grid(state.dimensions, grid);
  return static_cast<std::size_t>(grid.shape.pixels());
}

template <class Value>
void map_grid(const TransformState& state, const PointGrid& grid,
              std::span<Value* const> components, OutsideField outside, bool relative) {
  const auto axes = static_cast<std::size_t>(state.dimensions);
  const std::size_t count = points_of(state, grid);
  if (components.size() != axes)
    detail::refuse_transform("pass memory for the values along each axis");
  const GridPoints points(grid);
  in_parallel(count, [&](std::size_t first, std::size_t end) {
    Block block;
    points.copy(first, end, block);
    Block start;
    if (relative) start = block;
    detail::map_points(state, block.axes(state.dimensions), end - first, outside);
    for (std::size_t a = 0; a < axes; ++a) {
      for (std::size_t i = 0; i < end - first; ++i) {
        const double origin = relative ? start.axis(a)[i] : 0;
        components[a][first + i] = static_cast<Value>(block.axis(a)[i] - origin);
      }
    }
  });
}

}  // namespace

Point Transform::operator()(const Point& point) const {
  const Point3 mapped = (*this)(Point3{point.x, point.y, 0});
  return {mapped.x, mapped.y};
}

Point3 Transform::operator()(const Point3& point) const {
  Point3 p = point;
  const std::array<double*, 3> axes{&p.x, &p.y, &p.z};
  detail::map_points(*state_, {axes.data(), static_cast<std::size_t>(state_->dimensions)}, 1,
                     OutsideField::edge);
  return p;
}

void Transform::points(std::span<const double> from, std::span<double> to,
                       OutsideField outside) const {
  const auto axes = static_cast<std::size_t>(state_->dimensions);
  if (from.size() != to.size() || from.size() % axes != 0) {
    detail::refuse_transform("points of " + std::to_string(axes) +
                             " dimensions: " + std::to_string(from.size()) +
                             " coordinates to map, and memory for " + std::to_string(to.size()));
  }
  const PointStrides strides{static_cast<std::ptrdiff_t>(axes), 1};
  points(from.data(), strides, to.data(), strides, from.size() / axes, outside);
}

void Transform::points(const double* from, const PointStrides& from_strides, double* to,
                       const PointStrides& to_strides, std::size_t count,
                       OutsideField outside) const {
  const auto axes = static_cast<std::size_t>(state_->dimensions);
  in_parallel(count, [&](std::size_t first, std::size_t end) {
    Block block;
    for (std::size_t a = 0; a < axes; ++a) {
      const double* p = from + static_cast<std::ptrdiff_t>(first) * from_strides.point +
                        static_cast<std::ptrdiff_t>(a) * from_strides.axis;
      double* values = block.axis(a);
      for (std::size_t i = 0; i < end - first; ++i, p += from_strides.point) values[i] = *p;
    }
    detail::map_points(*state_, block.axes(state_->dimensions), end - first, outside);
    for (std::size_t a = 0; a < axes; ++a) {
      double* p = to + static_cast<std::ptrdiff_t>(first) * to_strides.point +
                  static_cast<std::ptrdiff_t>(a) * to_strides.axis;
      const double* values = block.axis(a);
      for (std::size_t i = 0; i < end - first; ++i, p += to_strides.point) *p = values[i];
    }
  });
}

void Transform::field(const PointGrid& grid, std::span<float* const> components,
                      OutsideField outside) const {
  map_grid(*state_, grid, components, outside, true);
}

void Transform::field(const PointGrid& grid, std::span<double* const> components,
                      OutsideField outside) const {
  map_grid(*state_, grid, components, outside, true);
}

void Transform::positions(const PointGrid& grid, std::span<float* const> components,
                          OutsideField outside) const {
  map_grid(*state_, grid, components, outside, false);
}

void Transform::positions(const PointGrid& grid, std::span<double* const> components,
                          OutsideField outside) const {
  map_grid(*state_, grid, components, outside, false);
}

void Transform::jacobian(const PointGrid& grid, std::span<double> determinants) const {
  const std::size_t count = points_of(*state_, grid);
  if (determinants.size() != count) {
    detail::refuse_transform("a grid of " + std::to_string(count) +
                             " points has as many determinants, not " +
                             std::to_string(determinants.size()));
  }
  const GridPoints points(grid);
  in_parallel(count, [&](std::size_t first, std::size_t end) {
    Block block;
    points.copy(first, end, block);
    for (std::size_t i = 0; i < end - first; ++i) {
      Vector3 p{block.axis(0)[i], block.axis(1)[i], block.axis(2)[i]};
      determinants[first + i] = detail::determinant(detail::map_with_jacobian(*state_, p));
    }
  });
}

}  // namespace warpalign
