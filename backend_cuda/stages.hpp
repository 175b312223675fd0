// The stages of this backend: one factory each, in the file of the stage's name.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages.hpp>

#include <memory>

namespace warpalign::cuda {

std::unique_ptr<backend::Sobel> make_sobel(const Context& context, const SobelSpec& spec);
std::unique_ptr<backend::Statistics> make_statistics(const Context& context,
                                                     const StatisticsSpec& spec);
std::unique_ptr<backend::Apodize> make_apodize(const Context& context, const ApodizeSpec& spec,
                                               const backend::WindowWeights& window);
std::unique_ptr<backend::RealFft> make_real_fft(const Context& context, const RealFftSpec& spec);
std::unique_ptr<backend::Magnitude> make_magnitude(const Context& context,
                                                   const MagnitudeSpec& spec);
std::unique_ptr<backend::LogPolar> make_log_polar(const Context& context, const LogPolarSpec& spec,
                                                  const backend::LogPolarPoints& points);
std::unique_ptr<backend::CrossPower> make_cross_power(const Context& context,
                                                      const CrossPowerSpec& spec);
std::unique_ptr<backend::Peak> make_peak(const Context& context, const PeakSpec& spec);
std::unique_ptr<backend::Prefilter> make_prefilter(const Context& context,
                                                   const PrefilterSpec& spec,
                                                   const backend::PrefilterDetails& details);
std::unique_ptr<backend::Interpolate> make_interpolate(const Context& context,
                                                       const InterpolateSpec& spec,
                                                       const backend::InterpolateDetails& details);
/// Null where there is no such kernel.
std::unique_ptr<backend::Resample> make_resample(const Context& context, const ResampleSpec& spec,
                                                 const backend::PrefilterDetails& filter,
                                                 const backend::InterpolateDetails& details);
std::unique_ptr<backend::ComplexBilinear> make_complex_bilinear(const Context& context,
                                                                const ComplexBilinearSpec& spec);
std::unique_ptr<backend::Despeckle> make_despeckle(const Context& context,
                                                   const DespeckleSpec& spec);
std::unique_ptr<backend::FlattenProfile> make_flatten_profile(const Context& context,
                                                              const FlattenProfileSpec& spec);
std::unique_ptr<backend::Smooth> make_smooth(const Context& context, const SmoothSpec& spec,
                                             const backend::PlaneWeights& weights);
std::unique_ptr<backend::LocalContrast> make_local_contrast(const Context& context,
                                                            const LocalContrastSpec& spec,
                                                            const backend::PlaneWeights& weights);
std::unique_ptr<backend::OverlapProducts> make_overlap_products(const Context& context,
                                                                const OverlapProductsSpec& spec);
std::unique_ptr<backend::OverlapScore> make_overlap_score(const Context& context,
                                                          const OverlapScoreSpec& spec);
std::unique_ptr<backend::SimilaritySums> make_similarity_sums(const Context& context,
                                                              const SimilaritySumsSpec& spec);
std::unique_ptr<backend::LightField> make_light_field(const Context& context,
                                                      const LightFieldSpec& spec,
                                                      const std::vector<float>& weights);
std::unique_ptr<backend::SpectrumSums> make_spectrum_sums(const Context& context,
                                                          const SpectrumSumsSpec& spec);
std::unique_ptr<backend::VolumeCanvas> make_volume_canvas(const Context& context,
                                                          const VolumeCanvasSpec& spec);
std::unique_ptr<backend::VolumePeaks> make_volume_peaks(const Context& context,
                                                        const VolumePeaksSpec& spec);
std::unique_ptr<backend::VolumeSums> make_volume_sums(const Context& context,
                                                      const VolumeSumsSpec& spec);
std::unique_ptr<backend::Warp> make_warp(const Context& context, const WarpSpec& spec);

}  // namespace warpalign::cuda
