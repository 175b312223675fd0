// Rows of an affine transform, for kernels that compute points in fixed point (lib/fixed_point.h).
#pragma once

#include <CL/cl.h>

#include <cmath>

namespace warpalign::opencl {

inline constexpr int fixed_bits = 32;
inline constexpr int fine_bits = 60;

[[nodiscard]] inline cl_long to_fixed(double value, int bits = fixed_bits) {
  return std::llrint(std::ldexp(value, bits));
}

struct FixedRow {
  cl_long4 fine, steps;
};

/// `row`: three matrix entries, at most 4 each, and the shift.
[[nodiscard]] inline FixedRow fixed_row(const double* row) {
  const auto entry = [row](int i, int bits) { return to_fixed(row[i], bits); };
  return {{{entry(0, fine_bits), entry(1, fine_bits), entry(2, fine_bits), entry(3, fixed_bits)}},
          {{entry(0, fixed_bits), entry(1, fixed_bits), entry(2, fixed_bits), 0}}};
}

}  // namespace warpalign::opencl
