// The resolution tags of a TIFF page.
#pragma once

#include <array>
#include <cstdint>

namespace warpalign::program {

/// Numerator and denominator of the pixels in a unit, along x and y, as a TIFF file stores them.
struct TiffResolution {
  std::array<std::uint32_t, 2> x{1, 1};
  std::array<std::uint32_t, 2> y{1, 1};
  std::uint16_t unit = 1;  ///< RESUNIT_NONE, RESUNIT_INCH or RESUNIT_CENTIMETER
};

}  // namespace warpalign::program
