// Separates the pixels of a pattern that is fixed to the sensor from those of a scene that moves.
#pragma once

#include "registration/numerics/box_sum.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two images of one shape, row by row. Both weights are empty if there are no masks.
struct SensorImages {
  std::int64_t width = 0, height = 0;
  std::span<const float> reference, moving;
  std::span<const float> reference_weight, moving_weight;
};

/// The numbers of pixels whose neighbourhood one of two motions explains much better.
struct MotionVotes {
  double scene = 0;   ///< the motion of the scene
  double sensor = 0;  ///< no motion
  double chance = 0;  ///< as many as vote for `sensor` where nothing is fixed to it
  /// The sensor's part of the votes, beyond chance; 0 if nobody votes.
  [[nodiscard]] double sensor_part() const {
    const double beyond = sensor - chance_margin * chance;
    return beyond > 0 ? beyond / (sensor + scene) : 0;
  }

 private:
  static constexpr double chance_margin = 1.25;
};

struct ImageCell;

/// Compares images of 5 x 5 pixels and less about each pixel, after the offset of a wider
/// neighbourhood was subtracted, at two motions. Masked pixels have no part in it. Reuses its
/// memory between calls.
class FixedPattern {
 public:
  /// Takes the images, slightly smoothed.
  void take(const SensorImages& images);

  /// The gain of the moving image, by the deviations of both.
  [[nodiscard]] float gain() const { return gain_; }
  /// The votes of every step-th pixel along both axes. `scene`: reference -> moving pixels. Those
  /// by chance are the votes for a motion of the sensor that is as far from the scene's as none is;
  /// they are not counted where the sensor's part of the votes is below `least_part`.
  MotionVotes votes(const Homography& scene, std::int64_t step = 1, double least_part = 0);

  /// Which pixels show what does not move, although the scene moves by `scene`, in either image,
  /// with a margin of two pixels: 1 for these, else 0. Valid until the next call.
  std::span<const std::uint8_t> pattern(const Homography& scene);

  /// Which pixels show structure that does not move, whatever the scene does: 1 for these, else 0.
  /// Valid until the next call.
  std::span<const std::uint8_t> still_pattern();
  /// The part of the pixels with structure at which the images differ as if they showed different
  /// things.
  double changed_part();

 private:
  enum class Square { full, touched };
  void compare(std::span<const float> image, std::span<const float> other, const Homography& map,
               float gain, std::int64_t step, std::vector<float>& differences);
  void find_valid(const SensorImages& images);
  void smooth(std::span<const float> image, std::vector<float>& smoothed);
  [[nodiscard]] bool counts(std::size_t pixel) const {
    return valid_.empty() || valid_[pixel] != 0;
  }
  [[nodiscard]] bool counts(const ImageCell& cell) const;
  void mean_within(std::vector<float>& values, std::int64_t radius);
  [[nodiscard]] Homography decoy_of(const Homography& scene) const;
  void compare_motions(const Homography& scene, std::int64_t step);
  [[nodiscard]] bool is_much_smaller(float a, float b) const;
  void compare_still();
  void apply_square(std::int64_t radius, Square square);

  std::int64_t width_ = 0, height_ = 0;
  std::vector<float> reference_, moving_;  // smoothed
  std::vector<float> valid_;    // 1 for pixels that count in both images; empty: everywhere
  std::vector<float> support_;  // of the smoothing, by pixels that count; unused without masks
  float gain_ = 1;              // of the moving image
  // Mean squared differences; negative: unknown.
  std::vector<float> at_scene_, at_sensor_, from_moving_, at_decoy_;
  float added_ = 0;               // to both differences
  std::vector<float> structure_;  // the variance about each pixel
  float structure_floor_ = 0;
  std::vector<std::uint8_t> pattern_;
  std::vector<float> residual_, known_;  // locals that keep their memory
  BoxSum box_;
  BoxMean mean_;
};

}  // namespace warpalign::detail
