// The last refinement, at the pictures' own resolution.
#include "registration/fine_fit.hpp"

#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr double coarse_sigma = 1;  // pixels

// Variance of one pixel's own point spread along an axis, in pixels: a box's 1/12, and as much
// again for optics.
constexpr double pixel_variance = 1.0 / 6;

// Fractions of a pixel that are fine enough for matching resolutions, and let plans be kept.
constexpr double sigma_step = 1.0 / 16;

// With one point spread for both pictures, in pixels of the finer one: scale^2 (sigma^2 + v) =
// fine_sigma^2 + v.
double matching_sigma(double scale) {
  const double variance = scale * scale * (coarse_sigma * coarse_sigma + pixel_variance);
  return std::round(std::sqrt(std::max(variance - pixel_variance, 0.0)) / sigma_step) * sigma_step;
}

int margin_of(double sigma) { return static_cast<int>(std::ceil(4 * sigma)); }

}  // namespace

const Image& Ones::of(Stream& stream, const Shape& shape) {
  constexpr std::size_t most = 8;  // a pair needs the latest two
  for (auto image = images_.begin(); image != images_.end(); ++image) {
    if (image->shape() != shape) continue;
    images_.splice(images_.end(), images_, image);
    return images_.back();
  }
  if (images_.size() == most) images_.pop_front();
  const std::vector<float> ones(static_cast<std::size_t>(shape.pixels()), 1.0F);
  images_.push_back(device_.make_image(PixelType::f32, shape));
  stream.upload(ones.data(), ones.size() * sizeof(float), images_.back().buffer());
  return images_.back();
}

PairWeights weights_of(Stream& stream, Ones& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving) {
  if (reference_weight == nullptr && moving_weight == nullptr) return {};
  return {reference_weight != nullptr ? reference_weight : &ones.of(stream, reference),
          moving_weight != nullptr ? moving_weight : &ones.of(stream, moving)};
}

FineFit::Smoothed& FineFit::smoothed(Stream& stream, StageClock& clock, const Picture& picture,
                                     double sigma, std::list<Smoothed>& kept) {
  constexpr std::size_t most = 3;
  const bool masked = picture.mask() != nullptr;
  auto found = std::find_if(kept.begin(), kept.end(), [&](const Smoothed& s) {
    return s.type == picture.type() && s.shape == picture.shape() && s.masked == masked &&
           s.sigma == sigma;
  });
  if (found == kept.end()) {
    if (kept.size() == most) kept.pop_front();
    const SmoothSpec spec{.input = picture.type(),
                          .shape = picture.shape(),
                          .output = picture.shape(),
                          .origin = {},
                          .spacing = 1,
                          .sigma = sigma,
                          .masked = masked};
    kept.push_back({picture.type(), picture.shape(), masked, sigma, SmoothPlan(device_, spec),
                    device_.make_image(PixelType::f32, picture.shape()), std::nullopt});
    if (masked) kept.back().weight.emplace(device_.make_image(PixelType::f32, picture.shape()));
    found = std::prev(kept.end());
  }
  Smoothed& result = *found;
  clock.run("smooth", [&] {
    picture.smooth(stream, result.plan, result.values, result.weight ? &*result.weight : nullptr);
  });
  return result;
}

FineFit::Spline& FineFit::spline_of(const Shape& shape) {
  constexpr std::size_t most = 3;
  for (Spline& spline : splines_) {
    if (spline.shape == shape) return spline;
  }
  if (splines_.size() == most) splines_.pop_front();
  splines_.push_back({shape, PrefilterPlan(device_, PrefilterSpec{.shape = shape}),
                      device_.make_image(PixelType::f32, shape)});
  return splines_.back();
}

std::optional<FitResult> FineFit::fit(Stream& stream, StageClock& clock, const Picture& coarse,
                                      const Picture& fine, const Affine& start,
                                      SimilarityFit& fitter, Ones& ones,
                                      const FitOptions& options) {
  const double fine_sigma = matching_sigma(scale_of(start));
  const Smoothed& reference = smoothed(stream, clock, coarse, coarse_sigma, coarse_);
  const Smoothed& moving = smoothed(stream, clock, fine, fine_sigma, fine_);
  Spline& spline = spline_of(fine.shape());
  clock.run("prefilter", [&] { spline.plan.execute(stream, moving.values, spline.coefficients); });
  const PairWeights weights =
      weights_of(stream, ones, reference.weight ? &*reference.weight : nullptr, coarse.shape(),
                 moving.weight ? &*moving.weight : nullptr, fine.shape());
  const SimilarityFit::Pair pair{
      {reference.values, spline.coefficients, weights.reference, weights.moving, nullptr},
      margin_of(coarse_sigma),
      margin_of(fine_sigma)};
  return fitter.fit(stream, clock, pair, start, options);
}

}  // namespace warpalign::detail
