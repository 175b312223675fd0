// Fits a free-form deformation between two images or volumes, on the device.
#pragma once

#include "registration/deformation/deformable_levels.hpp"
#include "registration/deformation/deformation_source.hpp"
#include "registration/deformation/structure_correlation.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/deformation_step.hpp>
#include <warpalign/backend/stages/refinement/local_correlation.hpp>
#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace warpalign::detail {

struct DeformableSettings {
  double grid_spacing = default_grid_spacing;  ///< at least min_grid_spacing
  double bending_weight = 0.5;                 ///< of the bending energy, above 0
};

/// An image to fit: f32, with finite values also where pixels are not known.
struct FitImage {
  const Image& values;
  KnownPixels known;
};

/// The Jacobian determinants of a field.
struct DeterminantRange {
  double least = 1, most = 1;
  double extreme = 0;  ///< the share of pixels with one below 0.3 or above 3
};

/// How the intensities of the images depend on each other.
enum class IntensityRelation {
  same,  ///< within a window, by a positive gain and an offset
  any    ///< by a gain of either sign, which differs from window to window
};

/// The relation of images that the affine step registered by a modality.
[[nodiscard]] constexpr IntensityRelation relation_of(Modality modality) noexcept {
  return modality == Modality::other ? IntensityRelation::any : IntensityRelation::same;
}

/// Maximises the mean correlation of small windows (or, if the gain may have either sign, half the
/// mean of its square, as Avants et al. 2008 do) over the coefficients of a cubic B-spline
/// (Rueckert et al. 1999), minus its bending energy, from coarse to fine. Each step divides the
/// derivative at a control point by its curvature, as Gauss-Newton approximates it, summed over the
/// pixels that it reaches: an upper bound, so that steps do not overshoot. Steps are accelerated
/// (Nesterov 1983). Keeps plans and memory for images of the same shapes.
class DeformableFit {
 public:
  /// `spacing`: between pixels, in the same unit for both.
  DeformableFit(const Device& device, const Shape& reference, const Point3& reference_spacing,
                const Shape& moving, const Point3& moving_spacing,
                const DeformableSettings& settings,
                IntensityRelation relation = IntensityRelation::same);
  DeformableFit(DeformableFit&&) noexcept;
  DeformableFit& operator=(DeformableFit&&) noexcept;
  ~DeformableFit();

  /// The fit for images of these shapes: `kept`, or a new one in its place.
  [[nodiscard]] static DeformableFit& of(std::optional<DeformableFit>& kept, const Device& device,
                                         const Shape& reference, const Point3& reference_spacing,
                                         const Shape& moving, const Point3& moving_spacing,
                                         const DeformableSettings& settings,
                                         IntensityRelation relation = IntensityRelation::same);

  [[nodiscard]] bool matches(const Shape& reference, const Shape& moving,
                             IntensityRelation relation = IntensityRelation::same) const {
    return levels_.front().level.reference == reference && levels_.front().level.moving == moving &&
           relation_ == relation;
  }
  /// The correlations of the deformation are means of the windows; if the gain may have either
  /// sign, roots of mean squares. `affine` maps pixels of the reference to the moving image.
  /// Windows with a pixel that is not known do not count. Waits for the device.
  [[nodiscard]] Deformation run(Stream& stream, StageClock& clock, const FitImage& reference,
                                const FitImage& moving, const HomogeneousMatrix& affine,
                                bool judged = false);
  /// What the last run() reached at the judged level, if it had `judged`.
  [[nodiscard]] const StructureCorrelation& structure() const { return structure_; }

 private:
  struct Work;
  /// The pixels of a level that count, on the host and on the device.
  struct Masks {
    std::vector<float> reference_known, moving_known, counted;
    Image reference, moving;
  };
  struct Level {
    Level(const Device& device, const DeformableLevel& geometry, IntensityRelation relation);
    Level(Level&&) noexcept;
    Level& operator=(Level&&) noexcept;
    ~Level();
    DeformableLevel level;
    DeformationGridSpec spec;
    DeformationGridPlan grid;
    LocalCorrelationPlan correlation;
    DeformationStepPlan step;
    std::optional<Image> reference, moving;  // of coarser levels
    std::optional<HalveVolumePlan> halve_reference, halve_moving;
    std::unique_ptr<Work> work;
    std::optional<Masks> masks;
  };
  struct Field {
    std::vector<float> coefficients;
    double correlation_before = 0, correlation = 0;
    DeterminantRange determinants;
    StructureCorrelation structure;
  };

  [[nodiscard]] double mean_correlation(Stream& stream, const Level& level) const;
  /// The level whose correlations tell whether the images belong together.
  [[nodiscard]] std::size_t judged_level() const;
  [[nodiscard]] const Image& image_of(std::size_t number, const Image& finest,
                                      std::optional<Image> Level::*coarser) const;
  void make_levels(Stream& stream, StageClock& clock, const Image& reference, const Image& moving);
  void make_masks(Stream& stream, const FitImage& reference, const FitImage& moving);
  /// The sums, at each control point, of the curvatures of the voxels that it reaches.
  std::vector<float> curvatures(Stream& stream, StageClock& clock, const Level& level,
                                const Image& reference) const;
  void optimize(Stream& stream, StageClock& clock, std::size_t number, const Image& reference,
                const Image& moving, const HomogeneousMatrix& affine, bool judged,
                Field& field) const;
  /// The determinants of the coefficients in the level's memory, which stay there.
  DeterminantRange determinants(Stream& stream, StageClock& clock, const Level& level) const;
  /// Changes coefficients until no determinant is below a limit.
  void unfold(Stream& stream, StageClock& clock, const Level& level, Field& field) const;
  [[nodiscard]] Deformation described(const Field& field, const HomogeneousMatrix& affine) const;

  Device device_;
  DeformableSettings settings_;
  IntensityRelation relation_;
  std::vector<Level> levels_;  // finest first
  StructureCorrelation structure_;
};

}  // namespace warpalign::detail
