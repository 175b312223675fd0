// Patterns that are fixed to the sensor while the scene moves, found over the frames of a stack.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/export.hpp>
#include <warpalign/line_offset.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/registrar.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign {

/// What a sensor adds to every frame.
struct SensorPattern {
  std::int64_t width = 0;   ///< of the frames, in pixels
  std::int64_t height = 0;  ///< of the frames, in pixels
  /// What it adds to each pixel, row by row, in the frames' own units; 0 where nothing was found.
  std::vector<float> offsets;
  double rms = 0;          ///< the root mean square of the offsets, in units of the frames
  std::size_t frames = 0;  ///< from how many frames it was found
  /// False if the frames show nothing else: there is nothing to register.
  bool has_scene = true;
  /// False if the scene moves so little, for its coarse structure, that a part of it may be in the
  /// pattern: what is registered without the pattern is then not to be trusted.
  bool is_clear = true;
};

/// Finds the pattern that a sensor adds to frames of a moving scene: offsets of its columns, rows
/// and pixels, and hot pixels. Such a pattern does not move, and would pull the registration
/// towards no motion.
///
/// Frames are registered to the one in the middle. Each frame is the sum of the pattern and of the
/// scene at the frame's motion. Alternating means give both (scene-based correction, Hardie et al.
/// 2000): the scene is the mean of the aligned frames less the pattern, and the pattern is the
/// robust mean of the frames less the scene. Both are repeated with the motions that frames have
/// without the pattern. The halves of the frames that lie farthest apart must agree in it.
///
/// There is no pattern if the frames do not move by a pixel or more, if fewer than 6 of them
/// register, if its variance is below a hundredth of the scene's, or if it does not look as a
/// sensor's does: unrelated between neighbouring pixels, columns and rows. Dust, captions and
/// a vignette are therefore no such pattern. Frames that show nothing but a pattern and
/// noise have no scene (SensorPattern::has_scene).
///
/// `frames`: images of one shape and of any real types, in order of time; 8 to 16 that are spread
/// over the stack suffice. `options`: for the registration; `fast` and `collect_timings` are
/// ignored, and motions that are no similarities become one. `mask`: null, or u8 of the frames'
/// shape, 0 where pixels are ignored. Throws Error(invalid_argument) for frames of different shapes
/// or invalid rows, and as FrameRegistrar does, except that frames without content are no error.
[[nodiscard]] WARPALIGN_API std::optional<SensorPattern> find_sensor_pattern(
    const Device& device, std::span<const HostImage> frames,
    const RegistrationOptions& options = {}, const HostImage* mask = nullptr);

/// By what factor another image than the frames shows a pattern: 1 if it comes from the same camera
/// with the same settings, such as a frame of another stack; another factor if it shows the pattern
/// in other units or averaged; 0 if it does not, as the picture of another camera.
///
/// The factor is the least-squares fit to what differs from the mean of 3 x 3 pixels, where a
/// pattern is strong and a scene is weak. It counts if it exceeds 6 times the root mean square of
/// the fits of 64 displaced patterns, which the image shows by chance only, and if the pattern is a
/// hundredth of the image's structure or more. Within 3 of these deviations from 1 it is 1.
///
/// `image`: of the pattern's shape, of any real type. `mask`: null, or u8 of that shape, 0 where
/// pixels are ignored, as those that are not finite. Throws Error(invalid_argument) for another
/// shape, complex pixels and invalid rows.
[[nodiscard]] WARPALIGN_API double sensor_pattern_gain(const SensorPattern& pattern,
                                                       const HostImage& image,
                                                       const HostImage* mask = nullptr);

/// Subtracts the offsets, multiplied by `gain`, from a frame. Integers are rounded to the nearest
/// and saturated. Throws Error(invalid_argument) for another shape, complex pixels, invalid rows,
/// and a gain that is not finite.
WARPALIGN_API void subtract_sensor_pattern(const SensorPattern& pattern, const ScannedFrame& frame,
                                           double gain = 1);

}  // namespace warpalign
