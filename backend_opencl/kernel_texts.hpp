// The texts of kernels_cl/, embedded by cmake/EmbedKernels.cmake.
#pragma once

#include <string_view>

namespace warpalign::opencl::kernels {

extern const std::string_view apodize;
extern const std::string_view complex_bilinear;
extern const std::string_view cross_power;
extern const std::string_view cross_power_lanes;
extern const std::string_view despeckle;
extern const std::string_view flatten_profile;
extern const std::string_view interpolate;
extern const std::string_view interpolate_box;
extern const std::string_view interpolate_linear;
extern const std::string_view interpolate_rows;
extern const std::string_view interpolate_volume;
extern const std::string_view light_field;
extern const std::string_view light_lanes;
extern const std::string_view local_contrast;
extern const std::string_view local_contrast_lanes;
extern const std::string_view log_polar;
extern const std::string_view magnitude;
extern const std::string_view overlap_correlation;
extern const std::string_view peak;
extern const std::string_view prefilter_axes;
extern const std::string_view prefilter_fir;
extern const std::string_view prefilter_iir;
extern const std::string_view prefilter_lines;
extern const std::string_view prefilter_planes;
extern const std::string_view real_fft;
extern const std::string_view resample;
extern const std::string_view sampling_test;
extern const std::string_view similarity_lanes;
extern const std::string_view similarity_sums;
extern const std::string_view smooth;
extern const std::string_view smooth_lanes;
extern const std::string_view sobel;
extern const std::string_view spectrum_sums;
extern const std::string_view statistics;
extern const std::string_view texture_fill;
extern const std::string_view volume_canvas;
extern const std::string_view volume_peaks;
extern const std::string_view volume_sums;
extern const std::string_view warp;

}  // namespace warpalign::opencl::kernels
