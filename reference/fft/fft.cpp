// The oracle's Fourier transforms: FFTW in double precision.
#include "reference/fft/fft.hpp"

#include <fftw3.h>

namespace reference {

Spectrum forward(const Plane& image) {
  Plane input = image;
  Spectrum half(image.width / 2 + 1, image.height);
  fftw_plan plan = fftw_plan_dft_r2c_2d(
      static_cast<int>(image.height), static_cast<int>(image.width), input.values.data(),
      reinterpret_cast<fftw_complex*>(half.values.data()), FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return half;
}

Plane inverse(const Spectrum& half, std::int64_t width) {
  Spectrum input = half;
  Plane image(width, half.height);
  fftw_plan plan = fftw_plan_dft_c2r_2d(
      static_cast<int>(image.height), static_cast<int>(image.width),
      reinterpret_cast<fftw_complex*>(input.values.data()), image.values.data(), FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return image;
}

ComplexVolume forward(const Volume& volume) {
  Volume input = volume;
  ComplexVolume half(volume.width / 2 + 1, volume.height, volume.depth);
  fftw_plan plan =
      fftw_plan_dft_r2c_3d(static_cast<int>(volume.depth), static_cast<int>(volume.height),
                           static_cast<int>(volume.width), input.values.data(),
                           reinterpret_cast<fftw_complex*>(half.values.data()), FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return half;
}

}  // namespace reference
