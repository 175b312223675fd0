// The oracle of the sums of a Gauss-Newton step for the similarity of a frame.
#pragma once

#include "reference/plane.hpp"

#include <array>

namespace reference {

/// A cell of a frame, compared with the reference under an affine transform.
struct RotatedCell {
  std::int64_t first_column = 0, end_column = 0, first_row = 0, end_row = 0;
  double x = 0, y = 0;                ///< the reference's point at the first column and row
  double a = 1, b = 0, d = 0, e = 1;  ///< its step from pixel to pixel: (a i + b j, d i + e j)
  double centre_x = 0, centre_y = 0;  ///< the origin of the parameters, a point of the reference
  double frame_mean = 0, reference_mean = 0;
  double gain = 0, offset = 0;
  double scale = 0;  ///< of Tukey's weights; 0: equal weights
};

/// Sums over the valid pixels, each weighted by Tukey's biweight of its residual except for the
/// last two: 1, r, m, rr, mm, rm; z_i j_k; z_i r, z_i, z_i m, r j_i and j_i for the four
/// parameters; mx^2 + my^2; then the number of pixels and the sum of |residual|. r and m are the
/// cubic B-splines whose coefficients are the samples. j are the derivatives of r with respect to
/// the parameters of a similarity about the centre, and z those of m, with its gradient rotated to
/// the reference's axes.
std::array<double, 45> frame_sums(const Plane& frame, const Plane& reference,
                                  const RotatedCell& cell);

}  // namespace reference
