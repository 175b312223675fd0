// Separates frames into a scene that moves and a pattern that does not.
#pragma once

#include "sensor/pattern_samples.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// A frame whose motion is known.
struct MovedFrame {
  std::size_t index = 0;
  Affine matrix;  ///< from the pixels of the scene to those of the frame
};

/// The largest distance between two motions at the corners.
[[nodiscard]] double spread_of(const std::vector<MovedFrame>& moved, const Shape& shape);

class PatternLayers {
 public:
  /// The arguments must outlive this object. `moved`: at least 6 frames.
  PatternLayers(const PatternSamples& samples, const std::vector<MovedFrame>& moved);

  /// Whether the pattern is one of a sensor's columns, rows and pixels, which are white noise.
  void assume_white(bool is_white) { is_white_ = is_white; }
  /// Whether the pattern is unrelated to the scene. If it is not, as by default, a part of a scene
  /// that moves little may be taken for the pattern; if it is, a part of the pattern may be lost as
  /// long as the motions are wrong.
  void assume_unrelated(bool is_unrelated) { is_unrelated_ = is_unrelated; }
  /// Starts from a pattern that was found at other motions; without a call, from none.
  void start_from(Plane pattern) { pattern_ = std::move(pattern); }
  /// Alternates so often between the scene and the pattern.
  void separate(int times);
  /// Finds the pattern of frames that show no scene.
  void take_all_as_pattern();

  /// The mean over the aligned frames, less the pattern.
  [[nodiscard]] const Plane& scene() const { return scene_; }
  /// The part of the scene's variance by which frames differ from their mean at the same pixels. If
  /// it is small, nearly all of the scene could as well be a part of the pattern.
  [[nodiscard]] double changed_part() const { return changed_part_; }
  /// The pattern, as far as both halves of the frames agree in it: a Wiener filter, for columns,
  /// rows and pixels each, leaves out the noise of the mean. Hot pixels are taken as they are.
  /// Nothing if the halves do not agree.
  [[nodiscard]] std::optional<Plane> pattern();
  /// The same with the noise of the mean.
  [[nodiscard]] const Plane& unfiltered() const { return pattern_; }
  /// Whether what both halves show is unrelated between neighbours, as offsets of columns, rows
  /// and pixels are and a scene behind a lens is not.
  [[nodiscard]] bool is_uncorrelated() const;
  /// The same for columns, rows and pixels each: nothing of it can be a scene.
  [[nodiscard]] bool is_all_uncorrelated() const;

 private:
  /// Of what both halves show: the mean square, and the mean product of neighbours.
  struct Part {
    double energy = 0, neighbours = 0;
  };
  struct Energies {
    Part columns, rows, pixels;
  };
  [[nodiscard]] Energies energies() const;
  void find_scene();
  void find_pattern();
  void take_hot_pixels();
  void limit_pattern(const Plane& shown);

  const PatternSamples& samples_;
  const std::vector<MovedFrame>& moved_;
  std::vector<bool> in_first_half_;  ///< for each of the moved frames
  std::vector<float> gains_;         ///< of the scene in each of them
  double unclear_wavelength_ = 0;    ///< in pixels
  double changed_part_ = 0;
  bool is_white_ = false, is_unrelated_ = false;
  Plane scene_, scene_weight_;      ///< empty without a scene
  Plane pattern_, deviation_;       ///< `deviation_`: the standard error of the pattern
  Plane hot_;                       ///< what hot pixels add to the rest of the pattern
  Plane first_half_, second_half_;  ///< the pattern of either half of the frames
};

}  // namespace warpalign::detail
