// The base scales from which a search starts, and how finely images are sampled at them.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// Spectra of images whose scales differ by more than this factor have too little in common; the
/// base scales bridge such differences.
inline constexpr double farthest_from_base = 1.65;
inline constexpr std::array<double, 7> base_scales{1, 1.5, 1 / 1.5, 2, 0.5, 3.2, 1 / 3.2};

/// The number of levels, of both images together, that the searches at all base scales and at all
/// scales of the grid use. Caches of what belongs to a level hold as many.
inline constexpr std::size_t max_searched_levels = 128;

/// The element of base_scales that is nearest by ratio.
[[nodiscard]] double nearest_base(double scale);

/// Pixels per sample of each image, chosen so that both sampled contents have the same size when
/// the moving image's content is `base` times as large as the reference's. Neither is below 1: no
/// image is sampled more finely than its own pixels.
struct Spacings {
  double reference = 1;
  double moving = 1;
};

/// The spacings that sample the reference at `spacing` or more coarsely.
[[nodiscard]] Spacings spacings_for(double base, double spacing);

/// For the rotation-scale search: the image in which the content appears larger fits as a whole on
/// `side` samples, and the other one is sampled to match.
[[nodiscard]] Spacings rotation_scale_spacings(double base, const Shape& reference,
                                               const Shape& moving, std::int64_t side);

/// For the translation search: both images fit side by side on `side` samples, so that no shift is
/// mistaken for another.
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
