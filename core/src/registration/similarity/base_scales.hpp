// The scales that a search starts from, and how finely pictures are sampled at them.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cstdint>

namespace warpalign::detail {

/// Spectra of pictures whose scales differ by more than this have too little in common: that is
/// what base scales are for.
inline constexpr double farthest_from_base = 1.65;
inline constexpr std::array<double, 7> base_scales{1, 1.5, 1 / 1.5, 2, 0.5, 3.2, 1 / 3.2};

/// Of base_scales, by ratio.
[[nodiscard]] double nearest_base(double scale);

/// Pixels a sample, at which the two pictures' contents are equally large when the moving picture's
/// is `base` times the reference's. None is below 1: no picture is sampled more finely than it is.
struct Spacings {
  double reference = 1;
  double moving = 1;
};

/// The reference at `spacing` or coarser.
[[nodiscard]] Spacings spacings_for(double base, double spacing);

/// For rotation and scale: the picture of the larger content whole on `side` samples, the other one
/// sampled alike.
[[nodiscard]] Spacings rotation_scale_spacings(double base, const Shape& reference,
                                               const Shape& moving, std::int64_t side);

/// For the shift: both side by side on `side` samples, so that no shift is taken for another.
[[nodiscard]] Spacings shift_spacings(double base, const Shape& reference, const Shape& moving,
                                      std::int64_t side);

/// Crops of `crop` samples along an axis of `n` >= crop, overlapping by half, from end to end.
class CropsAlong {
 public:
  CropsAlong(std::int64_t n, std::int64_t crop);
  [[nodiscard]] std::int64_t count() const { return steps_ + 1; }
  /// Where crop `i` starts.
  [[nodiscard]] std::int64_t start(std::int64_t i) const;

 private:
  double rest_;
  std::int64_t steps_;
};

}  // namespace warpalign::detail
