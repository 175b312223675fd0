// The refinement of a transform between images of other modalities.
#include "registration/refinement/direction_refinement.hpp"

#include <array>

namespace warpalign::detail {

namespace {

// The levels, by their side. What modalities have in common is coarse: their noise and their finest
// texture are not, and beyond the last of these levels the error no longer falls.
struct Level {
  double side;
  int iterations;
  double tolerance, max_drift;
};
constexpr std::array<Level, 3> levels_of_fit{
    {{256, 12, 0.005, 0.05}, {512, 12, 0.005, 0.03}, {1024, 12, 0.005, 0.03}}};

}  // namespace

std::optional<Homography> refined_by_directions(const PairContext& work, SimilarityFit& fitter,
                                                Motion motion, const Affine& similarity,
                                                const Homography& start) {
  const FitRoles roles(work, similarity);
  Homography matrix = roles.in_roles(start);
  double last_spacing = 0;
  for (const Level& level : levels_of_fit) {
    const double spacing = roles.spacing(level.side);
    if (spacing == last_spacing) break;  // there is nothing finer
    last_spacing = spacing;
    const FitRoles::Levels levels = roles.levels(work, spacing, FieldDetail::smoothed);
    const auto fitted = fitter.fit(work.stream, work.clock, levels.pair, levels.to_levels(matrix),
                                   {motion, level.iterations, level.tolerance, level.max_drift});
    if (!fitted || !is_at_rest(*fitted)) return std::nullopt;
    matrix = levels.to_images(fitted->matrix);
  }
  return roles.in_roles(matrix);
}

}  // namespace warpalign::detail
