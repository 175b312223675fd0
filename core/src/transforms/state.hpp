// What the copies of a Transform share.
#pragma once

#include "transforms/field.hpp"
#include "transforms/thin_plate.hpp"

#include <warpalign/transform.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Immutable once it is part of a Transform. Of the members below `coordinates`, each kind has its
/// own.
struct TransformState {
  int dimensions = 2;
  TransformKind kind = TransformKind::translation;
  Coordinates coordinates = Coordinates::pixels;
  HomogeneousMatrix matrix;            ///< of kinds up to homography
  std::shared_ptr<const Field> field;  ///< of displacement and bspline; of inverse: what it inverts
  double residual = 0;                 ///< of inverse: see Transform::inverse_residual
  std::shared_ptr<const ThinPlate> plate;  ///< of thin_plate; of inverse, instead of a field
  std::vector<Transform> members;          ///< of chain, in the order of their application

  [[nodiscard]] bool is_matrix() const { return kind <= TransformKind::homography; }
  [[nodiscard]] bool is_field() const {
    return kind == TransformKind::displacement || kind == TransformKind::bspline;
  }

  [[nodiscard]] static Transform transform_of(TransformState state) {
    return Transform(std::make_shared<const TransformState>(std::move(state)));
  }
  [[nodiscard]] static const TransformState& of(const Transform& transform) {
    return *transform.state_;
  }
};

}  // namespace warpalign::detail
