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
// In pixels of the level, along the axes with the smallest spacing.
constexpr double control_spacing = 5;
// The fewest pixels between control points along the other axes.
constexpr double min_control_spacing = 2;

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

std::vector<DeformableLevel> deformable_levels(const Shape& reference,
                                               const Point3& reference_spacing, const Shape& moving,
                                               const Point3& moving_spacing) {
  Resolution r{sides_of(reference), numbers_of(reference_spacing)};
  Resolution m{sides_of(moving), numbers_of(moving_spacing)};
  const Sides full = r.sides;
  double least = r.spacing[0];
  for (std::size_t a = 1; a < r.axes(); ++a) least = std::min(least, r.spacing[a]);
  std::array<double, 3> between{};
  for (std::size_t a = 0; a < 3; ++a) {
    between[a] = std::max(control_spacing * least / r.spacing[a], min_control_spacing);
  }
  std::vector<DeformableLevel> levels;
  while (true) {
    DeformableLevel level;
    level.reference = shape_of(r.sides);
    level.moving = shape_of(m.sides);
    level.reference_factor = r.factor;
    level.moving_factor = m.factor;
    level.spacing = between;
    Sides grid{1, 1, 1};
    for (std::size_t a = 0; a < r.axes(); ++a) {
      grid[a] = static_cast<std::int64_t>(
                    std::ceil(static_cast<double>(full[a] - 1) / between[a] - 1e-9)) +
                3;
      grid[a] = std::max<std::int64_t>(grid[a], 4);
    }
    level.grid = shape_of(grid);
    levels.push_back(level);
    if (levels.size() == max_levels || !can_be_halved(r) || !can_be_halved(m)) return levels;
    r = halved(r);
    m = halved(m);
    for (double& each : between) each *= 2;
  }
}

}  // namespace warpalign::detail
