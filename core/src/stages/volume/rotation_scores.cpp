// Stage: correlation of points with a volume under many rotations.
#include <warpalign/backend/stages/volume/rotation_scores.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* rotation_scores_stage = "rotation_scores";
constexpr int max_radius = 256;
constexpr std::int64_t max_count = 1 << 20;
constexpr float tolerance = 1e-3F;  // of a rotation, and of a point's distance

RotationScoresSpec checked(const RotationScoresSpec& spec) {
  if (spec.radius < 1 || spec.radius > max_radius) {
    detail::refuse(rotation_scores_stage, "the radius must be 1 to " + std::to_string(max_radius));
  }
  for (const std::int64_t count : {spec.max_points, spec.max_rotations}) {
    if (count < 1 || count > max_count) {
      detail::refuse(rotation_scores_stage,
                     "the numbers of points and rotations must be 1 to 2^20");
    }
  }
  return spec;
}

// Kernels do not check bounds.
void check_points(std::span<const ScoredPoint> points, int radius) {
  const float limit = static_cast<float>(radius) + tolerance;
  for (const ScoredPoint& p : points) {
    if (!(p.x * p.x + p.y * p.y + p.z * p.z <= limit * limit)) {
      detail::refuse(rotation_scores_stage, "a point lies outside of the radius");
    }
  }
}

void check_rotation(const RotationMatrix& r) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const float product =
          r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
      if (!(std::abs(product - (i == j ? 1.0F : 0.0F)) <= tolerance)) {
        detail::refuse(rotation_scores_stage, "a matrix is not a rotation");
      }
    }
  }
}

Buffer floats(const Device& device, std::int64_t count) {
  return Device(device).make_buffer(static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace

RotationScoresPlan::RotationScoresPlan(const Device& device, const RotationScoresSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      points_(std::make_shared<Buffer>(floats(device, 4 * spec.max_points))),
      rotations_(std::make_shared<Buffer>(floats(device, 9 * spec.max_rotations))),
      scores_(std::make_shared<detail::Results<float>>(
          device, static_cast<std::size_t>(spec.max_rotations))) {}

std::span<const float> RotationScoresPlan::execute(
    Stream& stream, const Image& volume, std::span<const ScoredPoint> points,
    std::span<const RotationMatrix> rotations) const& {
  detail::check_stream(rotation_scores_stage, device_, stream);
  const std::int64_t side = spec_.side();
  detail::check_image(rotation_scores_stage, "the volume", device_, volume, PixelType::f32,
                      {side, side, side});
  if (points.size() > static_cast<std::size_t>(spec_.max_points) ||
      rotations.size() > static_cast<std::size_t>(spec_.max_rotations)) {
    detail::refuse(rotation_scores_stage,
                   "there are more points or rotations than the plan supports");
  }
  if (rotations.empty()) return {};
  check_points(points, spec_.radius);
  for (const RotationMatrix& rotation : rotations) check_rotation(rotation);
  if (!points.empty()) stream.upload(points.data(), points.size_bytes(), *points_);
  stream.upload(rotations.data(), rotations.size_bytes(), *rotations_);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(volume), detail::Access::memory(std::as_const(*points_)),
                    detail::Access::memory(std::as_const(*rotations_))},
                   static_cast<std::int64_t>(points.size()),
                   static_cast<std::int64_t>(rotations.size()), scores_->memory());
  return scores_->fetch(stream, rotations.size());
}

}  // namespace warpalign
