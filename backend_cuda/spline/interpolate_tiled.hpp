// Evaluation from a copy of the source in shared memory: for each tile of the output, the
// coefficients that it needs.
#pragma once

#include "device/context.hpp"
#include "spline/interpolate_spline.hpp"

#include <warpalign/backend/driver.hpp>

#include <type_traits>

namespace warpalign::cuda {

/// Evaluates from shared memory if that is possible: for affine transforms in two or three
/// dimensions, degrees 1 and above (at degree 0 a point rounded across a knot would have another
/// value), and copies that fit. Returns false if nothing was enqueued.
bool evaluate_tiled(const CallSite& site, const backend::Queue& queue, const float* coefficients,
                    const Evaluation& e, int dimensions, int degree);
/// Evaluates in three dimensions, like evaluate_tiled().
bool evaluate_volume(const CallSite& site, const backend::Queue& queue, const float* coefficients,
                     const Evaluation& e, int degree);
/// Loads all kernels that evaluate_tiled() and evaluate_volume() may use.
void load_tiled_kernels(const CallSite& site, int dimensions, int degree);
void load_volume_kernels(const CallSite& site, int degree);

/// Calls make() with a degree from 1 to 5 as an integral constant.
template <class Make>
auto with_tiled_degree(int degree, Make make) {
  switch (degree) {
    case 1:
      return make(std::integral_constant<int, 1>{});
    case 2:
      return make(std::integral_constant<int, 2>{});
    case 3:
      return make(std::integral_constant<int, 3>{});
    case 4:
      return make(std::integral_constant<int, 4>{});
    default:
      return make(std::integral_constant<int, 5>{});
  }
}

}  // namespace warpalign::cuda
