// The order of a recording's samples in an array.
#pragma once

#include "io/frames/recording_format.hpp"
#include "io/image_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The axes of an array that holds a recording: those of the array from which it was read, without
/// axes that were not read, or else (frame, slice, channel, row, column, colour) without those of
/// length 1.
class ArrayLayout {
 public:
  /// `plane`: any plane, for its shape and type.
  ArrayLayout(const LoadedImage& plane, const RecordingFormat& format);

  /// The letters of the axes (axis_letters.hpp), the slowest first.
  [[nodiscard]] const std::string& letters() const { return letters_; }
  [[nodiscard]] std::vector<std::int64_t> extents(std::size_t frames) const;
  /// Whether the samples of each frame are contiguous.
  [[nodiscard]] bool has_whole_frames() const { return blocks_ == 1; }
  /// The blocks of a frame: as many as the axes before that of the frames have positions. Block i
  /// of frame f is block i * frames + f of the array.
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  /// The samples of a frame, block by block. Without planes they are 0.
  [[nodiscard]] std::vector<std::byte> frame_bytes(std::span<const LoadedImage> planes) const;

 private:
  [[nodiscard]] std::size_t extent(char letter) const;
  [[nodiscard]] std::size_t stride(char letter) const;

  LoadedImage plane_;  ///< without pixels
  std::size_t slices_ = 1;
  std::size_t channels_ = 1;
  char frame_letter_ = 'T';
  std::string letters_;
  std::size_t blocks_ = 1;
  std::size_t block_bytes_ = 0;
};

}  // namespace warpalign::program
