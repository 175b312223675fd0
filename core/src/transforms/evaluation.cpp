// Evaluation of a transform: points, and Jacobian matrices.
#include "transforms/evaluation.hpp"

#include "transforms/field_inverse.hpp"
#include "transforms/matrices.hpp"
#include "transforms/plate_inverse.hpp"

#include <limits>
#include <optional>

namespace warpalign::detail {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void map_plane(const HomogeneousMatrix& matrix, std::span<double* const> points,
               std::size_t count) {
  const auto& m = matrix.m;
  double* const px = points[0];
  double* const py = points[1];
  if (matrix.is_affine()) {
    for (std::size_t i = 0; i < count; ++i) {
      const double x = px[i];
      px[i] = m[0] * x + m[1] * py[i] + m[3];
      py[i] = m[4] * x + m[5] * py[i] + m[7];
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double x = px[i];
    const double y = py[i];
    const double w = m[12] * x + m[13] * y + m[15];
    px[i] = (m[0] * x + m[1] * y + m[3]) / w;
    py[i] = (m[4] * x + m[5] * y + m[7]) / w;
  }
}

void map_space(const HomogeneousMatrix& matrix, std::span<double* const> points,
               std::size_t count) {
  const auto& m = matrix.m;
  double* const px = points[0];
  double* const py = points[1];
  double* const pz = points[2];
  const bool affine = matrix.is_affine();
  for (std::size_t i = 0; i < count; ++i) {
    const double x = px[i];
    const double y = py[i];
    const double z = pz[i];
    const double w = affine ? 1 : m[12] * x + m[13] * y + m[14] * z + m[15];
    px[i] = (m[0] * x + m[1] * y + m[2] * z + m[3]) / w;
    py[i] = (m[4] * x + m[5] * y + m[6] * z + m[7]) / w;
    pz[i] = (m[8] * x + m[9] * y + m[10] * z + m[11]) / w;
  }
}

bool is_inside(const Field& field, const Vector3& point) {
  constexpr double rounding = 1e-6;
  const Vector3 t = field.index_of(point);
  for (std::size_t a = 0; a < static_cast<std::size_t>(field.dimensions()); ++a) {
    if (!(t[a] >= static_cast<double>(field.first_index()[a]) - rounding &&
          t[a] <= static_cast<double>(field.last_index()[a]) + rounding)) {
      return false;
    }
  }
  return true;
}

Vector3 inverted(const Field& field, const Vector3& p, OutsideField outside) {
  const std::optional<Vector3> q = solve(field, p);
  if (!q) return {nan, nan, nan};
  if (outside == OutsideField::edge || is_inside(field, *q)) return *q;
  return outside == OutsideField::zero ? p : Vector3{nan, nan, nan};
}

void invert_points(const Field& field, std::span<double* const> points, std::size_t count,
                   OutsideField outside) {
  const std::size_t axes = points.size();
  for (std::size_t i = 0; i < count; ++i) {
    Vector3 p{};
    for (std::size_t a = 0; a < axes; ++a) p[a] = points[a][i];
    const Vector3 q = inverted(field, p, outside);
    for (std::size_t a = 0; a < axes; ++a) points[a][i] = q[a];
  }
}

void unbend_points(const ThinPlate& plate, std::span<double* const> points, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Vector3 p{};
    for (std::size_t a = 0; a < points.size(); ++a) p[a] = points[a][i];
    const Vector3 q = solve(plate, p).value_or(Vector3{nan, nan, nan});
    for (std::size_t a = 0; a < points.size(); ++a) points[a][i] = q[a];
  }
}

void bend_points(const ThinPlate& plate, std::span<double* const> points, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Vector3 p{};
    for (std::size_t a = 0; a < points.size(); ++a) p[a] = points[a][i];
    plate.map(p, nullptr);
    for (std::size_t a = 0; a < points.size(); ++a) points[a][i] = p[a];
  }
}

Matrix3 map_by_matrix(const HomogeneousMatrix& matrix, Vector3& p) {
  const auto& m = matrix.m;
  const double w = m[12] * p[0] + m[13] * p[1] + m[14] * p[2] + m[15];
  Vector3 q{};
  for (std::size_t row = 0; row < 3; ++row) {
    q[row] =
        (m[4 * row] * p[0] + m[4 * row + 1] * p[1] + m[4 * row + 2] * p[2] + m[4 * row + 3]) / w;
  }
  Matrix3 jacobian{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      jacobian[3 * row + column] = (m[4 * row + column] - q[row] * m[12 + column]) / w;
    }
  }
  p = q;
  return jacobian;
}

Matrix3 map_by_inverse(const TransformState& state, Vector3& p) {
  Matrix3 forth{};
  if (state.plate) {
    p = solve(*state.plate, p).value_or(Vector3{nan, nan, nan});
    Vector3 mapped = p;
    state.plate->map(mapped, &forth);
  } else {
    p = inverted(*state.field, p, OutsideField::edge);
    Vector3 mapped = p;
    forth = state.field->displace(mapped, CellBoundary::mean);
  }
  const Matrix3 t = inverse_transposed(forth);
  return {t[0], t[3], t[6], t[1], t[4], t[7], t[2], t[5], t[8]};
}

}  // namespace

void map_points(const TransformState& state, std::span<double* const> points, std::size_t count,
                OutsideField outside) {
  if (state.is_matrix()) {
    if (state.dimensions == 2) return map_plane(state.matrix, points, count);
    return map_space(state.matrix, points, count);
  }
  if (state.is_field()) return state.field->displace(points, count, outside);
  if (state.kind == TransformKind::inverse) {
    if (state.plate) return unbend_points(*state.plate, points, count);
    return invert_points(*state.field, points, count, outside);
  }
  if (state.plate) return bend_points(*state.plate, points, count);
  for (const Transform& member : state.members) {
    map_points(TransformState::of(member), points, count, outside);
  }
}

Matrix3 map_with_jacobian(const TransformState& state, Vector3& point) {
  if (state.is_matrix()) return map_by_matrix(state.matrix, point);
  if (state.is_field()) return state.field->displace(point, CellBoundary::mean);
  if (state.kind == TransformKind::inverse) return map_by_inverse(state, point);
  Matrix3 jacobian = identity3();
  if (state.plate) {
    state.plate->map(point, &jacobian);
    return jacobian;
  }
  for (const Transform& member : state.members) {
    jacobian = product(map_with_jacobian(TransformState::of(member), point), jacobian);
  }
  return jacobian;
}

}  // namespace warpalign::detail
