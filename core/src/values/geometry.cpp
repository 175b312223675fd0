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
  if (n < 1 || multiple < 1 || !has_only_small_factors(multiple)) {
    throw Error(ErrorKind::invalid_argument,
                "fft_friendly_size needs n >= 1 and a multiple made of 2, 3, 5 and 7");
  }
  std::int64_t quotient = (n + multiple - 1) / multiple;
  while (!has_only_small_factors(quotient)) ++quotient;
  return quotient * multiple;
}

}  // namespace warpalign
