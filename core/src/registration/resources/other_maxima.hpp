// Tells whether a correlation surface has other maxima nearly as high as its main one.
#pragma once

#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>
#include <optional>

namespace warpalign::detail {

/// What scores less than this fraction of the main maximum leaves no doubt about it.
inline constexpr double min_alternative_ratio = 0.5;
/// What the highest sample of a maximum reaches of its height between the samples, at least.
inline constexpr double least_sample_ratio = 0.8;
/// The main maximum is determined along a line, if the score falls within this distance: it is
/// looked at on `ring_circles` circles, of this radius and of 1, 2, ... samples more.
[[nodiscard]] double ring_radius(const Shape& reference_level);
inline constexpr int ring_circles = 4;
/// The ring that contains the samples of these circles, for ShiftRegion.
[[nodiscard]] float ring_of(const Shape& reference_level);

/// Used by one thread at a time.
class OtherMaxima {
 public:
  /// Surfaces are squares of this side, in batches.
  OtherMaxima(const Device& device, std::int64_t side, std::int64_t batch)
      : device_(device), spec_{{side, side, 1}, batch} {}

  /// Whether another shift may reach min_alternative_ratio: a local maximum, or a shift at the
  /// radius `region.ring`. `region.ignored` is set here. Waits for the device.
  bool may_exist(Stream& stream, const Image& surfaces, const Image& overlaps, ShiftRegion region);
  bool may_exist(Stream& stream, const Image& surfaces, const CentredOutline& outline,
                 ShiftRegion region);

 private:
  const ShiftMaximaPlan& plan();

  Device device_;
  ShiftMaximaSpec spec_;
  std::optional<ShiftMaximaPlan> plan_;  // made when first needed
};

}  // namespace warpalign::detail
