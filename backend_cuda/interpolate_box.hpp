// Evaluation from a copy of the source in shared memory: for each tile of the output, the box of
// coefficients that it needs.
#pragma once

#include "context.hpp"
#include "interpolate_spline.hpp"

#include <warpalign/backend/driver.hpp>

namespace warpalign::cuda {

/// Evaluates so where it can be done: affine transforms in two or three dimensions, from degree 3
/// on (below, the pieces join too roughly for points rounded across a knot), boxes that fit. False:
/// nothing was enqueued.
bool evaluate_from_boxes(const Place& place, const backend::Queue& queue, const float* coefficients,
                         const Evaluation& e, int dimensions, int degree);
/// The same of cubic splines in three dimensions, with tiles of their own.
bool evaluate_volume(const Place& place, const backend::Queue& queue, const float* coefficients,
                     const Evaluation& e);
/// Loads all kernels that these may use.
void load_box_kernels(const Place& place, int dimensions, int degree);
void load_volume_kernels(const Place& place);

}  // namespace warpalign::cuda
