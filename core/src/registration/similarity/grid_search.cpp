// An exhaustive search over rotation and scale at low resolution.
#include "registration/similarity/grid_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/similarity/rotation_scale_search.hpp"
#include "registration/similarity/similarity_fit.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Rotations compared at once: enough to fill a GPU, in 60 MB of memory.
constexpr std::size_t max_batch = 16;

// Places closer than this, in units of the moving image's larger side, count as one.
constexpr double distinct = 0.08;

std::vector<double> scales_of(const RegistrationOptions& options, double step) {
  if (options.motion != Motion::similarity) return {1};
  std::vector<double> scales;
  const auto exponent = [step](double scale) { return std::log(scale) / std::log(step); };
  const auto first = static_cast<int>(std::ceil(exponent(options.min_scale) - 0.5));
  const auto last = static_cast<int>(std::floor(exponent(options.max_scale) + 0.5));
  for (int i = first; i <= last; ++i) scales.push_back(std::pow(step, i));
  return scales;
}

// Each rotation stands for its opposite as well.
std::vector<double> rotations_of(const RegistrationOptions& options, double step) {
  if (options.motion == Motion::translation) return {0};
  const RotationScaleLimits limits = RotationScaleLimits::of(options, step / 2);
  std::vector<double> rotations;
  for (double degrees = 0; degrees < 180; degrees += step) {
    if (limits.allows_angle_or_opposite(degrees)) rotations.push_back(degrees);
  }
  return rotations;
}

// Batches of equal size, none above the maximum.
std::int64_t batch_of(std::size_t rotations) {
  const std::size_t batches = (rotations + max_batch - 1) / max_batch;
  return static_cast<std::int64_t>((rotations + batches - 1) / batches);
}

}  // namespace

GridSearch::GridSearch(const Device& device, const RegistrationOptions& options, Ones& ones,
                       const GridSteps& steps, GradientFields* fields)
    : options_(options),
      steps_(steps),
      scales_(scales_of(options, steps.scale)),
      rotations_(rotations_of(options, steps.rotation)),
      translation_search_(device, steps.side, ones, batch_of(rotations_.size()), fields) {}

void GridSearch::search_scale(Stream& stream, StageClock& clock, ImagePyramid& reference,
                              ImagePyramid& moving, double scale) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_, steps_.rotation / 2);
  const auto peaks = translation_search_.find(stream, clock, reference, moving,
                                              {rotations_, scale, scale, options_.max_shift});
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    for (std::size_t opposite = 0; opposite < 2; ++opposite) {
      if (!angles.allows_angle(rotations_[i] + (opposite == 1 ? 180 : 0))) continue;
      found_.push_back(peaks[i][opposite]);
    }
  }
}

void GridSearch::keep_distinct(const Shape& reference, const Shape& moving, std::size_t maximum) {
  std::sort(found_.begin(), found_.end(),
            [](const TranslationPeak& a, const TranslationPeak& b) { return a.score > b.score; });
  std::size_t kept = 0;
  for (const TranslationPeak& peak : found_) {
    if (kept == maximum) break;
    const bool known =
        std::any_of(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept),
                    [&](const TranslationPeak& other) {
                      return corner_distance(peak.matrix, other.matrix, reference) <
                             distinct * std::max(larger_side(moving),
                                                 scale_of(peak.matrix) * larger_side(reference));
                    });
    if (!known) found_[kept++] = peak;
  }
  found_.resize(kept);
}

std::span<const TranslationPeak> GridSearch::find(Stream& stream, StageClock& clock,
                                                  ImagePyramid& reference, ImagePyramid& moving,
                                                  std::size_t maximum) {
  found_.clear();
  for (const double scale : scales_) search_scale(stream, clock, reference, moving, scale);
  keep_distinct(reference.shape(), moving.shape(), maximum);
  return found_;
}

}  // namespace warpalign::detail
