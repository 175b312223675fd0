// The recursive prefilter's halo and gain, which the backends share.
#pragma once

#include <span>

namespace warpalign::backend {

/// The samples over which a recursion of single precision forgets the state that it was started
/// from, that of a constant signal: |z|^halo of the pole of larger magnitude, and what the other
/// pole adds, fall below the rounding. For degrees 2 and 3, 0.268^12 = 1.4e-7, of a start that is
/// itself off by less than 0.3 of the samples' range; 0.361^20 = 1.4e-9; 0.431^24 = 1.6e-9.
[[nodiscard]] constexpr int streaming_halo(int degree) {
  return degree == 4 ? 20 : degree == 5 ? 24 : 12;
}

/// A pole as kernels have it. What belongs to it is derived from this number: the rounding alone
/// would put a constant image off by up to 6e-8 per pole.
[[nodiscard]] inline double kernel_pole(double pole) { return static_cast<float>(pole); }

/// The gain of the recursions along an axis, by which their results are multiplied: the product of
/// (1 - z)^2 over the poles.
[[nodiscard]] inline double recursion_gain(std::span<const double> poles) {
  double gain = 1;
  for (const double pole : poles) gain *= (1 - kernel_pole(pole)) * (1 - kernel_pole(pole));
  return gain;
}

}  // namespace warpalign::backend
