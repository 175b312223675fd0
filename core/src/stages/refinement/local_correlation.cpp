// Stage: the normalised correlation of two volumes within windows, and its derivatives.
#include <warpalign/backend/stages/refinement/local_correlation.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign {

namespace {

constexpr const char* local_correlation_stage = "local_correlation";
constexpr std::int64_t most_samples = 30000;

LocalCorrelationSpec checked(const LocalCorrelationSpec& spec) {
  detail::check_shape(local_correlation_stage, "the volume", spec.voxels, detail::max_side);
  if (spec.voxels.depth > 1 && spec.voxels.height == 1) {
    detail::refuse(local_correlation_stage, "a volume must be 2 voxels or more high");
  }
  return spec;
}

void check_floor(float floor) {
  if (!(floor > 0) || !std::isfinite(floor)) {
    detail::refuse(local_correlation_stage, "the floor of the variance must be above 0 and finite");
  }
}

/// The sum of the correlations of each part, and the number of its windows.
std::size_t partials_of(const backend::LocalCorrelation& kernel) {
  return 2 * static_cast<std::size_t>(kernel.parts());
}

}  // namespace

NoiseSampling::NoiseSampling(const Shape& shape) noexcept
    : every(std::max<std::int64_t>(shape.pixels() / most_samples, 1)),
      count((shape.pixels() + every - 1) / every) {}

LocalCorrelationPlan::LocalCorrelationPlan(const Device& device, const LocalCorrelationSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(
          std::make_shared<Buffer>(device.make_buffer(partials_of(*kernel_) * sizeof(float)))),
      fetched_(std::make_shared<std::vector<float>>(partials_of(*kernel_))) {}

void LocalCorrelationPlan::execute_statistics(Stream& stream, const Image& reference, float floor,
                                              Image& statistics) const {
  detail::check_stream(local_correlation_stage, device_, stream);
  detail::check_image(local_correlation_stage, "the reference", device_, reference, PixelType::f32,
                      spec_.voxels);
  detail::check_image(local_correlation_stage, "the statistics", device_, statistics,
                      PixelType::f32, spec_.volumes(2));
  check_floor(floor);
  kernel_->enqueue_statistics(detail::Access::queue(stream), detail::Access::memory(reference),
                              floor, detail::Access::memory(statistics));
}

void LocalCorrelationPlan::execute_curvatures(Stream& stream, const Image& reference,
                                              const Image& statistics, CurvatureEntries entries,
                                              Image& curvatures) const {
  detail::check_stream(local_correlation_stage, device_, stream);
  detail::check_image(local_correlation_stage, "the reference", device_, reference, PixelType::f32,
                      spec_.voxels);
  detail::check_image(local_correlation_stage, "the statistics", device_, statistics,
                      PixelType::f32, spec_.volumes(2));
  detail::check_image(local_correlation_stage, "the curvatures", device_, curvatures,
                      PixelType::f32, spec_.volumes(spec_.dimensions()));
  kernel_->enqueue_curvatures(detail::Access::queue(stream), detail::Access::memory(reference),
                              detail::Access::memory(statistics), entries,
                              detail::Access::memory(curvatures));
}

void LocalCorrelationPlan::execute_forces(Stream& stream, const Image& reference,
                                          const Image& statistics, const Image& samples,
                                          float floor, Image& forces) const {
  detail::check_stream(local_correlation_stage, device_, stream);
  detail::check_image(local_correlation_stage, "the reference", device_, reference, PixelType::f32,
                      spec_.voxels);
  detail::check_image(local_correlation_stage, "the statistics", device_, statistics,
                      PixelType::f32, spec_.volumes(2));
  detail::check_image(local_correlation_stage, "the samples", device_, samples, PixelType::f32,
                      spec_.volumes(2));
  detail::check_image(local_correlation_stage, "the forces", device_, forces, PixelType::f32,
                      spec_.volumes(spec_.dimensions()));
  detail::check_distinct(local_correlation_stage, samples, forces);
  detail::check_distinct(local_correlation_stage, statistics, forces);
  check_floor(floor);
  kernel_->enqueue_forces(detail::Access::queue(stream), detail::Access::memory(reference),
                          detail::Access::memory(statistics), detail::Access::memory(samples),
                          floor, detail::Access::memory(*partials_),
                          detail::Access::memory(forces));
}

void LocalCorrelationPlan::execute_noise_samples(Stream& stream, const Image& image,
                                                 const NoiseSampling& sampling,
                                                 Image& samples) const {
  detail::check_stream(local_correlation_stage, device_, stream);
  detail::check_image(local_correlation_stage, "the image", device_, image, PixelType::f32,
                      image.shape());
  detail::check_image(local_correlation_stage, "the samples", device_, samples, PixelType::f32,
                      sampling.samples());
  detail::check_distinct(local_correlation_stage, image, samples);
  if (sampling.every < 1 || (sampling.count - 1) * sampling.every >= image.shape().pixels()) {
    detail::refuse(local_correlation_stage, "the samples must lie within the image");
  }
  kernel_->enqueue_noise_samples(detail::Access::queue(stream), detail::Access::memory(image),
                                 image.shape(), sampling.every, sampling.count,
                                 detail::Access::memory(samples));
}

LocalCorrelationSum LocalCorrelationPlan::sum(Stream& stream) const {
  detail::check_stream(local_correlation_stage, device_, stream);
  stream.download(*partials_, fetched_->data(), fetched_->size() * sizeof(float));
  LocalCorrelationSum sum;
  for (std::size_t i = 0; i < fetched_->size(); i += 2) {
    sum.correlation += static_cast<double>((*fetched_)[i]);
    sum.windows += static_cast<double>((*fetched_)[i + 1]);
  }
  return sum;
}

}  // namespace warpalign
