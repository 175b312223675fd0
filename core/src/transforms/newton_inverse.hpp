// Newton's method for T(q) = p, for the transforms whose inverse has no formula.
#pragma once

#include "registration/numerics/small_matrix.hpp"

#include <cmath>

namespace warpalign::detail {

inline constexpr int max_newton_steps = 50;
inline constexpr int max_halvings = 12;

[[nodiscard]] inline double length(const Vector3& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

[[nodiscard]] inline Vector3 difference(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

struct Evaluation {
  Matrix3 jacobian{};
  Vector3 error{};  // T(q) - p
  double distance = 0;
};

/// `map` moves a point to T(point) and returns the Jacobian matrix.
template <class Map>
[[nodiscard]] Evaluation evaluate(const Map& map, const Vector3& q, const Vector3& p) {
  Evaluation result;
  Vector3 mapped = q;
  result.jacobian = map(mapped);
  result.error = difference(mapped, p);
  result.distance = length(result.error);
  return result;
}

/// J^-1 e, or e where the determinant has not this sign.
[[nodiscard]] inline Vector3 newton_step(const Evaluation& at, double sign) {
  if (!(sign * determinant(at.jacobian) > 0)) return at.error;
  const Matrix3 t = inverse_transposed(at.jacobian);
  const Vector3& e = at.error;
  return {t[0] * e[0] + t[3] * e[1] + t[6] * e[2], t[1] * e[0] + t[4] * e[1] + t[7] * e[2],
          t[2] * e[0] + t[5] * e[1] + t[8] * e[2]};
}

/// Newton's method with step halving, from `q`. Returns whether the distance of T(q) from `p` has
/// become at most `within`. `sign`: that of the Jacobian determinant where T does not fold.
template <class Map>
[[nodiscard]] bool newton(const Map& map, const Vector3& p, double within, Vector3& q,
                          double sign = 1) {
  Evaluation at = evaluate(map, q, p);
  for (int step = 0; step < max_newton_steps; ++step) {
    if (at.distance <= within) return true;
    const Vector3 full = newton_step(at, sign);
    double factor = 1;
    bool better = false;
    for (int halving = 0; halving < max_halvings && !better; ++halving, factor /= 2) {
      const Vector3 candidate{q[0] - factor * full[0], q[1] - factor * full[1],
                              q[2] - factor * full[2]};
      const Evaluation next = evaluate(map, candidate, p);
      if (next.distance < at.distance) {
        q = candidate;
        at = next;
        better = true;
      }
    }
    if (!better) return false;
  }
  return at.distance <= within;
}

}  // namespace warpalign::detail
