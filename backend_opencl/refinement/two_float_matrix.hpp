// A plane transform as kernels take it (lib/sample_location.h).
#pragma once

#include "device/two_floats.hpp"

#include <warpalign/geometry.hpp>

namespace warpalign::opencl {

struct TwoFloatMatrix {
  explicit TwoFloatMatrix(const Affine& t)
      : x_row(to_two_floats({t.a, t.b, t.c, 0})), y_row(to_two_floats({t.d, t.e, t.f, 0})) {}

  TwoFloats x_row, y_row;
};

}  // namespace warpalign::opencl
