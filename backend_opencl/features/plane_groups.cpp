// Work-groups over images of several sizes, one behind the other in one buffer.
#include "features/plane_groups.hpp"

#include "device/build_options.hpp"

#include <warpalign/backend/packed_planes.hpp>

#include <algorithm>
#include <bit>

namespace warpalign::opencl {

namespace {

constexpr std::size_t columns_on_gpus = 32;
constexpr std::size_t max_rows = 8;
constexpr std::size_t columns_on_cpus = 64;

}  // namespace

PlaneGroups::PlaneGroups(const Context& context)
    : columns_(context.is_cpu() ? columns_on_cpus : columns_on_gpus),
      rows_(context.is_cpu() ? 1
                             : std::clamp<std::size_t>(reduction_group(context) / columns_on_gpus,
                                                       1, max_rows)) {}

std::string PlaneGroups::options() const {
  return int_option("COLUMNS", static_cast<int>(columns_)) +
         int_option("ROWS", static_cast<int>(rows_));
}

Grid PlaneGroups::over(std::span<const Shape> planes, int high) const {
  std::int64_t most = 1;
  for (const Shape& plane : planes) {
    most = std::max(most, divide_up(plane.width, static_cast<std::int64_t>(columns_)) *
                              divide_up(plane.height, high * static_cast<std::int64_t>(rows_)));
  }
  return {{static_cast<std::size_t>(most) * columns_, planes.size() * rows_}, {columns_, rows_}};
}

Grid PlaneGroups::one_for_each(std::size_t planes) const {
  return {{planes * columns_, rows_}, {columns_, rows_}};
}

Grid over_rows(std::span<const Shape> planes) {
  const auto rows = static_cast<std::size_t>(backend::largest_extents(planes).height);
  return {{rows, planes.size()}, {1, 1}};
}

}  // namespace warpalign::opencl
