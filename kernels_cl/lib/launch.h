// The sizes of work-groups, tiles and tables that OpenCL kernels and the host code share. This is
// the only file here that backend_opencl/ includes.
#ifndef WARPALIGN_LIB_LAUNCH_H
#define WARPALIGN_LIB_LAUNCH_H

// lib/separable_simd.h: columns of a work-item.
#define WA_SEPARABLE_COLUMNS 128
// lib/sample_location_simd.h: pixels of a row whose sample locations are computed together.
#define WA_ROW_SEGMENT 128

// filter/cpu/common_frames_cpu.cl: rows of the frames that a work-item writes.
#define WA_COMMON_BAND 32

// spectrum/: the tile of a work-item of cross_power_cpu.cl, and the pixels of a work-item of
// peak.cl on CPUs; overlap_peaks_cpu.cl takes about as many, in whole rows.
#define WA_CROSS_POWER_COLUMNS 128
#define WA_CROSS_POWER_ROWS 16
#define WA_PEAK_SHARE 16384
// spectrum/cpu/overlap_correlation_cpu.cl: complex numbers of a work-item, a multiple of 8.
#define WA_OVERLAP_SHARE 4096
// spectrum/cpu/overlap_counts_cpu.cl: vectors of sixteen columns that a work-item sums up.
#define WA_OVERLAP_VECTORS 16

// spline/prefilter_planes.cl and prefilter_axes.cl (lib/prefilter_streaming.h): several work-items
// of a work-group share a row of pixels.
#define WA_STREAMING_GROUP 128
#define WA_STREAMING_ROW_LANES 32
#define WA_STREAMING_LANE_PIXELS 4
// spline/cpu/prefilter_cpu.cl: vectors of sixteen columns that a work-item filters.
#define WA_PREFILTER_VECTORS 2

// spline/interpolate.cl: entries of the table for texture lookups.
#define WA_LOOKUP_TABLE_SIZE 128
// spline/cpu/interpolate_cpu.cl: bits of a coordinate's fraction.
#define WA_CPU_FRACTION_BITS 40
// Work-groups of the evaluations by tiles; tiles of spline/interpolate_linear.cl, whose height in
// volumes is that of a work-group; the distance between rows of interpolate_volume.cl's copy.
#define WA_LINEAR_GROUP 256
#define WA_LINEAR_PLANE_X 16
#define WA_LINEAR_PLANE_Y 64
#define WA_LINEAR_VOLUME_X 32
#define WA_LINEAR_VOLUME_Y (WA_LINEAR_GROUP / WA_LINEAR_VOLUME_X)
#define WA_LINEAR_VOLUME_Z 8
#define WA_TILED_GROUP 256
#define WA_VOLUME_GROUP 256
#define WA_VOLUME_PITCH 32

// spline/resample.cl; the constants of core's resample_tiles.hpp have the same values.
#define WA_RESAMPLE_GROUP 256
#define WA_RESAMPLE_TILE 64
#define WA_RESAMPLE_HALO 12
#define WA_RESAMPLE_COLUMNS 128
#define WA_RESAMPLE_FIRST 16
#define WA_RESAMPLE_SHEAR_GROUP 8

// volume/volume_peaks.cl: voxels of a brick along each axis.
#define WA_BRICK_X 8
#define WA_BRICK_Y 4
#define WA_BRICK_Z 4

#endif
