// The last refinement, at the pictures' own resolution.
#pragma once

#include "registration/ones.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/noise_smoothing.hpp"
#include "registration/similarity/similarity_fit.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

class Refinement {
 public:
  explicit Refinement(const Device& device) : device_(device) {}

  /// What a fit is of: a transform of pixels of `coarse` to pixels of `fine`, where `coarse` is the
  /// picture whose pixels cover at least as much of the scene.
  struct Work {
    Stream& stream;
    StageClock& clock;
    const ImagePyramid& coarse;
    const ImagePyramid& fine;
    Affine start;
    Ones& ones;
  };

  /// Nothing where the fit runs away. Waits.
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
  /// Both pictures smoothed to one point spread.
  SimilarityFit::Pair pair_of(const Work& work, double coarse_sigma);
  /// Of the coarser picture's Gaussian, in its pixels, and the variance of the noise that it
  /// leaves.
  struct Smoothing {
    double sigma, noise;
  };
  Smoothing smoothing_for(const Work& work, SimilarityFit& fitter, FitOptions options,
                          const SimilaritySumsResult& at_start);
  NoiseSmoothing look(const Work& work, SimilarityFit& fitter, const FitOptions& options,
                      double sigma);

  Device device_;
  PlanCache<SmoothedKey, Smoothed> coarse_{6}, fine_{6};
  PlanCache<Shape, Spline> splines_{3};
  std::vector<NoiseSmoothing> looks_;  // of one smoothing_for()
  double held_sigma_ = 0;              ///< of the pair whose images hold what they should; 0: none
};

}  // namespace warpalign::detail
