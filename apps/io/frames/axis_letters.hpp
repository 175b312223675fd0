// The axes of an array as the user names them with --axes.
#pragma once

#include "io/frames/tiff_axes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace warpalign::program {

/// Throws UsageError unless the letters name each axis once: T (time), C (channel), Z (slice), Y
/// (row), X (column) and S (the samples of a colour), among them Y and X.
void check_axis_letters(const std::string& letters);

/// Whether check_axis_letters() accepts them.
[[nodiscard]] bool are_axis_letters(const std::string& letters);

/// An array's axes, the slowest first.
struct NamedExtents {
  std::string letters;
  std::vector<std::size_t> extents;  ///< as many as letters

  /// The extent along an axis; 1 for an axis that the array does not have.
  [[nodiscard]] std::size_t extent(char letter) const;
};

/// Names the axes of an array of this shape. Axes of extent 1 may be left out. Throws FileError if
/// the letters and the shape do not fit.
[[nodiscard]] NamedExtents name_extents(const std::string& letters,
                                        const std::vector<std::size_t>& shape);

/// The same pages with other names for the axes in front of their rows and columns. `letters`: of
/// the whole array. `samples`: of a pixel. Throws FileError if the letters do not fit.
[[nodiscard]] TiffAxes rename_axes(const TiffAxes& axes, const std::string& letters,
                                   std::size_t width, std::size_t height, std::size_t samples);

}  // namespace warpalign::program
