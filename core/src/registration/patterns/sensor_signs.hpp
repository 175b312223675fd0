// Signs that a pattern of the sensor has a part in the answer of a search.
#pragma once

#include "registration/patterns/fixed_pattern.hpp"
#include "registration/patterns/pattern_trace.hpp"

#include <warpalign/geometry.hpp>

namespace warpalign::detail {

/// The answer of a search for two images of one shape, on a level of both.
struct SensorAnswer {
  Homography on_level;  ///< reference -> moving, in pixels of the level
  double distance = 0;  ///< of the images' corners from no motion, in pixels of the images
  double scale = 1;     ///< of the answer
  double correlation = 0;
};

/// In pixels: what is moved by less has not moved.
inline constexpr double still_distance = 2;
/// A blend of no motion and another one is hardly farther from no motion than this.
inline constexpr double max_pulled_distance = 4;
/// No motion is a rival of an answer beyond reach with this part of its significance. Of 52 real
/// pairs that moved far none has a tenth, of 3 generated ones in which a reticle matched itself
/// upside down all have nine tenths or more.
inline constexpr double still_rival = 0.7;
/// The larger side of the level on which in_changes() looks.
inline constexpr double changed_side = 128;

/// Whether the images have moved so far that a pattern does not pull the answer, but may match
/// itself there.
[[nodiscard]] bool is_beyond_reach(double distance, const Shape& image);

/// Each function is one sign. The images are those of the level on which candidates are scored.
/// Reuses its memory between calls.
class SensorSigns {
 public:
  /// Whether an answer of this correlation and scale may show signs in votes, or traces in fine
  /// structure and in the residual.
  [[nodiscard]] static bool may_be_in_votes(double correlation, double scale);
  [[nodiscard]] static bool may_be_traced(double correlation);

  /// Whether no motion explains some pixels much better than the answer, which is not still.
  /// `pattern` has taken the images.
  [[nodiscard]] static bool in_votes(FixedPattern& pattern, const SensorAnswer& answer);
  /// Whether something has changed as if it had moved, although the answer is near no motion.
  /// `pattern` has taken a level whose larger side is changed_side.
  [[nodiscard]] static bool in_changes(FixedPattern& pattern);
  /// Whether fine structure agrees more than the scene at no motion, near which the answer is.
  [[nodiscard]] static bool in_fine_structure(const SensorImages& images);
  /// Whether the residual of the answer resembles its own negative along the motion. `gain`: of
  /// the moving image.
  [[nodiscard]] bool in_residual(const SensorImages& images, const SensorAnswer& answer,
                                 float gain);

  /// Whether there is any sign for an answer that is not beyond reach. May see a sign on a coarser
  /// copy of the level where in_changes() sees none.
  [[nodiscard]] bool any(const SensorImages& images, const SensorAnswer& answer);

 private:
  [[nodiscard]] SensorImages halved(const SensorImages& images);

  PatternTrace trace_;
  FixedPattern pattern_, of_half_;
  std::vector<float> reference_half_, moving_half_;
};

}  // namespace warpalign::detail
