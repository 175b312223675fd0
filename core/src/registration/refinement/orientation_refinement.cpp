// Refines a transform between images of different modalities.
#include "registration/refinement/orientation_refinement.hpp"

#include <array>

namespace warpalign::detail {

namespace {

// The levels, by their side. Modalities share coarse structures, but neither noise nor the finest
// texture, and finer levels than these do not reduce the error.
struct Level {
  double side;
  int iterations;
  double tolerance, max_drift;
};
constexpr std::array<Level, 3> levels_of_fit{
    {{256, 12, 0.005, 0.05}, {512, 12, 0.005, 0.03}, {1024, 12, 0.005, 0.03}}};

}  // namespace

std::optional<Homography> refine_by_orientation(const PairContext& work, SimilarityFit& fitter,
                                                Motion motion, const Affine& similarity,
                                                const Homography& start) {
  const FitDirection roles(work, similarity);
  Homography matrix = roles.to_fit_frame(start);
  double last_spacing = 0;
  for (const Level& level : levels_of_fit) {
    const double spacing = roles.spacing(level.side);
    if (spacing == last_spacing) break;  // full resolution is reached
    last_spacing = spacing;
    const FitDirection::Levels levels = roles.levels(work, spacing, FieldDetail::smoothed);
    const auto fitted = fitter.fit(work.stream, work.clock, levels.pair, levels.to_levels(matrix),
                                   {motion, level.iterations, level.tolerance, level.max_drift});
    if (!fitted || !is_stationary(*fitted)) return std::nullopt;
    matrix = levels.to_images(fitted->matrix);
  }
  return roles.to_fit_frame(matrix);
}

}  // namespace warpalign::detail
