// The order of a recording's samples in an array.
#include "io/frames/array_layout.hpp"

#include <cstring>

namespace warpalign::program {

ArrayLayout::ArrayLayout(const LoadedImage& plane, const RecordingFormat& format)
    : plane_{plane.width, plane.height, plane.channels, plane.type, {}},
      slices_(format.slices),
      channels_(format.channels),
      frame_letter_(format.frames_are_slices ? 'Z' : 'T') {
  const std::string all = format.axes.empty() ? "TZCYXS" : format.axes;
  for (const char letter : all) {
    // An array of the same axes keeps those of length 1, unless a choice made them so.
    const bool is_kept = format.axes.empty() || !format.has_all_planes
                             ? extent(letter) > 1 || letter == 'Y' || letter == 'X'
                             : extent(letter) > 1 || letter != 'S';
    if (letter == frame_letter_ || is_kept) letters_ += letter;
  }
  if (letters_.find(frame_letter_) == std::string::npos) letters_ = frame_letter_ + letters_;
  block_bytes_ = size_of(plane_.type);
  bool is_before_frames = false;
  for (std::size_t i = letters_.size(); i-- > 0;) {
    if (letters_[i] == frame_letter_) {
      is_before_frames = true;
      continue;
    }
    (is_before_frames ? blocks_ : block_bytes_) *= extent(letters_[i]);
  }
}

/// Of one frame.
std::size_t ArrayLayout::extent(char letter) const {
  if (letter == frame_letter_) return 1;
  switch (letter) {
    case 'Z':
      return slices_;
    case 'C':
      return channels_;
    case 'Y':
      return static_cast<std::size_t>(plane_.height);
    case 'X':
      return static_cast<std::size_t>(plane_.width);
    case 'S':
      return static_cast<std::size_t>(plane_.channels);
    default:
      return 1;
  }
}

/// The samples between neighbours along an axis, within a frame.
std::size_t ArrayLayout::stride(char letter) const {
  std::size_t samples = 1;
  for (std::size_t i = letters_.size(); i-- > 0 && letters_[i] != letter;) {
    samples *= extent(letters_[i]);
  }
  return samples;
}

std::vector<std::int64_t> ArrayLayout::extents(std::size_t frames) const {
  std::vector<std::int64_t> extents;
  for (const char letter : letters_) {
    extents.push_back(static_cast<std::int64_t>(letter == frame_letter_ ? frames : extent(letter)));
  }
  return extents;
}

std::vector<std::byte> ArrayLayout::frame_bytes(std::span<const LoadedImage> planes) const {
  std::vector<std::byte> bytes(blocks_ * block_bytes_);
  const std::size_t sample = size_of(plane_.type);
  const std::size_t samples = extent('S');
  const std::size_t of_y = stride('Y');
  const std::size_t of_x = stride('X');
  const std::size_t of_s = samples > 1 ? stride('S') : 1;
  const bool has_dense_rows = of_x == samples && of_s == 1;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const std::size_t start = (slices_ > 1 ? i / channels_ * stride('Z') : 0) +
                              (channels_ > 1 ? i % channels_ * stride('C') : 0);
    const std::byte* from = planes[i].pixels.data();
    for (std::size_t y = 0; y < extent('Y'); ++y) {
      std::byte* row = bytes.data() + (start + y * of_y) * sample;
      if (has_dense_rows) {
        std::memcpy(row, from, plane_.row_bytes());
        from += plane_.row_bytes();
        continue;
      }
      for (std::size_t x = 0; x < extent('X'); ++x) {
        for (std::size_t s = 0; s < samples; ++s, from += sample) {
          std::memcpy(row + (x * of_x + s * of_s) * sample, from, sample);
        }
      }
    }
  }
  return bytes;
}

}  // namespace warpalign::program
