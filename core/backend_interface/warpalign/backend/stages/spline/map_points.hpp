// The backend's interface of the stage: points that are mapped in double precision.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/transform.hpp>

#include <cstddef>
#include <cstdint>

namespace warpalign::backend {

/// Points in memory of doubles: coordinate a (0: x) of point i has the index
/// first + i * strides.point + a * strides.axis.
struct PointsInMemory {
  Memory& memory;
  std::size_t count = 0;
  std::size_t first = 0;
  PointStrides strides{};
};

/// A displacement field in memory, x, y (and z) of each sample together.
struct FieldInMemory {
  const Memory& values;
  bool is_double = false;  ///< the samples are doubles, not floats
  bool is_cubic = false;   ///< they are coefficients of a cubic B-spline, mirrored at the edges
  Shape shape{};
  int margin = 0;  ///< the field is defined from this index to the last but this one
  HomogeneousMatrix point_to_index{};
};

class MapPoints : public Stage {
 public:
  struct Setup {
    int dimensions = 2;  ///< 2 or 3
  };

  /// Sets the points to those of a grid, x fastest.
  virtual void enqueue_grid(Queue& queue, const PointGrid& grid, const PointsInMemory& points) = 0;
  /// Subtracts those points again, which leaves displacements.
  virtual void enqueue_displacements(Queue& queue, const PointGrid& grid,
                                     const PointsInMemory& points) = 0;
  virtual void enqueue_matrix(Queue& queue, const HomogeneousMatrix& matrix,
                              const PointsInMemory& points) = 0;
  virtual void enqueue_field(Queue& queue, const FieldInMemory& field, OutsideField outside,
                             const PointsInMemory& points) = 0;
  /// Solves q + u(q) = p for each point p. `tolerance`: the largest distance that remains, unless
  /// rounding is larger. A point for which the iteration does not converge becomes NaN.
  virtual void enqueue_inverse(Queue& queue, const FieldInMemory& field, double tolerance,
                               OutsideField outside, const PointsInMemory& points) = 0;
};

}  // namespace warpalign::backend
