// The axes of a TIFF stack, as ImageJ and OME describe them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// How many pages there are along each axis, and which page is where.
struct TiffAxes {
  std::size_t frames = 1;
  std::size_t slices = 1;  ///< planes in z
  std::size_t channels = 1;
  std::size_t contiguous = 0;  ///< ImageJ's frames behind a single directory; 0 where each has one
  /// By frame, slice and channel, the last varying fastest. A truncated file has fewer pages.
  std::vector<std::int64_t> pages;

  static constexpr std::int64_t missing = -1;    ///< the file should have it and does not
  static constexpr std::int64_t elsewhere = -2;  ///< another file of the set has it
};

/// What the reader chose of axes that a stack of frames does not have.
struct PlaneChoice {
  std::optional<int> channel;
  std::optional<int> slice;
};

/// `description`: the first page's ImageDescription. `pages`: how many there are. `file_name`:
/// without folder. `room`: how many uncompressed pages the file's bytes could hold. Pages without a
/// description that is understood are frames. Throws FileError for a description that contradicts
/// itself, and for one that promises far more planes than there can be.
[[nodiscard]] TiffAxes read_tiff_axes(const std::string& description, std::size_t pages,
                                      int samples_of_page, const std::string& file_name,
                                      std::size_t room = 0);

/// The pages of the chosen channel and slice, in the order of time; some may be `missing`. Where
/// there is one point in time and several slices, the slices are the frames. Throws FileError
/// where there is more than one and none was chosen, or the choice is not there.
[[nodiscard]] std::vector<std::int64_t> chosen_pages(const TiffAxes& axes,
                                                     const PlaneChoice& choice);

}  // namespace warpalign::program
