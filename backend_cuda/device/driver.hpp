// An opened CUDA device.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/driver.hpp>

#include <memory>
#include <vector>

namespace warpalign::cuda {

/// Throws Error(device_unavailable) when there is no driver or no device.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

class CudaDriver final : public backend::Driver {
 public:
  explicit CudaDriver(std::size_t index);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }

  std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override;
  std::unique_ptr<backend::Queue> make_queue(bool timed) override;
  std::unique_ptr<backend::Readback> make_readback(std::size_t bytes) override;

  std::unique_ptr<backend::Sobel> make_sobel(const SobelSpec& spec) override;
  std::unique_ptr<backend::Statistics> make_statistics(const StatisticsSpec& spec) override;
  std::unique_ptr<backend::Apodize> make_apodize(const ApodizeSpec& spec,
                                                 const backend::WindowWeights& window) override;
  std::unique_ptr<backend::RealFft> make_real_fft(const RealFftSpec& spec) override;
  std::unique_ptr<backend::Magnitude> make_magnitude(const MagnitudeSpec& spec) override;
  std::unique_ptr<backend::LogPolar> make_log_polar(const LogPolarSpec& spec,
                                                    const backend::LogPolarPoints& points) override;
  std::unique_ptr<backend::CrossPower> make_cross_power(const CrossPowerSpec& spec) override;
  std::unique_ptr<backend::Peak> make_peak(const PeakSpec& spec) override;
  std::unique_ptr<backend::Prefilter> make_prefilter(
      const PrefilterSpec& spec, const backend::PrefilterDetails& details) override;
  std::unique_ptr<backend::Interpolate> make_interpolate(
      const InterpolateSpec& spec, const backend::InterpolateDetails& details) override;
  std::unique_ptr<backend::Resample> make_resample(
      const ResampleSpec& spec, const backend::PrefilterDetails& filter,
      const backend::InterpolateDetails& details) override;
  std::unique_ptr<backend::ComplexBilinear> make_complex_bilinear(
      const ComplexBilinearSpec& spec) override;
  std::unique_ptr<backend::Despeckle> make_despeckle(const DespeckleSpec& spec) override;
  std::unique_ptr<backend::FlattenProfile> make_flatten_profile(
      const FlattenProfileSpec& spec) override;
  std::unique_ptr<backend::Smooth> make_smooth(const SmoothSpec& spec,
                                               const backend::PlaneWeights& weights) override;
  std::unique_ptr<backend::LocalContrast> make_local_contrast(
      const LocalContrastSpec& spec, const backend::PlaneWeights& weights) override;
  std::unique_ptr<backend::OverlapProducts> make_overlap_products(
      const OverlapProductsSpec& spec) override;
  std::unique_ptr<backend::OverlapScore> make_overlap_score(const OverlapScoreSpec& spec) override;
  std::unique_ptr<backend::SimilaritySums> make_similarity_sums(
      const SimilaritySumsSpec& spec) override;
  std::unique_ptr<backend::LightField> make_light_field(const LightFieldSpec& spec,
                                                        const std::vector<float>& weights) override;
  std::unique_ptr<backend::SpectrumSums> make_spectrum_sums(const SpectrumSumsSpec& spec) override;
  std::unique_ptr<backend::VolumeCanvas> make_volume_canvas(const VolumeCanvasSpec& spec) override;
  std::unique_ptr<backend::VolumePeaks> make_volume_peaks(const VolumePeaksSpec& spec) override;
  std::unique_ptr<backend::VolumeSums> make_volume_sums(const VolumeSumsSpec& spec) override;
  std::unique_ptr<backend::Warp> make_warp(const WarpSpec& spec) override;

 private:
  void choose_sampling();

  DeviceInfo info_;
  Context context_;
};

}  // namespace warpalign::cuda
