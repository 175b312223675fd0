// A level of two images of one shape in host memory, on which patterns of the sensor are found.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/patterns/fixed_pattern.hpp"
#include "registration/patterns/line_pattern.hpp"
#include "registration/patterns/sensor_signs.hpp"

#include <warpalign/geometry.hpp>

#include <vector>

namespace warpalign::detail {

/// Reuses its memory between calls. Used by one thread at a time.
class SensorLevel {
 public:
  /// Gray levels, row by row.
  struct Values {
    std::vector<float> reference, moving;
  };

  /// Reads the level whose larger side is `side`, or at most the images' own. Does nothing if it
  /// holds this level of these images already.
  void take(const PairContext& context, double side);
  /// As take(), at full resolution.
  void take_whole(const PairContext& context);
  /// The images have changed: the next take() reads them.
  void forget() { reference_ = moving_ = nullptr; }

  // The following are of the level that was taken.

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Values& values() const { return values_; }
  /// Both images, with their weights. Valid until the next take().
  [[nodiscard]] SensorImages images() const;
  [[nodiscard]] FixedPattern& pattern() { return pattern_; }
  /// The gain of the moving image.
  [[nodiscard]] float gain() const { return pattern_.gain(); }

  /// From pixels of the level to those of the images.
  [[nodiscard]] const Affine& to_image() const { return to_image_; }
  /// Converts a transform between the images to one between the levels.
  [[nodiscard]] Homography to_level(const Homography& transform) const;
  /// `context`: that of the images.
  [[nodiscard]] SensorAnswer on_level(const PairContext& context, const Candidate& answer) const;

  /// Whether columns and rows of the sensor have notable offsets.
  [[nodiscard]] bool shows_lines();
  /// Subtracts these offsets from values() and images(), if there are any. Returns whether there
  /// are.
  bool subtract_lines();

 private:
  FixedPattern pattern_;
  LinePattern lines_;
  // What was taken; null if it may have changed.
  const ImagePyramid* reference_ = nullptr;
  const ImagePyramid* moving_ = nullptr;
  double spacing_ = 0;
  Affine to_image_;
  Shape shape_;
  Values values_;
  Values weights_;  // empty without masks
};

/// Whether a candidate has moved images of one shape by less than still_distance.
[[nodiscard]] bool is_still(const PairContext& context, const Candidate& candidate);

}  // namespace warpalign::detail
