// Fits a free-form deformation between two images or volumes, on the device.
#pragma once

#include "registration/deformation/control_grid.hpp"
#include "registration/deformation/fit_images.hpp"
#include "registration/deformation/judgement/structure_correlation.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

struct DeformableSettings {
  /// At least min_grid_spacing. Empty: default_grid_spacing, or fine_grid_spacing where the images
  /// differ by more than that follows.
  std::optional<double> grid_spacing{};
  double bending_weight = 0.5;  ///< of the bending energy, above 0
};

/// The relation of images that the affine step registered by a modality.
[[nodiscard]] constexpr IntensityRelation relation_of(Modality modality) noexcept {
  return modality == Modality::other ? IntensityRelation::any : IntensityRelation::same;
}

/// Fits the control points of a deformation from coarse to fine, with the chosen grid or that which
/// the images need. Keeps plans and memory for images of the same shapes.
class DeformableFit {
 public:
  /// `spacing`: between pixels, in the same unit for both.
  DeformableFit(const Device& device, const Shape& reference, const Point3& reference_spacing,
                const Shape& moving, const Point3& moving_spacing,
                const DeformableSettings& settings,
                IntensityRelation relation = IntensityRelation::same);

  /// The fit for images of these shapes: `kept`, or a new one in its place.
  [[nodiscard]] static DeformableFit& of(std::optional<DeformableFit>& kept, const Device& device,
                                         const Shape& reference, const Point3& reference_spacing,
                                         const Shape& moving, const Point3& moving_spacing,
                                         const DeformableSettings& settings,
                                         IntensityRelation relation = IntensityRelation::same);

  [[nodiscard]] bool matches(const Shape& reference, const Shape& moving,
                             IntensityRelation relation = IntensityRelation::same) const {
    return default_levels_.front().reference == reference &&
           default_levels_.front().moving == moving && relation_ == relation;
  }
  /// The correlations of the deformation are means of the windows; if the gain may have either
  /// sign, roots of mean squares. `affine` maps pixels of the reference to the moving image.
  /// Windows with a pixel that is not known do not count. Waits for the device.
  [[nodiscard]] Deformation run(Stream& stream, StageClock& clock, const FitImage& reference,
                                const FitImage& moving, const HomogeneousMatrix& affine,
                                bool judged = false);
  /// What the last run() reached at the judged level, with the default or the given grid, if it had
  /// `judged`.
  [[nodiscard]] const StructureCorrelation& structure() const { return structure_; }

 private:
  /// The level whose correlations tell whether the images belong together.
  [[nodiscard]] std::size_t judged_level() const;
  void judge(Stream& stream, StageClock& clock, std::size_t number);
  /// Fits the levels before `end`, coarsest first, down to `last`.
  void fit(Stream& stream, StageClock& clock, ControlGrid& grid, std::size_t end, std::size_t last,
           bool judged, FittedField& field);
  /// The grid that follows what differs by more than noise after the default one, as level `number`
  /// tells: the default one, or the fine one.
  ControlGrid& chosen_grid(Stream& stream, StageClock& clock, std::size_t number);

  Device device_;
  DeformableSettings settings_;
  IntensityRelation relation_;
  std::vector<DeformableLevel> default_levels_, fine_levels_;  // finest first
  FitImages images_;
  ControlGrid grid_;
  std::optional<ControlGrid> fine_grid_;
  StructureCorrelation structure_;
};

}  // namespace warpalign::detail
