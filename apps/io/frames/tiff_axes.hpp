// Parses the axes of a TIFF stack from the descriptions of ImageJ, OME and tifffile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The number of pages along each axis, and the page of each plane.
struct TiffAxes {
  std::size_t frames = 1;
  std::size_t slices = 1;  ///< planes in z
  std::size_t channels = 1;
  std::size_t contiguous = 0;  ///< frames after a single directory (ImageJ); 0 if each has one
  /// The pages by frame, slice and channel; the channel varies fastest. A truncated file has fewer.
  std::vector<std::int64_t> pages;
  std::string order = "TZC";  ///< the axes as the file has them, the slowest first
  /// The extents as tifffile's description gives them, without rows, columns and samples. Empty
  /// if there is no such description.
  std::vector<std::size_t> shape;
  /// The letters of all axes, if tifffile's description has them and --axes knows them.
  std::string letters;
  std::string remark;  ///< what the user should know about how the axes were understood

  static constexpr std::int64_t missing = -1;    ///< the file lacks the page
  static constexpr std::int64_t elsewhere = -2;  ///< the page is in another file of the set
};

/// The axes of which only one channel or slice is read. The other axes are read whole.
struct PlaneChoice {
  std::optional<int> channel;
  std::optional<int> slice;
  std::optional<std::string> axes = {};  ///< a letter for each axis; see axis_letters.hpp
  bool whole_volumes = false;            ///< slices are never frames
};

/// `description`: the first page's ImageDescription. `pages`: the number of pages. `file_name`:
/// without the folder. `room`: how many uncompressed pages the size of the file allows. Without a
/// supported description every page is a frame. Throws FileError for a description that contradicts
/// itself, or that has far more planes than the file can hold.
[[nodiscard]] TiffAxes read_tiff_axes(const std::string& description, std::size_t pages,
                                      int samples_of_page, const std::string& file_name,
                                      std::size_t room = 0);

/// The pages of the frames, in order of time.
struct FramePages {
  std::size_t slices = 1;    ///< of each frame
  std::size_t channels = 1;  ///< of each slice
  bool frames_are_slices = false;
  bool has_all_planes = true;  ///< the choice leaves nothing out
  /// The pages of each frame, the channels of its first slice first. Some may be `missing`.
  std::vector<std::int64_t> pages;

  [[nodiscard]] std::size_t planes() const { return slices * channels; }
  [[nodiscard]] std::size_t frames() const { return pages.size() / planes(); }
};

/// If there is one point in time and several slices, and neither a slice nor whole volumes are
/// chosen, the slices are the frames. Frames of which all planes are in other files of the set are
/// left out. Throws FileError if a choice is out of range, or if a frame is distributed over
/// several files.
[[nodiscard]] FramePages chosen_pages(const TiffAxes& axes, const PlaneChoice& choice);

}  // namespace warpalign::program
