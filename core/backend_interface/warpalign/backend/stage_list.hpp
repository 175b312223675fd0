// The list of all stages. Add a new stage here and nowhere else: driver.hpp derives the factories
// of every backend from this list.
#pragma once

#include <warpalign/backend/stages/features/blobs.hpp>
#include <warpalign/backend/stages/features/descriptors.hpp>
#include <warpalign/backend/stages/features/feature_matches.hpp>
#include <warpalign/backend/stages/features/octave.hpp>
#include <warpalign/backend/stages/features/simulated_views.hpp>
#include <warpalign/backend/stages/fft/fft.hpp>
#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/backend/stages/filter/convert.hpp>
#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/filter/direction_sums.hpp>
#include <warpalign/backend/stages/filter/double_angle.hpp>
#include <warpalign/backend/stages/filter/fill_missing.hpp>
#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/filter/sobel.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/filter/weighted_sums.hpp>
#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/backend/stages/refinement/deformation_step.hpp>
#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/frame_sums.hpp>
#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/local_correlation.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/log_polar.hpp>
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/backend/stages/spectrum/magnitude.hpp>
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/backend/stages/spline/complex_bilinear.hpp>
#include <warpalign/backend/stages/spline/double_spline.hpp>
#include <warpalign/backend/stages/spline/footprint_means.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/stages/spline/map_points.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/backend/stages/spline/resample.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/backend/stages/spline/warp_by_field.hpp>
#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>
#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/backend/stages/volume/mark_volume.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/rotation_scores.hpp>
#include <warpalign/backend/stages/volume/smooth_volume.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/backend/stages/volume/volume_edges.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>
#include <warpalign/backend/stages/volume/volume_sums.hpp>

namespace warpalign::backend {

template <class... Stages>
struct StageList {};

// clang-format off
using AllStages = StageList<
    // filter
    FillMissing, DirectionSums, DoubleAngle, Apodize, CommonFrames, Convert, CutWindows, ImpulseFilter,
    LocalNormalization, Smooth, Sobel, Statistics, WeightedSums,
    // fft
    RealFft,
    // spectrum
    AutocorrelationPeaks, CrossPower, LogPolar, LogPolarSpectra, Magnitude, OverlapCounts,
    OverlapPeaks, OverlapProducts, Peak, RadialWhitening, ShiftMaxima, WindowCrossPower,
    // spline
    ComplexBilinear, DoubleSpline, FootprintMeans, Interpolate, MapPoints, Prefilter, Resample,
    Warp, WarpByField,
    // features
    Blobs, Descriptors, FeatureMatches, Octave, SimulatedViews,
    // refinement
    DeformationGrid, DeformationStep, FitStep, FrameSums, Illumination, LocalCorrelation, ShiftSums,
    SimilaritySums,
    // volume
    AffineVolumeSums, HalveVolume, MarkVolume, PadVolume, RotationScores, SmoothVolume,
    SpectrumSums, VolumeEdges, VolumePeaks, VolumeSums>;
// clang-format on

}  // namespace warpalign::backend
