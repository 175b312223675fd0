// The last refinement, at the pictures' own resolution.
#pragma once

#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/noise_smoothing.hpp"
#include "registration/similarity/similarity_fit.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <list>
#include <memory>
#include <optional>

namespace warpalign::detail {

/// Images of ones by shape: the weight of a picture without a mask beside one with a mask.
class Ones {
 public:
  explicit Ones(const Device& device) : device_(device) {}
  const Image& of(Stream& stream, const Shape& shape);

 private:
  Device device_;
  std::list<Image> images_;
};

/// Weights of a pair, of which either picture may have a mask: both, or none.
struct PairWeights {
  const Image* reference = nullptr;
  const Image* moving = nullptr;
};
PairWeights weights_of(Stream& stream, Ones& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving);

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
  struct Smoothed {
    PixelType type;
    Shape shape;
    bool masked;
    double sigma;
    SmoothPlan plan;
    Image values;
    std::optional<Image> weight;
  };
  struct Spline {
    Shape shape;
    PrefilterPlan plan;
    Image coefficients;
  };
  Smoothed& smoothed(const ImagePyramid& pyramid, double sigma, std::list<Smoothed>& kept);
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
  std::list<Smoothed> coarse_, fine_;
  std::list<Spline> splines_;
  double held_sigma_ = 0;  ///< of the pair whose images hold what they should; 0: none
};

}  // namespace warpalign::detail
