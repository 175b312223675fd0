// The double-angle representation of an image's gradient, for GPUs.
//
// Options: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=256
#include "shared/double_angle_row.h"

// A work-group processes a row of a slice.
WA_KERNEL(COLUMNS, 1)
double_angle(global const float* input, global const float* weight, int width, int height,
             int first_slice, float epsilon, global const WaDoubleAngleTerms* terms,
             global float* cosines, global float* sines) {
  wa_double_angle_row(input, weight, width, height, first_slice + WA_GROUP_Y, WA_GROUP_X,
                      WA_ITEM_X, COLUMNS, epsilon, terms[WA_GROUP_Y], cosines, sines);
}
