// The order and direction of a volume's stored axes.
#include "io/volume_axes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace warpalign::program {
namespace {

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double determinant_of_rows(const AxisDirections& d) {
  return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
         d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
         d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

bool is_even(const std::array<std::size_t, 3>& permutation) {
  return permutation[(0 + 1) % 3] == (permutation[0] + 1) % 3;
}

}  // namespace

AxisDirections axis_directions(const HomogeneousMatrix& matrix) {
  AxisDirections directions{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& m = matrix.m;
    const double length = std::hypot(m[axis], m[4 + axis], m[8 + axis]);
    for (std::size_t row = 0; row < 3; ++row) directions[axis][row] = m[4 * row + axis] / length;
  }
  return directions;
}

// Chooses among all 48 signed permutations with the right handedness the one whose axes have the
// largest sum of cosines with those of the reference.
AxisOrder nearest_axes(const HomogeneousMatrix& volume, const HomogeneousMatrix& reference) {
  const AxisDirections from = axis_directions(volume);
  const AxisDirections to = axis_directions(reference);
  const bool mirrored = determinant_of_rows(from) * determinant_of_rows(to) < 0;
  AxisOrder best;
  double best_sum = -4;
  std::array<std::size_t, 3> axes{0, 1, 2};
  do {
    for (unsigned signs = 0; signs < 8; ++signs) {
      AxisOrder order{axes, {}};
      double sum = 0;
      bool odd = !is_even(axes);
      for (std::size_t k = 0; k < 3; ++k) {
        order.reversed[k] = (signs >> k & 1U) != 0;
        odd ^= order.reversed[k];
        sum += (order.reversed[k] ? -1 : 1) * dot(from[axes[k]], to[k]);
      }
      // Among equal sums the first counts, which keeps the stored order.
      if (odd != mirrored || !(sum > best_sum + 1e-9)) continue;
      best_sum = sum;
      best = order;
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
  return best;
}

Array reordered(const Array& stored, const AxisOrder& order) {
  const Shape shape = stored.shape();
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  const std::array<std::int64_t, 3> strides{1, sides[0], sides[0] * sides[1]};
  std::array<std::int64_t, 3> counts{};
  std::array<std::int64_t, 3> steps{};
  std::int64_t first = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    counts[k] = sides[order.axis[k]];
    steps[k] = strides[order.axis[k]];
    if (!order.reversed[k]) continue;
    first += (counts[k] - 1) * steps[k];
    steps[k] = -steps[k];
  }
  Array result = make_array({counts[2], counts[1], counts[0]}, stored.type);
  const std::size_t size = size_of(stored.type);
  std::byte* to = result.bytes.data();
  for (std::int64_t z = 0; z < counts[2]; ++z) {
    for (std::int64_t y = 0; y < counts[1]; ++y) {
      std::int64_t from = first + z * steps[2] + y * steps[1];
      for (std::int64_t x = 0; x < counts[0]; ++x, from += steps[0], to += size) {
        std::memcpy(to, stored.bytes.data() + static_cast<std::size_t>(from) * size, size);
      }
    }
  }
  return result;
}

std::array<double, 3> reordered(const std::array<double, 3>& along, const AxisOrder& order) {
  return {along[order.axis[0]], along[order.axis[1]], along[order.axis[2]]};
}

HomogeneousMatrix stored_indices(const AxisOrder& order, const Shape& stored) {
  const std::array<std::int64_t, 3> sides{stored.width, stored.height, stored.depth};
  std::array<double, 12> rows{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t row = order.axis[k];
    rows[4 * row + k] = order.reversed[k] ? -1 : 1;
    if (order.reversed[k]) rows[4 * row + 3] = static_cast<double>(sides[row] - 1);
  }
  return HomogeneousMatrix::affine3(rows);
}

std::string axis_codes(const HomogeneousMatrix& index_to_world) {
  const AxisOrder order = nearest_axes(index_to_world, HomogeneousMatrix{});
  std::string codes(3, ' ');
  for (std::size_t k = 0; k < 3; ++k) {
    codes[order.axis[k]] = order.reversed[k] ? "LPI"[k] : "RAS"[k];
  }
  return codes;
}

}  // namespace warpalign::program
