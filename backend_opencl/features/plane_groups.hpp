// Work-groups over images of several sizes, one behind the other in one buffer.
#pragma once

#include "device/context.hpp"
#include "device/kernel.hpp"

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace warpalign::opencl {

/// Work-groups that are rectangles of pixels: row y of them covers plane y, one row of rectangles
/// after the other.
class PlaneGroups {
 public:
  explicit PlaneGroups(const Context& context);
  /// COLUMNS and ROWS, as the kernels ask for them.
  [[nodiscard]] std::string options() const;
  /// `high`: how many times as many rows a work-group has as it has rows of work-items.
  [[nodiscard]] Grid over(std::span<const Shape> planes, int high = 1) const;
  /// One work-group for each of so many planes.
  [[nodiscard]] Grid one_for_each(std::size_t planes) const;

 private:
  std::size_t columns_, rows_;
};

/// For CPUs with vectors: work-item (y, p) processes row y of plane p.
[[nodiscard]] Grid over_rows(std::span<const Shape> planes);

}  // namespace warpalign::opencl
