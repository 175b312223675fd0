// The order of a volume's axes: every orientation is found and undone without a change of voxels.
#include "io/volume_axes.hpp"
#include "program/arrays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::test {
namespace {

using namespace program;

/// The matrix of a volume that is stored in another order, which nearest_axes() shall find.
HomogeneousMatrix matrix_of(const AxisOrder& order, const std::array<double, 9>& tilt) {
  std::array<double, 12> rows{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double sign = order.reversed[k] ? -1 : 1;
    for (std::size_t row = 0; row < 3; ++row) {
      rows[4 * row + order.axis[k]] = sign * tilt[3 * row + k] * (1.0 + static_cast<double>(k));
    }
  }
  return HomogeneousMatrix::affine3(rows);
}

TEST_CASE("the order of axes: all 48 orientations, also oblique ones") {
  const double c = std::cos(0.6), s = std::sin(0.6);  // 34 degrees
  const std::array<double, 9> straight{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::array<double, 9> oblique{c, -s, 0, s, c, 0, 0, 0, 1};
  std::array<std::size_t, 3> axes{0, 1, 2};
  int orders = 0;
  do {
    for (unsigned signs = 0; signs < 8; ++signs) {
      AxisOrder order{axes, {}};
      for (std::size_t k = 0; k < 3; ++k) order.reversed[k] = (signs >> k & 1U) != 0;
      CHECK(nearest_axes(matrix_of(order, straight), HomogeneousMatrix{}) == order);
      CHECK(nearest_axes(matrix_of(order, oblique), HomogeneousMatrix{}) == order);
      ++orders;
      const Array stored = random_array({3, 4, 5}, PixelType::i16);
      const Array result = reordered(stored, order);
      const HomogeneousMatrix back = stored_indices(order, stored.shape());
      const Shape shape = result.shape();
      std::size_t i = 0;
      bool same = true;
      for (int z = 0; z < shape.depth; ++z) {
        for (int y = 0; y < shape.height; ++y) {
          for (int x = 0; x < shape.width; ++x, ++i) {
            std::array<double, 3> at{};
            for (std::size_t row = 0; row < 3; ++row) {
              const double* m = back.m.data() + 4 * row;
              at[row] = m[0] * x + m[1] * y + m[2] * z + m[3];
            }
            const auto from = static_cast<std::size_t>((at[2] * 4 + at[1]) * 5 + at[0]);
            same =
                same && result.samples<std::int16_t>()[i] == stored.samples<std::int16_t>()[from];
          }
        }
      }
      CHECK(same);
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
  CHECK(orders == 48);
}

TEST_CASE("the order of axes: names, and a mirrored volume that lies between two orders") {
  CHECK(axis_codes(HomogeneousMatrix{}) == "RAS");
  CHECK(axis_codes(HomogeneousMatrix::affine3({-2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0})) == "LAS");
  CHECK(axis_codes(HomogeneousMatrix::affine3({0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0})) == "PIR");
  // Turned by 45 degrees and mirrored: whichever order is chosen, it mirrors.
  const double h = std::sqrt(0.5);
  const AxisOrder order =
      nearest_axes(HomogeneousMatrix::affine3({h, h, 0, 0, h, -h, 0, 0, 0, 0, 1, 0}), {});
  const HomogeneousMatrix m = stored_indices(order, {8, 8, 8});
  CHECK(m.m[0] * (m.m[5] * m.m[10] - m.m[6] * m.m[9]) -
            m.m[1] * (m.m[4] * m.m[10] - m.m[6] * m.m[8]) +
            m.m[2] * (m.m[4] * m.m[9] - m.m[5] * m.m[8]) ==
        doctest::Approx(-1));
}

}  // namespace
}  // namespace warpalign::test
