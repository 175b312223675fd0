// Window functions, which an image is multiplied by before its Fourier transform.
#pragma once

namespace warpalign {

/// The window function of a Fourier transform.
enum class Window {
  none,  ///< 1 everywhere
  hann   ///< sin^2(pi (i + 1/2) / n) along each axis: 0 at the edges, 1 in the middle
};

}  // namespace warpalign
