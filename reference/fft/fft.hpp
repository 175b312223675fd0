// The oracle of the Fourier transforms: FFTW in double precision.
#pragma once

#include "reference/plane.hpp"
#include "reference/volume.hpp"

namespace reference {

/// Half spectrum of a real image, unnormalised, by FFTW.
Spectrum forward(const Plane& image);
/// Real image of width `width` from a half spectrum, unnormalised, by FFTW.
Plane inverse(const Spectrum& half, std::int64_t width);
/// Half spectrum of a real volume, unnormalised, by FFTW.
ComplexVolume forward(const Volume& volume);

}  // namespace reference
