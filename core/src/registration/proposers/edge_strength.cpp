// The edge strength of an image, as an image.
#include "registration/proposers/edge_strength.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The sides of the edge strength images, in pixels. One pixel is about as wide as a pen stroke. The
// moving image gets more pixels if it shows much more than the reference.
constexpr double reference_side = 448;
constexpr double max_moving_side = 1024;
constexpr float min_weight = 0.5F;  // smallest weight of a level's pixel that counts

}  // namespace

void gradient_lengths(const Shape& shape, std::span<const float> values,
                      std::span<const float> counts, std::vector<float>& lengths) {
  lengths.assign(values.size(), 0);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    return static_cast<std::size_t>(y * shape.width + x);
  };
  const auto all_count = [&](std::int64_t x, std::int64_t y) {
    if (counts.empty()) return true;
    return counts[at(x - 1, y)] > min_weight && counts[at(x + 1, y)] > min_weight &&
           counts[at(x, y - 1)] > min_weight && counts[at(x, y + 1)] > min_weight;
  };
  for (std::int64_t y = 1; y + 1 < shape.height; ++y) {
    for (std::int64_t x = 1; x + 1 < shape.width; ++x) {
      if (!all_count(x, y)) continue;
      const float across = values[at(x + 1, y)] - values[at(x - 1, y)];
      const float down = values[at(x, y + 1)] - values[at(x, y - 1)];
      lengths[at(x, y)] = std::sqrt(across * across + down * down) / 2;
    }
  }
}

bool EdgeStrength::take(const PairContext& work, ImagePyramid& pyramid, double spacing,
                        Side& side) {
  PyramidLevel& level = pyramid.level(work.stream, work.clock, {spacing});
  const Shape& shape = level.shape();
  copy_to_host(work.stream, pyramid.normalized(work.stream, work.clock, level), values_);
  counts_.clear();
  if (level.weight() != nullptr) copy_to_host(work.stream, *level.weight(), counts_);
  gradient_lengths(shape, values_, counts_, lengths_);
  mask_.assign(lengths_.size(), 1);
  for (std::size_t i = 0; i < counts_.size(); ++i) mask_[i] = counts_[i] > min_weight ? 1 : 0;
  if (!side.pyramid || !side.pyramid->matches(PixelType::f32, shape)) {
    side.pyramid.emplace(device_, PixelType::f32, shape);
  }
  side.to_image = level.to_image();
  const HostImage mask{mask_.data(), PixelType::u8, shape.width, shape.height, 0};
  try {
    side.pyramid->take(work.stream, work.clock,
                       HostImage{lengths_.data(), PixelType::f32, shape.width, shape.height, 0},
                       counts_.empty() ? nullptr : &mask, "the strength of edges");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image) throw;
    return false;
  }
  return true;
}

std::optional<PairContext> EdgeStrength::of(const PairContext& work) {
  const double spacing = std::max({1.0, larger_side(work.reference.shape()) / reference_side,
                                   larger_side(work.moving.shape()) / max_moving_side});
  if (!take(work, work.reference, spacing, reference_)) return std::nullopt;
  if (!take(work, work.moving, spacing, moving_)) return std::nullopt;
  PairContext edges = work.with_images(*reference_.pyramid, *moving_.pyramid);
  edges.cancelled = work.cancelled;
  return edges;
}

}  // namespace warpalign::detail
