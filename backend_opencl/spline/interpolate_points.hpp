// The points at which a spline is evaluated, in the form that interpolation kernels take.
#pragma once

#include "device/two_floats.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <CL/cl.h>

#include <array>

namespace warpalign::opencl {

/// The kinds of points, numbered as in interpolate.cl, and their parameters.
enum class Kind : cl_int { affine, projective, field, log_polar };
struct Points {
  Kind kind = Kind::affine;
  std::array<TwoFloats, 4> rows;
  std::array<cl_int, 3> centre{};
};

[[nodiscard]] Points points_of(const HomogeneousMatrix& transform, const Shape& output);
[[nodiscard]] Points points_of(const LogPolarSampling& grid);

}  // namespace warpalign::opencl
