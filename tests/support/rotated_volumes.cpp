// Pairs of volumes that are related by an exactly known affine transform.
#include "support/rotated_volumes.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace test {

namespace {

using warpalign::Point3;
using warpalign::Shape;
using Vector = std::array<double, 3>;
using Rows = std::array<double, 12>;

struct Blob {
  Vector centre;
  double sigma, height;
};

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  double unit() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit());
  }

 private:
  std::mt19937 engine_;
};

Vector moved_by(const Rows& rows, const Vector& v) {
  Vector moved{};
  for (std::size_t i = 0; i < 3; ++i) {
    moved[i] =
        rows[4 * i] * v[0] + rows[4 * i + 1] * v[1] + rows[4 * i + 2] * v[2] + rows[4 * i + 3];
  }
  return moved;
}

Rows inverse(const Rows& t) {
  const auto minor = [&](std::size_t i, std::size_t j) {
    const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return t[4 * a + c] * t[4 * b + d] - t[4 * a + d] * t[4 * b + c];
  };
  const double det = t[0] * minor(0, 0) + t[1] * minor(0, 1) + t[2] * minor(0, 2);
  Rows inverted{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) inverted[4 * i + j] = minor(j, i) / det;
    for (std::size_t j = 0; j < 3; ++j) {
      inverted[4 * i + 3] -= inverted[4 * i + j] * t[4 * j + 3];
    }
  }
  return inverted;
}

/// The voxels of a volume and their positions.
struct Grid {
  Shape shape;
  Vector spacing;

  [[nodiscard]] std::array<std::int64_t, 3> sides() const {
    return {shape.width, shape.height, shape.depth};
  }
  [[nodiscard]] double position(std::size_t axis, double index) const {
    return (index - static_cast<double>(sides()[axis] - 1) / 2) * spacing[axis];
  }
  [[nodiscard]] double index(std::size_t axis, double position) const {
    return position / spacing[axis] + static_cast<double>(sides()[axis] - 1) / 2;
  }
  [[nodiscard]] Vector corner(unsigned number) const {
    Vector v{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool last = (number >> axis & 1U) != 0;
      v[axis] = position(axis, last ? static_cast<double>(sides()[axis] - 1) : 0);
    }
    return v;
  }
};

Grid grid_of(const Shape& shape, const Point3& spacing) {
  return {shape, {spacing.x, spacing.y, spacing.z}};
}

/// Blobs wherever either volume can see them: on average one in a cube with a side of 3 sigma.
std::vector<Blob> blobs_for(const RotatedPairSpec& spec, std::uint32_t seed) {
  const Grid reference = grid_of(spec.reference, spec.reference_spacing);
  const Grid moving = grid_of(spec.moving, spec.moving_spacing);
  const Rows back = inverse(spec.transform);
  Vector low{1e9, 1e9, 1e9}, high{-1e9, -1e9, -1e9};
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (const Vector& v : {reference.corner(corner), moved_by(back, moving.corner(corner))}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], v[axis] - 4 * spec.blob_sigma);
        high[axis] = std::max(high[axis], v[axis] + 4 * spec.blob_sigma);
      }
    }
  }
  double cubes = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    cubes *= (high[axis] - low[axis]) / (3 * spec.blob_sigma);
  }
  Random random(seed);
  std::vector<Blob> blobs;
  for (std::size_t i = 0; i < static_cast<std::size_t>(cubes) + 1; ++i) {
    Blob blob{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      blob.centre[axis] = random.between(low[axis], high[axis]);
    }
    blob.sigma = spec.blob_sigma * random.between(1, 2);
    blob.height = random.between(-1, 1);
    const double distance = std::hypot(blob.centre[0], blob.centre[1], blob.centre[2]);
    if (spec.object_radius > 0) {
      if (distance > spec.object_radius) continue;
      blob.height = std::abs(blob.height);
    }
    blobs.push_back(blob);
  }
  return blobs;
}

