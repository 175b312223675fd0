// The control points of a deformation at all levels, and their optimisation.
#pragma once

#include "registration/deformation/fit_images.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/backend/stages/refinement/deformation_step.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The Jacobian determinants of a field.
struct DeterminantRange {
  double least = 1, most = 1;
  double extreme = 0;  ///< the share of pixels with one below 0.3 or above 3
};

/// A field at one level.
struct FittedField {
  std::vector<float> coefficients;  ///< empty before the first level
  DeterminantRange determinants;
};

/// Maximises the mean correlation of small windows (or, if the gain may have either sign, half the
/// mean of its square, as Avants et al. 2008 do) over the coefficients of a cubic B-spline
/// (Rueckert et al. 1999), minus its bending energy, from coarse to fine. Each step divides the
/// derivative at a control point by its curvature, as Gauss-Newton approximates it, summed over the
/// pixels that it reaches: an upper bound, so that steps do not overshoot. Steps are accelerated
/// (Nesterov 1983). Keeps plans and memory.
class ControlGrid {
 public:
  /// `levels`: finest first.
  ControlGrid(const Device& device, std::span<const DeformableLevel> levels, double bending_weight);

  /// The control points of the finest level.
  [[nodiscard]] const DeformationGridSpec& spec() const { return levels_.front().spec; }

  /// Fits level `number`, from a field of the next coarser one, or from no displacement. The field
  /// has no fold afterwards. Waits for the device.
  void fit(Stream& stream, StageClock& clock, ImageLevel& images, std::size_t number,
           FittedField& field);
  /// Resamples the moving image by the last field of level `number`, and computes the correlations
  /// of the windows.
  void compare(Stream& stream, StageClock& clock, ImageLevel& images, std::size_t number);
  /// The same without any displacement, at a level that was not fitted yet.
  void compare_undeformed(Stream& stream, StageClock& clock, ImageLevel& images,
                          std::size_t number);

 private:
  struct Level {
    Level(const Device& device, const DeformableLevel& geometry);
    DeformableLevel geometry;
    DeformationGridSpec spec;
    DeformationGridPlan grid;
    DeformationStepPlan step;
    Image point, next, coefficients, sums, inverse, marks;
  };

  static void compare_at(Stream& stream, StageClock& clock, ImageLevel& images, const Level& level,
                         const Image& coefficients);
  /// The sums, at each control point, of the curvatures of the pixels that it reaches.
  static std::vector<float> curvatures(Stream& stream, StageClock& clock, ImageLevel& images,
                                       Level& level);
  /// The factors of a step, after the curvatures are on the device.
  [[nodiscard]] DeformationStepFactors step_factors(Stream& stream, StageClock& clock,
                                                    ImageLevel& images, Level& level) const;
  /// The determinants of the coefficients in the level's memory, which stay there.
  static DeterminantRange determinants(Stream& stream, StageClock& clock, ImageLevel& images,
                                       const Level& level);
  /// Changes coefficients until no determinant is below a limit.
  static void unfold(Stream& stream, StageClock& clock, ImageLevel& images, Level& level,
                     FittedField& field);

  double bending_weight_;
  std::vector<Level> levels_;  // finest first
};

}  // namespace warpalign::detail
