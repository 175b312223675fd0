// The oracle of the stages that register volumes, in double precision, written from what their
// headers promise.
#pragma once

#include "reference/spline.hpp"

#include <array>
#include <cstdint>

namespace reference {

/// Half spectrum of a real volume, unnormalised, by FFTW.
ComplexVolume forward(const Volume& volume);

/// Equation 4 of the registration paper in three dimensions, with the Gaussian weight (sigma 0:
/// none); `width` is the real volume's.
ComplexVolume cross_power(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width,
                          double sigma);

/// (value - offset) scale under Tukey's window, in the corner of a canvas of zeros.
Volume placed(const Volume& volume, const std::array<std::int64_t, 3>& canvas, double offset,
              double scale, double taper);

using Shift3 = std::array<std::int64_t, 3>;

struct OverlapMoments {
  double voxels = 0, reference = 0, moving = 0;
  double reference_square = 0, moving_square = 0, product = 0;
};

/// Of reference voxels p and moving voxels p + shift.
OverlapMoments overlap_moments(const Volume& reference, const Volume& moving, const Shift3& shift);

struct StepSums : OverlapMoments {
  std::array<double, 9> slopes{};
  std::array<double, 3> slope_reference{}, slope_moving{}, slope{};
  double squares = 0;  ///< sum of the squares of all slopes of either volume
};

/// The moving volume's voxels as coefficients of the cubic B-spline at p + shift, with its
/// gradient; half the differences of the reference's neighbours.
StepSums step_sums(const Volume& reference, const Volume& moving,
                   const std::array<double, 3>& shift, std::int64_t margin);

struct PowerSums {
  double a = 0, b = 0, product = 0;
};

/// Over whole spectra, from half ones of volumes `width` wide.
PowerSums power_sums(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width);

}  // namespace reference
