// The final refinement at full resolution.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pyramid/image_pyramid.hpp"
#include "registration/refinement/noise_smoothing.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/unit_weights.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

class Refinement {
 public:
  explicit Refinement(const Device& device) : device_(device) {}

  /// The input of a fit. The transform maps pixels of `coarse` to pixels of `fine`. `coarse` is the
  /// image with the larger pixels, measured in the scene.
  struct Work {
    Stream& stream;
    StageClock& clock;
    const ImagePyramid& coarse;
    const ImagePyramid& fine;
    Homography start;
    UnitWeights& unit_weights;
  };

  /// Fits the motion with the illumination model. Returns nothing if the fit diverges or its last
  /// step is still large (see is_stationary()). Waits for the device.
  std::optional<Homography> settle(const Work& work, SimilarityFit& fitter, Motion motion);

  /// Fits with these options, at a smoothing that depends on the noise. Returns nothing if the fit
  /// diverges. Waits for the device.
  std::optional<FitResult> fit(const Work& work, SimilarityFit& fitter, FitOptions options);

 private:
  struct SmoothedKey {
    PixelType type;
    Shape shape;
    bool masked;
    double sigma;
    friend bool operator==(const SmoothedKey&, const SmoothedKey&) = default;
  };
  struct Smoothed {
    SmoothPlan plan;
    Image values;
    std::optional<Image> weight;
  };
  struct Spline {
    PrefilterPlan plan;
    Image coefficients;
  };
  Smoothed& smoothed(const ImagePyramid& pyramid, double sigma,
                     PlanCache<SmoothedKey, Smoothed>& kept);
  Spline& spline_of(const Shape& shape);
  /// Both images, smoothed to the same point spread.
  SimilarityFit::Pair pair_of(const Work& work, double coarse_sigma);
  /// The sigma of the coarser image's Gaussian, in its pixels, and the variance of the noise that
  /// remains after it.
  struct Smoothing {
    double sigma, noise;
  };
  Smoothing smoothing_for(const Work& work, SimilarityFit& fitter, FitOptions options,
                          const SimilaritySumsResult& at_start);
  bool is_astray(const Work& work, SimilarityFit& fitter, const FitOptions& options, double sigma,
                 const FitResult& fitted);
  PairStatistics evaluate(const Work& work, SimilarityFit& fitter, const FitOptions& options,
                          double sigma);

  Device device_;
  PlanCache<SmoothedKey, Smoothed> coarse_{6}, fine_{6};
  PlanCache<Shape, Spline> splines_{3};
  std::vector<PairStatistics> evaluations_;  // a local of smoothing_for() that keeps its memory
  double smoothed_sigma_ = 0;                ///< sigma of the smoothed images in memory; 0: none
};

}  // namespace warpalign::detail
