// Hands core's requests to the files of this folder.
#include "device/driver.hpp"

#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/readback.hpp"
#include "device/sampling_test.hpp"
#include "stages.hpp"

#include <limits>
#include <utility>

namespace warpalign::opencl {

Driver::Driver(cl_device_id id, const DeviceInfo& info, std::shared_ptr<const backend::Host> host)
    : device_(id, info, std::move(host)), fft_plans_(device_) {
  choose_sampling(device_);
}

std::unique_ptr<backend::Memory> Driver::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(device_, bytes);
}

std::unique_ptr<backend::Queue> Driver::make_queue(bool timed) {
  return std::make_unique<Queue>(device_, timed);
}

std::unique_ptr<backend::Readback> Driver::make_readback(std::size_t bytes) {
  return std::make_unique<PinnedReadback>(device_, bytes);
}

std::unique_ptr<backend::Sobel> Driver::make_sobel(const SobelSpec& spec) {
  return opencl::make_sobel(device_, spec);
}

std::unique_ptr<backend::Statistics> Driver::make_statistics(const StatisticsSpec& spec) {
  return opencl::make_statistics(device_, spec);
}

std::unique_ptr<backend::Apodize> Driver::make_apodize(const ApodizeSpec& spec,
                                                       const backend::WindowWeights& window) {
  return opencl::make_apodize(device_, spec, window);
}

std::unique_ptr<backend::RealFft> Driver::make_real_fft(const RealFftSpec& spec) {
  return opencl::make_real_fft(fft_plans_, spec);
}

std::unique_ptr<backend::Magnitude> Driver::make_magnitude(const MagnitudeSpec& spec) {
  return opencl::make_magnitude(device_, spec);
}

std::unique_ptr<backend::LogPolar> Driver::make_log_polar(const LogPolarSpec& spec,
                                                          const backend::LogPolarPoints& points) {
  return opencl::make_log_polar(device_, spec, points);
}

std::unique_ptr<backend::CrossPower> Driver::make_cross_power(const CrossPowerSpec& spec) {
  return opencl::make_cross_power(device_, spec);
}

std::unique_ptr<backend::Peak> Driver::make_peak(const PeakSpec& spec) {
  return opencl::make_peak(device_, spec);
}

std::unique_ptr<backend::Prefilter> Driver::make_prefilter(
    const PrefilterSpec& spec, const backend::PrefilterDetails& details) {
  return opencl::make_prefilter(device_, spec, details);
}

std::unique_ptr<backend::Interpolate> Driver::make_interpolate(
    const InterpolateSpec& spec, const backend::InterpolateDetails& details) {
  return opencl::make_interpolate(device_, spec, details);
}

std::unique_ptr<backend::Resample> Driver::make_resample(
    const ResampleSpec& spec, const backend::PrefilterDetails& filter,
    const backend::InterpolateDetails& details) {
  return opencl::make_resample(device_, spec, filter, details);
}

std::unique_ptr<backend::ComplexBilinear> Driver::make_complex_bilinear(
    const ComplexBilinearSpec& spec) {
  return opencl::make_complex_bilinear(device_, spec);
}

std::unique_ptr<backend::Despeckle> Driver::make_despeckle(const DespeckleSpec& spec) {
  return opencl::make_despeckle(device_, spec);
}

std::unique_ptr<backend::FlattenProfile> Driver::make_flatten_profile(
    const FlattenProfileSpec& spec) {
  return opencl::make_flatten_profile(device_, spec);
}

std::unique_ptr<backend::Smooth> Driver::make_smooth(const SmoothSpec& spec,
                                                     const backend::PlaneWeights& weights) {
  return opencl::make_smooth(device_, spec, weights);
}

std::unique_ptr<backend::LocalContrast> Driver::make_local_contrast(
    const LocalContrastSpec& spec, const backend::PlaneWeights& weights) {
  return opencl::make_local_contrast(device_, spec, weights);
}

std::unique_ptr<backend::OverlapProducts> Driver::make_overlap_products(
    const OverlapProductsSpec& spec) {
  return opencl::make_overlap_products(device_, spec);
}

std::unique_ptr<backend::OverlapScore> Driver::make_overlap_score(const OverlapScoreSpec& spec) {
  return opencl::make_overlap_score(device_, spec);
}

std::unique_ptr<backend::SimilaritySums> Driver::make_similarity_sums(
    const SimilaritySumsSpec& spec) {
  return opencl::make_similarity_sums(device_, spec);
}

std::unique_ptr<backend::LightField> Driver::make_light_field(const LightFieldSpec& spec,
                                                              const std::vector<float>& weights) {
  return opencl::make_light_field(device_, spec, weights);
}

std::unique_ptr<backend::SpectrumSums> Driver::make_spectrum_sums(const SpectrumSumsSpec& spec) {
  return opencl::make_spectrum_sums(device_, spec);
}

std::unique_ptr<backend::VolumeCanvas> Driver::make_volume_canvas(const VolumeCanvasSpec& spec) {
  return opencl::make_volume_canvas(device_, spec);
}

std::unique_ptr<backend::VolumePeaks> Driver::make_volume_peaks(const VolumePeaksSpec& spec) {
  return opencl::make_volume_peaks(device_, spec);
}

std::unique_ptr<backend::VolumeSums> Driver::make_volume_sums(const VolumeSumsSpec& spec) {
  return opencl::make_volume_sums(device_, spec);
}

std::unique_ptr<backend::Warp> Driver::make_warp(const WarpSpec& spec) {
  return opencl::make_warp(device_, spec);
}

cl_int to_int(std::int64_t extent, const Place& place) {
  if (extent > std::numeric_limits<cl_int>::max() / 4) {
    throw error(ErrorKind::invalid_argument,
                std::to_string(extent) + " pixels along one axis are too many", place,
                "cut the image into tiles");
  }
  return static_cast<cl_int>(extent);
}

}  // namespace warpalign::opencl
