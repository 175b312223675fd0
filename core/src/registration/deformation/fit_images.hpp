// Two images or volumes at all levels of a deformable registration, prepared for the fit.
#pragma once

#include "registration/deformation/deformable_levels.hpp"
#include "registration/deformation/deformation_source.hpp"
#include "registration/deformation/noise_floor.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/backend/stages/refinement/local_correlation.hpp>
#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// An image to fit: f32, with finite values also where pixels are not known.
struct FitImage {
  const Image& values;
  KnownPixels known;
};

/// How the intensities of the images depend on each other.
enum class IntensityRelation {
  same,  ///< within a window, by a positive gain and an offset
  any    ///< by a gain of either sign, which differs from window to window
};

/// The pixels of a level that count, on the host and on the device.
struct FitMasks {
  std::vector<float> reference_known, moving_known, counted;
  Image reference, moving;
};

/// One level of both images, and memory for its pixels. Independent of the control points.
struct ImageLevel {
  ImageLevel(const Device& device, const DeformableLevel& geometry, IntensityRelation relation);

  /// The mean correlation of the windows of the last forces; for IntensityRelation::any, the root
  /// of the mean of its square. Waits for the device.
  [[nodiscard]] double mean_correlation(Stream& stream) const;
  /// The correlation that the same windows would have if the images differed by their noise only.
  /// Waits for the device.
  [[nodiscard]] double expected_correlation(Stream& stream, StageClock& clock);

  DeformableLevel geometry;
  IntensityRelation relation;
  LocalCorrelationPlan correlation;
  const Image* reference = nullptr;  ///< of the last set of images
  const Image* moving = nullptr;
  std::optional<FitMasks> masks;  ///< empty if all pixels are known
  IntensityVariance reference_variance, moving_variance;
  /// The pose of DeformationGridPlan::execute_warp(), and arrays of pixels: what execute_warp()
  /// samples, the statistics of the reference's windows, the forces, and the determinants.
  Image pose, samples, statistics, forces, determinants, extremes;
  /// A few regularly spaced pixels of the reference, the moving image, and arrays of two pixels.
  Image few_of_reference, few_of_moving, few_of_two;
};

/// All levels. Keeps plans and memory for images of the same shapes.
class FitImages {
 public:
  FitImages(const Device& device, std::span<const DeformableLevel> levels,
            IntensityRelation relation);

  /// Makes the levels of these images, which must live until the last use of a level. `affine` maps
  /// pixels of the reference to the moving image. Windows with a pixel that is not known do not
  /// count.
  void set(Stream& stream, StageClock& clock, const FitImage& reference, const FitImage& moving,
           const HomogeneousMatrix& affine);

  /// The number of levels.
  [[nodiscard]] std::size_t count() const noexcept { return levels_.size(); }
  /// Level 0 is the finest.
  [[nodiscard]] const ImageLevel& level(std::size_t number) const { return levels_[number]; }
  [[nodiscard]] ImageLevel& level(std::size_t number) { return levels_[number]; }

 private:
  /// The images of a coarser level.
  struct Halved {
    Image reference, moving;
    HalveVolumePlan halve_reference, halve_moving;
  };
  void halve(Stream& stream, StageClock& clock, const FitImage& reference, const FitImage& moving);
  void make_masks(Stream& stream, const FitImage& reference, const FitImage& moving);

  Device device_;
  std::vector<ImageLevel> levels_;
  std::vector<Halved> halved_;  // of levels 1, 2 and so on
};

}  // namespace warpalign::detail
