// Grids of work-groups over images of several sizes that lie one behind the other in one buffer.
#pragma once

#include "device/common_stage.hpp"

#include <warpalign/backend/packed_planes.hpp>

#include <algorithm>
#include <span>

namespace warpalign::WA_BACKEND {

/// The largest work-group, a rectangle of pixels. nvcc compiles the kernels for this size.
#define COLUMNS 32
#define ROWS 8

/// Row y of the grid covers plane y: its work-groups are the plane's rectangles, row by row.
class PlaneGroups {
 public:
  explicit PlaneGroups(DeviceContext& context)
      : has_vectors_(has_vectors(context)),
        group_(is_cpu(context) ? WorkGroup{64, 1} : group_of_rows(context, COLUMNS, ROWS)) {}

  [[nodiscard]] KernelOptions options() const {
    return KernelOptions().set("COLUMNS", group_.columns).set("ROWS", group_.rows);
  }
  /// `high`: how many rows of pixels each row of work-items computes.
  [[nodiscard]] WorkGrid over(std::span<const Shape> planes, int high = 1) const {
    std::int64_t most = 1;
    for (const Shape& plane : planes) {
      most = std::max(most, groups_over(plane.width, group_.columns) *
                                groups_over(plane.height, std::int64_t{high} * group_.rows));
    }
    return {most, static_cast<std::int64_t>(planes.size()), group_};
  }
  /// Like over(), but the kernels for CPUs with vectors get one work-item for each row of a plane.
  [[nodiscard]] WorkGrid over_forms(std::span<const Shape> planes, int high = 1) const {
    if (!has_vectors_) return over(planes, high);
    return {backend::largest_extents(planes).height, static_cast<std::int64_t>(planes.size()), {}};
  }
  /// One work-group for each plane.
  [[nodiscard]] WorkGrid one_for_each(std::size_t planes) const {
    return {static_cast<std::int64_t>(planes), 1, group_};
  }

 private:
  bool has_vectors_;
  WorkGroup group_;
};

}  // namespace warpalign::WA_BACKEND
