// Transforms whose fields lie in the memory of a device, which maps points there.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/transform.hpp>

#include <cstddef>
#include <memory>

namespace warpalign {

class WarpByFieldPlan;

/// The order in which an array has the components of its points.
enum class ComponentOrder {
  xyz,  ///< x first
  zyx   ///< x last, in the order of the axes of arrays
};

/// A copy of a Transform on a device: points and grids of points are mapped there, without a copy
/// to the host. Computations are those of Transform, in double precision. Fields are uploaded once,
/// in the type of their samples. Immutable; copies share the fields, and any number of threads may
/// use them, each with its own stream.
class WARPALIGN_API DeviceTransform {
 public:
  /// Whether the device has double precision, and the transform consists of matrices, fields and
  /// inverses of fields. Thin-plate splines are evaluated on the host only. Never throws Error.
  [[nodiscard]] static bool is_supported(const Device& device, const Transform& transform) noexcept;

  /// Uploads the fields of the transform. Throws Error(invalid_argument) unless is_supported(), and
  /// Error(out_of_memory).
  DeviceTransform(const Device& device, const Transform& transform);

  /// The device.
  [[nodiscard]] const Device& device() const noexcept;
  /// 2 or 3.
  [[nodiscard]] int dimensions() const noexcept;

  /// The mapped points T(p) of a grid, in the order of the grid, x fastest: f64, as many images of
  /// the grid's shape as there are dimensions, one after the other in this order. Throws
  /// Error(invalid_argument) for an image of another device, type or shape, and for an invalid
  /// grid.
  void positions(Stream& stream, const PointGrid& grid, Image& output,
                 OutsideField outside = OutsideField::edge,
                 ComponentOrder order = ComponentOrder::xyz) const;
  /// The same for the displacements T(p) - p. Throws as positions() does.
  void field(Stream& stream, const PointGrid& grid, Image& output,
             OutsideField outside = OutsideField::edge,
             ComponentOrder order = ComponentOrder::xyz) const;

  /// Maps `count` points in place. `points` is f64 of any shape; coordinate a (0: x) of point i is
  /// its element first + i * strides.point + a * strides.axis. A point for which an inverse does
  /// not converge becomes NaN. Throws Error(invalid_argument) for an image of another device or
  /// type, and for points beyond its ends.
  void points(Stream& stream, Image& points, std::size_t count, std::size_t first,
              const PointStrides& strides, OutsideField outside = OutsideField::edge) const;

 private:
  struct State;
  void on_grid(Stream& stream, const PointGrid& grid, Image& output, OutsideField outside,
               ComponentOrder order, bool relative) const;
  std::shared_ptr<const State> state_;
  friend class WarpByFieldPlan;
};

}  // namespace warpalign
