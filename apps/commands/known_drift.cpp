// Aligns the frames of a stack by transforms that an earlier run has found.
#include "commands/known_drift.hpp"

#include "commands/affine_map.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

/// The shape of the frames that were registered.
Shape registered_shape(const KnownDriftChoice& choice, const DriftFile& drift, const Shape& shape) {
  if (!drift.shape) {
    if (choice.crop) {
      throw UsageError(fmt::format(
          "--apply {}: does not tell the size of the frames that were registered, which --crop-at "
          "needs; use the JSON of that run",
          choice.file));
    }
    return shape;
  }
  if (!choice.crop && *drift.shape != shape) {
    throw UsageError(fmt::format(
        "--apply {}: holds transforms of frames of {}, and these are {}; say by --crop-at where "
        "they lie in those",
        choice.file, to_string(*drift.shape), to_string(shape)));
  }
  if (!choice.crop) return shape;
  const bool is_inside = choice.crop->x >= 0 && choice.crop->y >= 0 &&
                         choice.crop->x + static_cast<double>(shape.width) <=
                             static_cast<double>(drift.shape->width) &&
                         choice.crop->y + static_cast<double>(shape.height) <=
                             static_cast<double>(drift.shape->height);
  if (!is_inside) {
    throw UsageError(fmt::format(
        "--crop-at {},{}: frames of {} from there do not lie within those of {} that were "
        "registered",
        choice.crop->x, choice.crop->y, to_string(shape), to_string(*drift.shape)));
  }
  return *drift.shape;
}

/// The map of a frame that does not move, such as the drift's origin: its pixels stay as they are.
class UnmovedMap : public AffineMap {
 public:
  explicit UnmovedMap(FrameWarper& warper) : AffineMap({}, warper) {}
  [[nodiscard]] LoadedImage warp(const LoadedImage& plane) override { return plane; }
};

}  // namespace

std::vector<FrameAlignment> known_drift(const KnownDriftChoice& choice, const DriftFile& drift,
                                        const Shape& shape) {
  const Shape whole = registered_shape(choice, drift, shape);
  const Point3 crop = choice.crop.value_or(Point3{});
  std::vector<FrameAlignment> frames;
  for (const KnownFrame& known : drift.frames) {
    FrameAlignment frame;
    frame.reliable = known.usable && known.reliable;
    if (known.usable) {
      const Affine matrix = known.matrix ? *known.matrix : known.similarity.matrix(whole, whole);
      frame.matrix =
          Affine::translation(-crop.x, -crop.y) * matrix * Affine::translation(crop.x, crop.y);
      frame.confidence = known.confidence;
      frame.correlation = known.correlation;
      frame.overlap = known.overlap;
      frame.significance = known.significance;
    }
    frame.homography = frame.matrix;
    frame.similarity = Similarity::of(frame.matrix, shape, shape);
    frame.refined = true;
    frames.push_back(frame);
  }
  return frames;
}

FrameAlignment KnownDrift::place(const LoadedImage& /*frame*/, std::size_t index) {
  return frames_.at(index);
}

std::unique_ptr<GridMap> KnownDrift::map_of(const LoadedImage& /*frame*/,
                                            const FrameAlignment& place, std::size_t /*index*/) {
  if (is_identity(place.matrix)) return std::make_unique<UnmovedMap>(warper_);
  return std::make_unique<AffineMap>(place.matrix, warper_);
}

}  // namespace warpalign::program
