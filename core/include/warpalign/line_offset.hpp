// The offset between the lines of bidirectional scans, found and undone.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

/// What LineOffsetEstimator has found.
struct LineOffset {
  /// By how many pixels lines 1, 3, 5, ... show the content farther right than lines 0, 2, 4, ...
  double pixels = 0;
  double standard_error = 0;  ///< of `pixels`, from the scatter over groups of lines
  double confidence = 0;      ///< 0 to 1
  bool reliable = false;      ///< the confidence is at least 0.5
  std::int64_t frames = 0;    ///< the frames that were added
};

/// Finds the offset of bidirectional scans (suite2p's "bidiphase"): the scanner writes every second
/// line in the opposite direction, and a delay shifts these lines by the same number of pixels in
/// all frames. Frames are added one after the other and not kept.
///
/// Each line is correlated with the mean of its two neighbours, in differences along x. The
/// cross-spectrum of all lines gives the offset to a fraction of a pixel: the maximum likelihood
/// estimate, which weights each frequency by its coherence (Hannan & Thomson 1973). Motion along x
/// during a frame averages out over many frames. An offset that varies along the line, as a
/// resonant scanner leaves it without linearization, gives its mean.
class WARPALIGN_API LineOffsetEstimator {
 public:
  /// For frames of this shape, and offsets of up to `max_offset` pixels to either side. Throws
  /// Error(invalid_argument) for frames of depth above 1 or of fewer than 3 lines, and unless
  /// `max_offset` is at least 1 and lines have more than 4 * max_offset and more than
  /// max_offset + 48 pixels.
  explicit LineOffsetEstimator(const Shape& frame, std::int64_t max_offset = 8);
  LineOffsetEstimator(LineOffsetEstimator&&) noexcept;
  LineOffsetEstimator& operator=(LineOffsetEstimator&&) noexcept;
  ~LineOffsetEstimator();

  /// Adds a frame of any real type. Samples that are not finite continue the sample on their left.
  /// Throws Error(invalid_argument) for another shape, complex pixels or invalid rows.
  void add(const HostImage& frame);
  /// The offset over all frames so far. Without content, `confidence` is 0. Never throws Error.
  [[nodiscard]] LineOffset estimate() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A frame in the caller's memory, in which undo_line_offset() changes every second line.
struct ScannedFrame {
  void* data = nullptr;            ///< the first pixel of the first row
  PixelType type = PixelType::u8;  ///< the type of every pixel, real
  std::int64_t width = 0;          ///< in pixels
  std::int64_t height = 0;         ///< in pixels
  std::int64_t row_bytes = 0;      ///< bytes from one row to the next; 0 means dense rows
};

/// Moves lines 1, 3, 5, ... to the left by `pixels`, which are LineOffset::pixels: by cubic splines
/// along the line, or by copying for a whole number of pixels, to which offsets nearer than 0.01
/// are rounded. Integers are rounded to the nearest and saturated. Pixels from beyond the end of
/// the line get its last value. A line with samples that are not finite is interpolated linearly.
/// Throws Error(invalid_argument) for complex pixels, invalid rows and an offset that is not finite
/// or not below the width.
WARPALIGN_API void undo_line_offset(const ScannedFrame& frame, double pixels);

}  // namespace warpalign
