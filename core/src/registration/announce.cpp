// Telling a device what a registration is going to need, so that it is compiled ahead.
//
// Plans are made here for images of ordinary sizes, in the order of their need. What compilers see
// of a plan does not depend on the sizes, but for few cases; these are compiled when they are met.
#include "registration/announce.hpp"

#include "device/access.hpp"
#include "registration/ones.hpp"
#include "registration/similarity/rotation_scale_search.hpp"
#include "registration/similarity/similarity_fit.hpp"
#include "registration/similarity/translation_search.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/stages/prefilter.hpp>

namespace warpalign::detail {

namespace {

constexpr Shape image{512, 512, 1};
constexpr Shape level{128, 128, 1};

void make_window(const Device& device, const RegistrationOptions& options) {
  const Signal signal =
      options.spectrum == SpectrumOf::gradient ? Signal::gradient : Signal::pixels;
  StatisticsPlan(device, {level, PixelType::f32, signal});
  ApodizePlan(device, {level, level, options.window, PixelType::f32, signal});
}

void make_fit(const Device& device) {
  constexpr int cell = min_illumination_cell;
  SimilaritySumsPlan(device, {level, level});
  IlluminationPlan(device, {level, level, 0, 1, false, cell, 1.5 * cell});
  SimilaritySumsPlan(device, {level, level, 0, 1, false, cell});
}

}  // namespace

void announce_similarity(const Device& device, const RegistrationOptions& options) {
  const std::string what = options.spectrum == SpectrumOf::gradient ? "similarity by gradients"
                                                                    : "similarity by grey levels";
  Access::announce(device, what, [&] {
    RotationScaleSearch(device, level.width, options);
    Ones ones(device);
    TranslationSearch(device, image.width, ones);
    make_window(device, options);
    LocalNormalizationPlan(device, {.shape = level});
    WarpPlan(device, {level, level});
    PrefilterPlan(device, {.shape = level});
    make_fit(device);
  });
}

void announce_images(const Device& device, PixelType type) {
  const std::string what = "images of type " + std::to_string(static_cast<int>(type));
  Access::announce(device, what, [&] {
    ImpulseFilterPlan(device, {type, image});
    SmoothPlan(
        device,
        {.input = type, .shape = image, .output = level, .origin = {}, .spacing = 4, .sigma = 2});
  });
}

}  // namespace warpalign::detail
