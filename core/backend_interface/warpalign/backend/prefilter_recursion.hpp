// The recursive prefilter's halo and gain, which the backends share.
#pragma once

#include <span>

namespace warpalign::backend {

/// The number of samples after which a single-precision recursion no longer depends on its initial
/// state, which is that of a constant signal: |z|^halo of the pole of larger magnitude, and the
/// contribution of the other pole, are below the rounding error. For degrees 2 and 3 it is
/// 0.268^12 = 1.4e-7, times an initial error of less than 0.3 of the samples' range; for degree 4
/// 0.361^20 = 1.4e-9, and for degree 5 0.431^24 = 1.6e-9.
[[nodiscard]] constexpr int streaming_halo(int degree) {
  return degree == 4 ? 20 : degree == 5 ? 24 : 12;
}

/// A pole in the single precision of the kernels. Derive gains from this rounded value: with the
/// exact pole, a constant image would be off by up to 6e-8 per pole.
[[nodiscard]] inline double kernel_pole(double pole) { return static_cast<float>(pole); }

/// The factor that normalises the recursions along an axis: the product of (1 - z)^2 over the
/// poles.
[[nodiscard]] inline double recursion_gain(std::span<const double> poles) {
  double gain = 1;
  for (const double pole : poles) gain *= (1 - kernel_pole(pole)) * (1 - kernel_pole(pole));
  return gain;
}

}  // namespace warpalign::backend
