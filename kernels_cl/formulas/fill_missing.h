// Numbers of the fill of missing samples that the host and the kernels share.
#ifndef WARPALIGN_FORMULAS_FILL_MISSING_H
#define WARPALIGN_FORMULAS_FILL_MISSING_H

// The state of a missing sample that is filled but not smoothed.
#define WA_FAR 255
// The bits of a sample's role and link; all but the first are shifted by the axis. Kernels count
// WA_COUNTED by shifts of 1 to 3.
#define WA_SMOOTHED 1
#define WA_COUNTED 2
#define WA_COUNTED_ANY 14
#define WA_LOWER 16
#define WA_UPPER 128
// Known shares above this are 1: the weights of a spline add up to 1 but for rounding.
#define WA_WHOLE_SHARE 0.999999f

#endif
