// Gauss-Newton on the four parameters of a similarity, for one pair of images.
#pragma once

#include "registration/plan_cache.hpp"
#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/registrar.hpp>

#include <optional>

namespace warpalign::detail {

/// The standard deviation of normal residuals is this many times their mean absolute value,
/// sqrt(pi / 2).
inline constexpr double deviation_per_mean_absolute = 1.2533;

/// As fine as local light is looked for, and the coarsest that LightFieldPlan takes.
inline constexpr int min_illumination_cell = 8;
inline constexpr int max_illumination_cell = 64;

/// How far a fit goes.
struct FitOptions {
  Motion motion = Motion::similarity;
  int iterations = 10;     ///< at most
  double settled = 0.001;  ///< the largest move of a corner, in moving pixels, that ends it
  double drift = 0.03;  ///< the largest move of all, as a part of the larger side of either image
  int illumination_cell = 0;  ///< gain and offset vary over the picture, by cells of so many
                              ///< reference pixels; 0: one light for the whole
  double illumination_noise = 0;  ///< with it: the variance that noise adds to the images
};

struct FitResult {
  Affine matrix;
  bool settled = false;
  double last_move = 0;    ///< of a corner, in the last step, in moving pixels
  double correlation = 0;  ///< normalised, of the pixels in common at the last step's start
  double pixels = 0;       ///< how many these are
};

/// The gain and offset between two whole pictures, and what they are worked out from.
struct Light {
  double gain = 1, offset = 0, reference = 0, moving = 0, variance = 0;
};

/// Fits of images of given shapes; keeps plans and memory between calls.
class SimilarityFit {
 public:
  explicit SimilarityFit(const Device& device) : device_(device) {}

  /// Margins as in SimilaritySumsSpec.
  struct Pair {
    SimilarityImages images;
    int reference_margin = 0;
    int moving_margin = 1;
  };

  /// `known`: look() at `start`, where it was called before. Nothing where the images do not have
  /// enough in common or the fit runs away. Waits.
  std::optional<FitResult> fit(Stream& stream, StageClock& clock, const Pair& pair,
                               const Affine& start, const FitOptions& options,
                               const SimilaritySumsResult* known = nullptr);

  /// The sums at a place, all pixels alike. Waits.
  SimilaritySumsResult look(Stream& stream, StageClock& clock, const Pair& pair,
                            const Affine& matrix);

  /// The same with the residuals that local light leaves, see FitOptions.
  SimilaritySumsResult look_under_illumination(Stream& stream, StageClock& clock, const Pair& pair,
                                               const Affine& matrix, const FitOptions& options);

 private:
  struct Plans {
    SimilaritySumsPlan sums;
    std::optional<IlluminationPlan> illumination;
    std::optional<Image> field;
  };
  Plans& plans_of(const Pair& pair, int illumination_cell);
  void find_illumination(Stream& stream, StageClock& clock, const Pair& pair, const Affine& matrix,
                         const Light& global, double noise, Plans& plans);

  Device device_;
  PlanCache<SimilaritySumsSpec, Plans> plans_{24};
};

/// The normalised correlation of the pixels that the sums are of; 0 where either does not vary.
[[nodiscard]] double correlation_of(const SimilaritySumsResult& sums);

/// The largest distance between where two transforms map the corners of `shape`.
[[nodiscard]] double corner_distance(const Affine& a, const Affine& b, const Shape& shape);

}  // namespace warpalign::detail
