// Argument checks that the stages share.
#include "device/check.hpp"

#include "device/access.hpp"

#include <warpalign/geometry.hpp>

#include <cmath>

namespace warpalign::detail {

void refuse(const char* stage, const std::string& message) {
  throw Error(ErrorKind::invalid_argument, message, {.stage = stage});
}

void check_shape(const char* stage, const char* what, const Shape& shape, std::int64_t max_depth) {
  if (shape.width < 1 || shape.height < 1 || shape.depth < 1) {
    refuse(stage, std::string(what) + " is empty (" + to_string(shape) + ")");
  }
  if (shape.width > max_side || shape.height > max_side || shape.depth > max_depth) {
    refuse(stage, std::string(what) + " is " + to_string(shape) + ", larger than " +
                      to_string(Shape{max_side, max_side, max_depth}));
  }
}

void check_array(const char* stage, const char* what, const Shape& shape) {
  constexpr std::int64_t max_extent = std::int64_t{1} << 30;
  for (const std::int64_t extent : {shape.width, shape.height, shape.depth}) {
    if (extent < 1 || extent > max_extent) {
      refuse(stage,
             std::string(what) + " is " + to_string(shape) + "; every extent must be 1 to 2^30");
    }
  }
}

void check_batch(const char* stage, const char* what, const Shape& array, int dimensions,
                 std::int64_t batch) {
  constexpr std::int64_t max_batch = std::int64_t{1} << 30;
  if (batch < 1 || batch > max_batch) {
    refuse(stage, "a batch holds 1 to 2^30 arrays, not " + std::to_string(batch));
  }
  check_array(stage, what, stacked(array, dimensions, batch));
}

void check_batch(const char* stage, const char* what, const ImageBatch& images) {
  check_batch(stage, what, images.shape, images.dimensions, images.count);
}

void check_grey(const char* stage, const char* what, PixelType type) {
  if (!is_grey(type)) {
    refuse(stage, std::string(what) + " must be u8, u16 or f32, not " + name_of(type));
  }
}

void check_real(const char* stage, const char* what, PixelType type) {
  if (type != PixelType::c32) return;
  refuse(stage, std::string(what) +
                    " has complex pixels; register the magnitude, or the real or imaginary part");
}

void check_dimensions(const char* stage, int dimensions) {
  if (dimensions < 1 || dimensions > 3) {
    refuse(stage, "the number of dimensions must be 1, 2 or 3, not " + std::to_string(dimensions));
  }
}

void check_same_device(const char* stage, const char* what, const Device& plan,
                       const Device& argument) {
  if (!plan.same_as(argument)) {
    refuse(stage, std::string(what) + " belongs to " + argument.info().id + " (" +
                      argument.info().name + "), the plan to " + plan.info().id + " (" +
                      plan.info().name + ")");
  }
}

void check_image(const char* stage, const char* what, const Device& plan, const Image& image,
                 PixelType type, const Shape& shape) {
  check_same_device(stage, what, plan, image.device());
  if (image.type() != type || image.shape() != shape) {
    refuse(stage, std::string(what) + " is " + to_string(image.shape()) + " " +
                      name_of(image.type()) + ", the plan expects " + to_string(shape) + " " +
                      name_of(type));
  }
}

void check_buffer(const char* stage, const char* what, const Device& plan, const Buffer& buffer,
                  std::size_t bytes) {
  check_same_device(stage, what, plan, buffer.device());
  if (buffer.size_bytes() < bytes) {
    refuse(stage, std::string(what) + " has " + std::to_string(buffer.size_bytes()) +
                      " bytes, the plan needs " + std::to_string(bytes));
  }
}

void check_stream(const char* stage, const Device& plan, const Stream& stream) {
  check_same_device(stage, "the stream", plan, stream.device());
}

void check_transform(const char* stage, const HomogeneousMatrix& transform) {
  for (const double number : transform.m) {
    if (!std::isfinite(number)) refuse(stage, "the transform contains NaN or infinity");
  }
}

void check_transforms(const char* stage, std::span<const HomogeneousMatrix> transforms,
                      std::int64_t batch) {
  if (static_cast<std::int64_t>(transforms.size()) != batch) {
    refuse(stage, "there are " + std::to_string(transforms.size()) + " transforms for " +
                      std::to_string(batch) + " arrays; give one for each, or one for all");
  }
  for (const HomogeneousMatrix& transform : transforms) check_transform(stage, transform);
}

void check_distinct(const char* stage, const Image& image, const Image& output) {
  if (&image == &output) refuse(stage, "input and output must be different images");
  if (Access::is_read_only(output)) refuse(stage, "the output's memory was given as read-only");
  // Two images may wrap the same memory of the caller.
  const backend::Location a = Access::memory(image).location();
  const backend::Location b = Access::memory(output).location();
  if (a.space == b.space && a.begin < b.begin + output.size_bytes() &&
      b.begin < a.begin + image.size_bytes()) {
    refuse(stage, "input and output overlap in memory");
  }
}

}  // namespace warpalign::detail
