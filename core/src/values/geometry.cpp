// Transforms of the plane, and FFT-friendly sizes.
#include <warpalign/geometry.hpp>

#include <warpalign/error.hpp>

#include <cmath>
#include <numbers>

namespace warpalign {

Point Affine::operator()(Point p) const noexcept {
  return {a * p.x + b * p.y + c, d * p.x + e * p.y + f};
}

Affine Affine::operator*(const Affine& other) const noexcept {
  return {a * other.a + b * other.d, a * other.b + b * other.e, a * other.c + b * other.f + c,
          d * other.a + e * other.d, d * other.b + e * other.e, d * other.c + e * other.f + f};
}

Affine Affine::inverse() const {
  const double determinant = a * e - b * d;
  if (!std::isfinite(determinant) || determinant == 0 || !std::isfinite(c) || !std::isfinite(f)) {
    throw Error(ErrorKind::invalid_argument, "this transform has no inverse");
  }
  const double ia = e / determinant;
  const double ib = -b / determinant;
  const double id = -d / determinant;
  const double ie = a / determinant;
  return {ia, ib, -(ia * c + ib * f), id, ie, -(id * c + ie * f)};
}

Affine Affine::translation(double x, double y) noexcept { return {1, 0, x, 0, 1, y}; }

Homography::Homography(const Affine& affine) noexcept
    : h{affine.a, affine.b, affine.c, affine.d, affine.e, affine.f, 0, 0, 1} {}

Point Homography::operator()(Point p) const noexcept {
  const double w = h[6] * p.x + h[7] * p.y + h[8];
  return {(h[0] * p.x + h[1] * p.y + h[2]) / w, (h[3] * p.x + h[4] * p.y + h[5]) / w};
}

Homography Homography::operator*(const Homography& other) const noexcept {
  if (is_affine() && other.is_affine()) return affine() * other.affine();
  std::array<double, 9> product{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t k = 0; k < 3; ++k) {
        product[3 * row + column] += h[3 * row + k] * other.h[3 * k + column];
      }
    }
  }
  return product;
}

Homography Homography::inverse() const {
  if (is_affine()) return affine().inverse();
  const auto minor = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return h[a] * h[d] - h[b] * h[c];
  };
  std::array<double, 9> result{minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5),
                               minor(5, 3, 8, 6), minor(0, 2, 6, 8), minor(2, 0, 5, 3),
                               minor(3, 4, 6, 7), minor(1, 0, 7, 6), minor(0, 1, 3, 4)};
  const double determinant = h[0] * result[0] + h[1] * result[3] + h[2] * result[6];
  if (!std::isfinite(determinant) || determinant == 0) {
    throw Error(ErrorKind::invalid_argument, "this transform has no inverse");
  }
  for (double& value : result) value /= determinant;
  return result;
}

bool Homography::is_affine() const noexcept { return h[6] == 0 && h[7] == 0 && h[8] == 1; }

Affine Homography::affine() const noexcept { return {h[0], h[1], h[2], h[3], h[4], h[5]}; }

Affine Homography::affine_at(Point p) const noexcept {
  if (is_affine()) return affine();
  const double w = h[6] * p.x + h[7] * p.y + h[8];
  const Point q = (*this)(p);
  const double a = (h[0] - q.x * h[6]) / w;
  const double b = (h[1] - q.x * h[7]) / w;
  const double d = (h[3] - q.y * h[6]) / w;
  const double e = (h[4] - q.y * h[7]) / w;
  return {a, b, q.x - a * p.x - b * p.y, d, e, q.y - d * p.x - e * p.y};
}

Affine Similarity::matrix(const Shape& reference, const Shape& moving) const noexcept {
  const double angle = rotation_deg * std::numbers::pi / 180;
  const double along = scale * std::cos(angle);
  const double across = scale * std::sin(angle);
  const Point from = centre_of(reference);
  const Point to = centre_of(moving);
  const Affine about_origin{along, across, 0, -across, along, 0};
  return Affine::translation(to.x + translation.x, to.y + translation.y) * about_origin *
         Affine::translation(-from.x, -from.y);
}

Similarity Similarity::of(const Affine& matrix, const Shape& reference,
                          const Shape& moving) noexcept {
  const Point mapped = matrix(centre_of(reference));
  const Point centre = centre_of(moving);
  return {std::atan2(matrix.b, matrix.a) * 180 / std::numbers::pi,
          std::hypot(matrix.a, matrix.b),
          {mapped.x - centre.x, mapped.y - centre.y}};
}

namespace {

bool has_only_small_factors(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

}  // namespace

std::int64_t fft_friendly_size(std::int64_t n, std::int64_t multiple) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (n < 1 || n > largest || multiple < 1 || multiple > largest ||
      !has_only_small_factors(multiple)) {
    throw Error(
        ErrorKind::invalid_argument,
        "fft_friendly_size: n and multiple must be 1 to 2^30, and multiple must have no prime "
        "factors other than 2, 3, 5 and 7");
  }
  std::int64_t quotient = (n + multiple - 1) / multiple;
  while (!has_only_small_factors(quotient)) ++quotient;
  return quotient * multiple;
}

}  // namespace warpalign
