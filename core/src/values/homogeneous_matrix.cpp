// Homogeneous matrices of one-, two- and three-dimensional grids.
#include <warpalign/homogeneous_matrix.hpp>

namespace warpalign {

HomogeneousMatrix::HomogeneousMatrix(const Affine& p) noexcept
    : m{p.a, p.b, 0, p.c, p.d, p.e, 0, p.f, 0, 0, 1, 0, 0, 0, 0, 1} {}

HomogeneousMatrix::HomogeneousMatrix(const Homography& plane) noexcept
    : HomogeneousMatrix(homography(plane.h)) {}

HomogeneousMatrix HomogeneousMatrix::homography(const std::array<double, 9>& h) noexcept {
  HomogeneousMatrix t;
  t.m = {h[0], h[1], 0, h[2], h[3], h[4], 0, h[5], 0, 0, 1, 0, h[6], h[7], 0, h[8]};
  return t;
}

HomogeneousMatrix HomogeneousMatrix::affine3(const std::array<double, 12>& rows) noexcept {
  HomogeneousMatrix t;
  for (std::size_t i = 0; i < rows.size(); ++i) t.m[i] = rows[i];
  return t;
}

HomogeneousMatrix HomogeneousMatrix::zoom(const Shape& input, const Shape& output) noexcept {
  const auto factor = [](std::int64_t in, std::int64_t out) {
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
  };
  HomogeneousMatrix t;
  t.m[0] = factor(input.width, output.width);
  t.m[5] = factor(input.height, output.height);
  t.m[10] = factor(input.depth, output.depth);
  return t;
}

bool HomogeneousMatrix::is_affine() const noexcept {
  return m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1;
}

}  // namespace warpalign
