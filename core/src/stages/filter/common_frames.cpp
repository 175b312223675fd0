// Stage: copies the overlap of two images to zero-padded frames, and sums its local energy.
#include <warpalign/backend/stages/filter/common_frames.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/async_results.hpp"
#include "stages/group_sums.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* common_frames_stage = "common_frames";

CommonFramesSpec checked(const CommonFramesSpec& spec) {
  detail::check_shape(common_frames_stage, "the frame", spec.frame);
  detail::check_results(common_frames_stage, spec.results);
  return spec;
}

void check_images(const Device& device, const CommonImages& images) {
  const std::size_t channels = images.reference.size();
  if (channels < 1 || channels > 2 || images.moving.size() != channels) {
    detail::refuse(common_frames_stage,
                   "both images must have the same number of channels, 1 or 2");
  }
  const auto check = [&](const char* what, const Image& image, const Shape& shape) {
    detail::check_image(common_frames_stage, what, device, image, PixelType::f32,
                        {shape.width, shape.height, 1});
  };
  const Shape& reference = images.reference.front()->shape();
  for (const Image* image : images.reference) check("the reference", *image, reference);
  if (images.reference_weight != nullptr) {
    check("the reference's weight", *images.reference_weight, reference);
  }
  const Shape& moving = images.moving_weight.shape();
  for (const Image* image : images.moving) check("the moving image", *image, moving);
  check("the moving image's weight", images.moving_weight, moving);
}

// The number of executions whose frames fit into an image.
std::int64_t frames_in(const Image& frames, std::int64_t channels) {
  return frames.shape().depth / channels;
}

void check_written(const CommonImages& images, const Image& frames) {
  for (const std::span<const Image* const> channels : {images.reference, images.moving}) {
    for (const Image* image : channels) detail::check_distinct(common_frames_stage, *image, frames);
  }
  if (images.reference_weight != nullptr) {
    detail::check_distinct(common_frames_stage, *images.reference_weight, frames);
  }
  detail::check_distinct(common_frames_stage, images.moving_weight, frames);
}

void check_part(const OverlapRegion& part, const CommonImages& images, const Shape& frame) {
  const Shape& shape = part.shape;
  detail::check_shape(common_frames_stage, "the part", shape);
  const Shape& reference = images.reference.front()->shape();
  if (part.x < 0 || part.x > reference.width - shape.width || part.y < 0 ||
      part.y > reference.height - shape.height) {
    detail::refuse(common_frames_stage, "the part extends beyond the reference");
  }
  const Shape& moving = images.moving_weight.shape();
  if (shape.width > moving.width || shape.height > moving.height) {
    detail::refuse(common_frames_stage, "the part is larger than the moving image");
  }
  if (shape.width > frame.width || shape.height > frame.height) {
    detail::refuse(common_frames_stage, "the part is larger than the frame");
  }
}

backend::CommonSource source_at(std::int64_t x, std::int64_t y, const Shape& image) {
  const std::int64_t first = y * image.width + x;
  return {image.width, first, image.plane() - first};
}

}  // namespace

CommonFramesPlan::CommonFramesPlan(const Device& device, const CommonFramesSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(std::make_shared<detail::AsyncResults<float>>(
          device, static_cast<std::size_t>(spec.results) * backend::common_sum_count *
                      kernel_->groups())) {}

void CommonFramesPlan::enqueue(Stream& stream, const CommonImages& images,
                               const OverlapRegion& part, double rotation, Image& reference,
                               Image& moving, std::int64_t result, std::int64_t frame_index) const {
  detail::check_stream(common_frames_stage, device_, stream);
  check_images(device_, images);
  check_part(part, images, spec_.frame);
  const auto channels = static_cast<std::int64_t>(images.reference.size());
  const std::int64_t frame_count = frames_in(reference, channels);
  const Shape frames{spec_.frame.width, spec_.frame.height, frame_count * channels};
  detail::check_image(common_frames_stage, "the reference's frames", device_, reference,
                      PixelType::f32, frames);
  detail::check_image(common_frames_stage, "the moving image's frames", device_, moving,
                      PixelType::f32, frames);
  check_written(images, reference);
  check_written(images, moving);
  detail::check_distinct(common_frames_stage, reference, moving);
  if (!std::isfinite(rotation)) detail::refuse(common_frames_stage, "the angle is NaN or infinite");
  detail::check_result(common_frames_stage, result, spec_.results);
  if (frame_index < 0 || frame_index >= frame_count) {
    detail::refuse(common_frames_stage,
                   "the images have no room for frames with index " + std::to_string(frame_index));
  }
  const bool masked = images.reference_weight != nullptr;
  const Image& reference_weight = masked ? *images.reference_weight : images.moving_weight;
  const auto of_reference = source_at(part.x, part.y, images.reference.front()->shape());
  const auto of_moving = source_at(0, 0, images.moving_weight.shape());
  kernel_->enqueue(
      detail::Access::queue(stream),
      {detail::Access::memory(*images.reference.front()),
       detail::Access::memory(*images.reference.back()),
       detail::Access::memory(*images.moving.front()),
       detail::Access::memory(*images.moving.back()), detail::Access::memory(reference_weight),
       detail::Access::memory(images.moving_weight), detail::Access::memory(reference),
       detail::Access::memory(moving)},
      {part.shape, of_reference, masked ? of_reference : of_moving, of_moving,
       static_cast<int>(channels), static_cast<float>(std::cos(rotation)),
       static_cast<float>(std::sin(rotation)), frame_index * channels},
      result, partials_->memory());
}

void CommonFramesPlan::enqueue_copy(Stream& stream) const {
  detail::check_stream(common_frames_stage, device_, stream);
  partials_->enqueue_copy(stream);
}

CommonSums CommonFramesPlan::wait(std::int64_t result) const {
  detail::check_result(common_frames_stage, result, spec_.results);
  const std::size_t groups = kernel_->groups();
  const std::size_t numbers = groups * backend::common_sum_count;
  const std::span<const float> partials =
      partials_->wait().subspan(static_cast<std::size_t>(result) * numbers, numbers);
  const auto total = [&](std::size_t sum) {
    return detail::total_of_groups(partials, groups, sum);
  };
  return {total(0), total(1), total(2), total(3)};
}

}  // namespace warpalign