/// The sum of the blobs at the position that each voxel shows. `to_grid` maps the blobs' positions
/// to the grid's.
std::vector<double> draw(const std::vector<Blob>& blobs, const Grid& grid, const Rows& to_grid) {
  constexpr double reach = 6;  // in sigma; a Gaussian is below 2e-8 there
  const Rows back = inverse(to_grid);
  double stretch = 0;  // an upper bound for the transform
  for (std::size_t i = 0; i < 3; ++i) {
    stretch += to_grid[4 * i] * to_grid[4 * i] + to_grid[4 * i + 1] * to_grid[4 * i + 1] +
               to_grid[4 * i + 2] * to_grid[4 * i + 2];
  }
  stretch = std::sqrt(stretch);
  const auto sides = grid.sides();
  std::vector<double> volume(static_cast<std::size_t>(grid.shape.pixels()), 0.5);
  for (const Blob& blob : blobs) {
    const Vector centre = moved_by(to_grid, blob.centre);
    std::array<std::int64_t, 3> first{}, end{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double radius = std::min(stretch, 3.0) * reach * blob.sigma;
      const double low = grid.index(axis, centre[axis] - radius);
      const double high = grid.index(axis, centre[axis] + radius);
      const auto side = static_cast<double>(sides[axis]);
      first[axis] = static_cast<std::int64_t>(std::ceil(std::clamp(low, 0.0, side)));
      end[axis] = static_cast<std::int64_t>(std::floor(std::clamp(high + 1, 0.0, side)));
    }
    for (std::int64_t z = first[2]; z < end[2]; ++z) {
      for (std::int64_t y = first[1]; y < end[1]; ++y) {
        for (std::int64_t x = first[0]; x < end[0]; ++x) {
          const Vector v = moved_by(back, {grid.position(0, static_cast<double>(x)),
                                           grid.position(1, static_cast<double>(y)),
                                           grid.position(2, static_cast<double>(z))});
          double square = 0;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            square += (v[axis] - blob.centre[axis]) * (v[axis] - blob.centre[axis]);
          }
          square /= blob.sigma * blob.sigma;
          if (square > reach * reach) continue;
          volume[static_cast<std::size_t>((z * sides[1] + y) * sides[0] + x)] +=
              0.5 * blob.height * std::exp(-square / 2);
        }
      }
    }
  }
  return volume;
}

}  // namespace

HostPairOfVolumes draw_rotated_pair(const RotatedPairSpec& spec) {
  const auto blobs = blobs_for(spec, spec.seed);
  const auto others = spec.unrelated ? blobs_for(spec, spec.seed + 500'000'000) : blobs;
  const Rows still{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const auto reference = draw(blobs, grid_of(spec.reference, spec.reference_spacing), still);
  const auto moving = draw(others, grid_of(spec.moving, spec.moving_spacing), spec.transform);
  return with_noise(reference, moving, spec.noise, spec.seed);
}

// The rotation about an axis by Rodrigues' formula.
Rows turn(const Point3& axis, double degrees, const Point3& shift, double scale) {
  const double length = std::hypot(axis.x, axis.y, axis.z);
  const Vector n{axis.x / length, axis.y / length, axis.z / length};
  const double c = std::cos(degrees * 0.017453292519943295);
  const double s = std::sin(degrees * 0.017453292519943295);
  const Vector moved{shift.x, shift.y, shift.z};
  Rows rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double entry = (1 - c) * n[i] * n[j] + (i == j ? c : 0);
      if (j == (i + 1) % 3) entry -= s * n[(i + 2) % 3];
      if (j == (i + 2) % 3) entry += s * n[(i + 1) % 3];
      rows[4 * i + j] = scale * entry;
    }
    rows[4 * i + 3] = moved[i];
  }
  return rows;
}

double corner_error(const RotatedPairSpec& spec, const std::array<double, 16>& matrix) {
  const Grid reference = grid_of(spec.reference, spec.reference_spacing);
  const Grid moving = grid_of(spec.moving, spec.moving_spacing);
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    const Vector v = reference.corner(corner);
    const Vector truth = moved_by(spec.transform, v);
    double square = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      double found = matrix[4 * i + 3];
      for (std::size_t j = 0; j < 3; ++j) {
        found += matrix[4 * i + j] * reference.index(j, v[j]);
      }
      const double off = found - moving.index(i, truth[i]);
      square += off * off;
    }
    largest = std::max(largest, std::sqrt(square));
  }
  return largest;
}

}  // namespace test
