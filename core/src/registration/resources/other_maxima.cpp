// Tells whether a correlation surface has other maxima nearly as high as its main one.
#include "registration/resources/other_maxima.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Of the reference's larger side.
constexpr double ring_fraction = 0.1;
// Scores of the device and of the host differ by less than this fraction.
constexpr double rounding = 0.01;
constexpr auto ignored =
    static_cast<float>((1 - rounding) * least_sample_ratio * min_alternative_ratio);
constexpr auto least_on_ring = static_cast<float>((1 - rounding) * min_alternative_ratio);

bool are_high(const ShiftMaxima& found) {
  return !(found.main > 0) || found.other >= ignored * found.main ||
         found.ring >= least_on_ring * found.main;
}

}  // namespace

double ring_radius(const Shape& reference_level) {
  return ring_fraction *
         static_cast<double>(std::max(reference_level.width, reference_level.height));
}

// The ring's width leaves 1.5 samples for the rounding of both ends.
float ring_of(const Shape& reference_level) {
  return static_cast<float>(ring_radius(reference_level) + (ring_circles - 1) / 2.0);
}

const ShiftMaximaPlan& OtherMaxima::plan() {
  if (!plan_) plan_.emplace(device_, spec_);
  return *plan_;
}

bool OtherMaxima::may_exist(Stream& stream, const Image& surfaces, const Image& overlaps,
                            ShiftRegion region) {
  region.ignored = ignored;
  return are_high(plan().execute(stream, surfaces, overlaps, region));
}

bool OtherMaxima::may_exist(Stream& stream, const Image& surfaces, const CentredOutline& outline,
                            ShiftRegion region) {
  region.ignored = ignored;
  return are_high(plan().execute_outline(stream, surfaces, outline, region));
}

}  // namespace warpalign::detail
