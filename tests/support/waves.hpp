// A scene without end, whose value is known at every point, so that shifting needs no
// interpolation.
#pragma once

#include <cstdint>
#include <vector>

namespace test {

/// Waves of many directions, of lengths from 6 to 60 pixels and amplitudes that are the square
/// roots of these.
class Waves {
 public:
  Waves(std::uint32_t seed, int count);
  [[nodiscard]] double at(double x, double y) const;

 private:
  struct Wave {
    double x, y, phase, amplitude;
  };
  std::vector<Wave> waves_;
};

}  // namespace test
