// An unbounded scene with a known value at every point, so that shifted images need no
// interpolation.
#pragma once

#include <cstdint>
#include <vector>

namespace test {

/// A sum of waves of many directions. Their lengths are 6 to 60 pixels, and their amplitudes the
/// square roots of their lengths.
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
