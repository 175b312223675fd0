// A plane transform, in the form that kernels take (lib/sample_location.h).
#pragma once

#include "device/two_floats.hpp"

#include <warpalign/geometry.hpp>

namespace warpalign::opencl {

struct TwoFloatMatrix {
  explicit TwoFloatMatrix(const Homography& t)
      : x_row(to_two_floats({t.h[0], t.h[1], t.h[2], 0})),
        y_row(to_two_floats({t.h[3], t.h[4], t.h[5], 0})),
        w_row(to_two_floats({t.h[6], t.h[7], t.h[8], 0})) {}

  TwoFloats x_row, y_row, w_row;
};

}  // namespace warpalign::opencl
