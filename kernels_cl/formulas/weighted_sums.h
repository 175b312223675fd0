// What a work-item of the weighted sums computes.
#ifndef WARPALIGN_FORMULAS_WEIGHTED_SUMS_H
#define WARPALIGN_FORMULAS_WEIGHTED_SUMS_H

// On GPUs, with at least WA_SUMS_COLUMN neighbouring numbers: sums along the axis.
#define WA_SUMS_COLUMN 32
#define WA_SUMS_AT_ONCE 8
// On CPUs, with at least WA_SUMS_VECTOR neighbouring numbers: sums along the axis, and neighbouring numbers.
#define WA_SUMS_VECTOR 16
#define WA_SUMS_ROWS 16
#define WA_SUMS_COLUMNS 1024
// With fewer: lines, and sums of each of them.
#define WA_SUMS_LINES 16
#define WA_SUMS_OF_LINE 1024

#endif
