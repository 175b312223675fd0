// The stages of this backend: one factory each, defined in the file of the stage's name.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages.hpp>

#include <memory>

namespace warpalign::opencl {

class FftPlans;

std::unique_ptr<backend::Sobel> make_sobel(OpenedDevice& device, const SobelSpec& spec);
std::unique_ptr<backend::Statistics> make_statistics(OpenedDevice& device,
                                                     const StatisticsSpec& spec);
std::unique_ptr<backend::Apodize> make_apodize(OpenedDevice& device, const ApodizeSpec& spec,
                                               const backend::WindowWeights& window);
std::unique_ptr<backend::RealFft> make_real_fft(FftPlans& plans, const RealFftSpec& spec);
std::unique_ptr<backend::Magnitude> make_magnitude(OpenedDevice& device, const MagnitudeSpec& spec);
std::unique_ptr<backend::LogPolar> make_log_polar(OpenedDevice& device, const LogPolarSpec& spec,
                                                  const backend::LogPolarPoints& points);
std::unique_ptr<backend::CrossPower> make_cross_power(OpenedDevice& device,
                                                      const CrossPowerSpec& spec);
std::unique_ptr<backend::Peak> make_peak(OpenedDevice& device, const PeakSpec& spec);
std::unique_ptr<backend::Prefilter> make_prefilter(OpenedDevice& device, const PrefilterSpec& spec,
                                                   const backend::PrefilterDetails& details);
std::unique_ptr<backend::Interpolate> make_interpolate(OpenedDevice& device,
                                                       const InterpolateSpec& spec,
                                                       const backend::InterpolateDetails& details);
/// Null where prefilter and evaluation are two kernels.
std::unique_ptr<backend::Resample> make_resample(OpenedDevice& device, const ResampleSpec& spec,
                                                 const backend::PrefilterDetails& filter,
                                                 const backend::InterpolateDetails& details);
std::unique_ptr<backend::ComplexBilinear> make_complex_bilinear(OpenedDevice& device,
                                                                const ComplexBilinearSpec& spec);
std::unique_ptr<backend::Despeckle> make_despeckle(OpenedDevice& device, const DespeckleSpec& spec);
std::unique_ptr<backend::FlattenProfile> make_flatten_profile(OpenedDevice& device,
                                                              const FlattenProfileSpec& spec);
std::unique_ptr<backend::Smooth> make_smooth(OpenedDevice& device, const SmoothSpec& spec,
                                             const backend::PlaneWeights& weights);
std::unique_ptr<backend::LocalContrast> make_local_contrast(OpenedDevice& device,
                                                            const LocalContrastSpec& spec,
                                                            const backend::PlaneWeights& weights);
std::unique_ptr<backend::OverlapProducts> make_overlap_products(OpenedDevice& device,
                                                                const OverlapProductsSpec& spec);
std::unique_ptr<backend::OverlapScore> make_overlap_score(OpenedDevice& device,
                                                          const OverlapScoreSpec& spec);
std::unique_ptr<backend::SimilaritySums> make_similarity_sums(OpenedDevice& device,
                                                              const SimilaritySumsSpec& spec);
std::unique_ptr<backend::LightField> make_light_field(OpenedDevice& device,
                                                      const LightFieldSpec& spec,
                                                      const std::vector<float>& weights);
std::unique_ptr<backend::SpectrumSums> make_spectrum_sums(OpenedDevice& device,
                                                          const SpectrumSumsSpec& spec);
std::unique_ptr<backend::VolumeCanvas> make_volume_canvas(OpenedDevice& device,
                                                          const VolumeCanvasSpec& spec);
std::unique_ptr<backend::VolumePeaks> make_volume_peaks(OpenedDevice& device,
                                                        const VolumePeaksSpec& spec);
std::unique_ptr<backend::VolumeSums> make_volume_sums(OpenedDevice& device,
                                                      const VolumeSumsSpec& spec);
std::unique_ptr<backend::Warp> make_warp(OpenedDevice& device, const WarpSpec& spec);

/// An extent as kernels take it; Error(invalid_argument) beyond what an int holds.
[[nodiscard]] cl_int to_int(std::int64_t extent, const Place& place);

}  // namespace warpalign::opencl
