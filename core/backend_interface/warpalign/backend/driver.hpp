// An opened device, as a backend implements it. To add a stage, add its class to stages.hpp and
// its factory here; to add a backend, implement this class and export the module's entry points
// (module.hpp).
#pragma once

#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stages.hpp>

#include <memory>

namespace warpalign::backend {

class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  /// Called when every memory, queue and stage made here is gone.
  virtual ~Driver() = default;

  /// With `sampling` and `fft` filled in.
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;

  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  virtual std::unique_ptr<Queue> make_queue(bool timed) = 0;
  virtual std::unique_ptr<Readback> make_readback(std::size_t bytes) = 0;

  // One factory per stage. They compile, plan and allocate scratch memory.
  virtual std::unique_ptr<Sobel> make_sobel(const SobelSpec& spec) = 0;
  virtual std::unique_ptr<Statistics> make_statistics(const StatisticsSpec& spec) = 0;
  virtual std::unique_ptr<Apodize> make_apodize(const ApodizeSpec& spec,
                                                const WindowWeights& window) = 0;
  virtual std::unique_ptr<RealFft> make_real_fft(const RealFftSpec& spec) = 0;
  virtual std::unique_ptr<Magnitude> make_magnitude(const MagnitudeSpec& spec) = 0;
  virtual std::unique_ptr<LogPolar> make_log_polar(const LogPolarSpec& spec,
                                                   const LogPolarPoints& points) = 0;
  virtual std::unique_ptr<CrossPower> make_cross_power(const CrossPowerSpec& spec) = 0;
  virtual std::unique_ptr<Peak> make_peak(const PeakSpec& spec) = 0;
  virtual std::unique_ptr<Prefilter> make_prefilter(const PrefilterSpec& spec,
                                                    const PrefilterDetails& details) = 0;
  virtual std::unique_ptr<Interpolate> make_interpolate(const InterpolateSpec& spec,
                                                        const InterpolateDetails& details) = 0;
  /// Null where the backend has no such kernel: core then runs the two stages.
  virtual std::unique_ptr<Resample> make_resample(const ResampleSpec& spec,
                                                  const PrefilterDetails& filter,
                                                  const InterpolateDetails& details) = 0;
  virtual std::unique_ptr<ComplexBilinear> make_complex_bilinear(
      const ComplexBilinearSpec& spec) = 0;
  virtual std::unique_ptr<Despeckle> make_despeckle(const DespeckleSpec& spec) = 0;
  virtual std::unique_ptr<FlattenProfile> make_flatten_profile(const FlattenProfileSpec& spec) = 0;
  virtual std::unique_ptr<Smooth> make_smooth(const SmoothSpec& spec,
                                              const PlaneWeights& weights) = 0;
  virtual std::unique_ptr<LocalContrast> make_local_contrast(const LocalContrastSpec& spec,
                                                             const PlaneWeights& weights) = 0;
  virtual std::unique_ptr<OverlapProducts> make_overlap_products(
      const OverlapProductsSpec& spec) = 0;
  virtual std::unique_ptr<OverlapScore> make_overlap_score(const OverlapScoreSpec& spec) = 0;
  virtual std::unique_ptr<SimilaritySums> make_similarity_sums(const SimilaritySumsSpec& spec) = 0;
  /// `weights`: of cells 0, 1, ... away from a cell, along either axis.
  virtual std::unique_ptr<LightField> make_light_field(const LightFieldSpec& spec,
                                                       const std::vector<float>& weights) = 0;
  virtual std::unique_ptr<SpectrumSums> make_spectrum_sums(const SpectrumSumsSpec& spec) = 0;
  virtual std::unique_ptr<VolumeCanvas> make_volume_canvas(const VolumeCanvasSpec& spec) = 0;
  virtual std::unique_ptr<VolumePeaks> make_volume_peaks(const VolumePeaksSpec& spec) = 0;
  virtual std::unique_ptr<VolumeSums> make_volume_sums(const VolumeSumsSpec& spec) = 0;
  virtual std::unique_ptr<Warp> make_warp(const WarpSpec& spec) = 0;
};

}  // namespace warpalign::backend
