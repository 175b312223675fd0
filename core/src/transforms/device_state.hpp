// What the copies of a DeviceTransform share.
#pragma once

#include "device/access.hpp"

#include <warpalign/backend/stages/spline/map_points.hpp>
#include <warpalign/device_transform.hpp>

#include <memory>
#include <variant>
#include <vector>

namespace warpalign {

namespace detail {

/// A field or the inverse of one, defined from the index `margin` to the last but `margin`.
struct UploadedField {
  Buffer values;
  bool is_double = false;
  bool is_cubic = false;
  bool is_inverse = false;
  Shape shape;
  int margin = 0;
  HomogeneousMatrix point_to_index;
  double tolerance = 0;

  [[nodiscard]] backend::FieldInMemory in_memory() const {
    return {Access::memory(values), is_double, is_cubic, shape, margin, point_to_index};
  }
};

using DeviceStep = std::variant<HomogeneousMatrix, UploadedField>;

}  // namespace detail

struct DeviceTransform::State {
  Device device;
  int dimensions = 2;
  std::shared_ptr<backend::MapPoints> kernels;
  std::vector<detail::DeviceStep> steps;  // in the order of their application

  void map(Stream& stream, const backend::PointsInMemory& points, OutsideField outside) const {
    backend::Queue& queue = detail::Access::queue(stream);
    for (const detail::DeviceStep& step : steps) {
      if (const auto* matrix = std::get_if<HomogeneousMatrix>(&step)) {
        kernels->enqueue_matrix(queue, *matrix, points);
        continue;
      }
      const auto& own = std::get<detail::UploadedField>(step);
      const backend::FieldInMemory field = own.in_memory();
      if (own.is_inverse) {
        kernels->enqueue_inverse(queue, field, own.tolerance, outside, points);
      } else {
        kernels->enqueue_field(queue, field, outside, points);
      }
    }
  }
};

}  // namespace warpalign
