// The base scales of a search, and the sampling of the images at them.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// The largest scale difference at which spectra still have enough in common. The base scales
/// bridge larger differences.
inline constexpr double max_base_ratio = 1.65;
inline constexpr std::array<double, 7> base_scales{1, 1.5, 1 / 1.5, 2, 0.5, 3.2, 1 / 3.2};

/// The number of levels, of both images together, that a search uses at all base scales and all
/// scales of the grid. Caches of per-level data have this capacity.
inline constexpr std::size_t max_searched_levels = 128;

/// The element of base_scales that is nearest by ratio.
[[nodiscard]] double nearest_base(double scale);

/// Pixels per sample of each image. Both sampled contents have the same size if the moving image's
/// content is `base` times as large as the reference's. Neither is below 1: no image is sampled
/// more finely than its pixels.
struct Spacings {
  double reference = 1;
  double moving = 1;
};

/// The spacings that sample the reference at `spacing` or more coarsely.
[[nodiscard]] Spacings spacings_for(double base, double spacing);

/// The spacings for the rotation-scale search: the image whose content appears larger fits as a
/// whole on `side` samples, and the other one is sampled to match.
[[nodiscard]] Spacings rotation_scale_spacings(double base, const Shape& reference,
                                               const Shape& moving, std::int64_t side);

/// The spacings for the translation search: both images fit side by side on `side` samples, so that
/// all shifts are distinct.
[[nodiscard]] Spacings shift_spacings(double base, const Shape& reference, const Shape& moving,
                                      std::int64_t side);

/// Crops of `crop` samples along an axis of `n` >= `crop` samples. They overlap by half and cover
/// the axis from end to end.
class CropsAlong {
 public:
  CropsAlong(std::int64_t n, std::int64_t crop);
  [[nodiscard]] std::int64_t count() const { return steps_ + 1; }
  /// The first sample of crop `i`.
  [[nodiscard]] std::int64_t start(std::int64_t i) const;

 private:
  double rest_;
  std::int64_t steps_;
};

}  // namespace warpalign::detail
