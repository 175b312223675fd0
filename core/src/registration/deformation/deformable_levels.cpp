// The levels of a deformable registration: images from coarse to fine, and their grids.
#include "registration/deformation/deformable_levels.hpp"

#include "registration/deformation/sides.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// Smaller images have too few windows, and too few control points.
constexpr std::int64_t min_side = 12;
constexpr std::size_t max_levels = 4;
Shape shape_of(const Sides& sides) { return {sides[0], sides[1], sides[2]}; }
std::array<double, 3> numbers_of(const Point3& p) { return {p.x, p.y, p.z}; }

/// An image, and the spacing of its pixels.
struct Resolution {
  Sides sides;
  std::array<double, 3> spacing;
  std::array<int, 3> factor{1, 1, 1};

  [[nodiscard]] std::size_t axes() const { return sides[2] > 1 ? 3 : 2; }
};

/// The next coarser level: halves the axes whose spacing is near the smallest.
Resolution halved(const Resolution& fine) {
  double least = fine.spacing[0];
  for (std::size_t a = 1; a < fine.axes(); ++a) least = std::min(least, fine.spacing[a]);
  Resolution coarse = fine;
  for (std::size_t a = 0; a < fine.axes(); ++a) {
    if (fine.spacing[a] > 1.5 * least || fine.sides[a] < 2 * min_side) continue;
    coarse.sides[a] /= 2;
    coarse.spacing[a] *= 2;
    coarse.factor[a] *= 2;
  }
  return coarse;
}

/// How often the distance of control points doubles from the finest level to one whose pixels are
/// `factor` times as large.
int doublings(double grid_spacing, double factor) {
  const double wanted = std::min(grid_spacing, default_grid_spacing) * factor / grid_spacing;
  return std::max(static_cast<int>(std::lround(std::log2(wanted))), 0);
}

bool can_be_halved(const Resolution& image) {
  return std::all_of(image.sides.begin(),
                     image.sides.begin() + static_cast<std::ptrdiff_t>(image.axes()),
                     [](std::int64_t side) { return side >= 2 * min_side; });
}

}  // namespace

DeformationGridSpec DeformableLevel::grid_spec() const {
  DeformationGridSpec spec;
  spec.voxels = reference;
  spec.grid = grid;
  spec.moving = moving;
  for (std::size_t a = 0; a < 3; ++a) {
    const double factor = reference_factor[a];
    spec.axes[a] = {1 + (factor - 1) / (2 * spacing[a]), factor / spacing[a], spacing[a]};
  }
  return spec;
}

Shape grid_shape(const Shape& image, const std::array<double, 3>& spacing) {
  const Sides sides = sides_of(image);
  Sides grid{1, 1, 1};
  for (std::size_t a = 0; a < (image.depth > 1 ? 3U : 2U); ++a) {
    grid[a] = static_cast<std::int64_t>(
                  std::ceil(static_cast<double>(sides[a] - 1) / spacing[a] - 1e-9)) +
              3;
    grid[a] = std::max<std::int64_t>(grid[a], 4);
  }
  return shape_of(grid);
}

std::vector<DeformableLevel> deformable_levels(const Shape& reference,
                                               const Point3& reference_spacing, const Shape& moving,
                                               const Point3& moving_spacing, double grid_spacing) {
  Resolution r{sides_of(reference), numbers_of(reference_spacing)};
  Resolution m{sides_of(moving), numbers_of(moving_spacing)};
  double least = r.spacing[0];
  for (std::size_t a = 1; a < r.axes(); ++a) least = std::min(least, r.spacing[a]);
  std::array<double, 3> finest{};
  for (std::size_t a = 0; a < 3; ++a) {
    finest[a] = std::max(grid_spacing * least / r.spacing[a], min_grid_spacing);
  }
  std::vector<DeformableLevel> levels;
  for (double factor = 1;; factor *= 2) {
    DeformableLevel level;
    level.reference = shape_of(r.sides);
    level.moving = shape_of(m.sides);
    level.reference_factor = r.factor;
    level.moving_factor = m.factor;
    for (std::size_t a = 0; a < 3; ++a) {
      level.spacing[a] = std::ldexp(finest[a], doublings(grid_spacing, factor));
    }
    level.grid = grid_shape(reference, level.spacing);
    levels.push_back(level);
    if (levels.size() == max_levels || !can_be_halved(r) || !can_be_halved(m)) return levels;
    r = halved(r);
    m = halved(m);
  }
}

}  // namespace warpalign::detail
