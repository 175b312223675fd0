// A pair of images from which a pattern of the sensor was masked or subtracted.
#include "registration/scene/remaining_pair.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// The part of the pixels that has to remain of either image.
constexpr double min_left = 0.1;
// The halves are the fields of a chessboard, this many of them along the larger side.
constexpr std::int64_t fields = 3;

}  // namespace

// Returns whether there is anything to see.
template <class Pixels, class Mask>
bool RemainingPair::take(const PairContext& context, std::optional<ImagePyramid>& pyramid,
                         PixelType type, const Pixels& pixels, const Mask* mask, const char* what) {
  const Shape& shape = context.reference.shape();
  if (!pyramid || !pyramid->matches(type, shape)) {
    pyramid.reset();  // release the old memory before allocating the new
    pyramid.emplace(device_, type, shape);
  }
  try {
    pyramid->take(context.stream, context.clock, pixels, mask, what);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image) throw;
    return false;
  }
  return true;
}

bool RemainingPair::take_masked(const PairContext& context, const ImagePyramid& image,
                                const std::vector<std::uint8_t>& mask,
                                std::optional<ImagePyramid>& pyramid, const char* what) {
  const std::vector<std::uint8_t>& used = image.mask() != nullptr ? own_mask_ : mask;
  if (image.mask() != nullptr) {
    own_mask_.resize(mask.size());
    context.stream.download(*image.mask(), own_mask_.data(), own_mask_.size());
    for (std::size_t i = 0; i < mask.size(); ++i) own_mask_[i] = own_mask_[i] != 0 ? mask[i] : 0;
  }
  const auto left = std::count(used.begin(), used.end(), std::uint8_t{1});
  if (static_cast<double>(left) < min_left * static_cast<double>(used.size())) return false;
  const Shape& shape = context.reference.shape();
  const HostImage counted{used.data(), PixelType::u8, shape.width, shape.height, 0};
  return take(context, pyramid, image.type(), image.pixels(), &counted, what);
}

std::optional<PairContext> RemainingPair::masked(const PairContext& context,
                                                 const std::vector<std::uint8_t>& mask) {
  if (!take_masked(context, context.reference, mask, masked_.reference, "the reference image") ||
      !take_masked(context, context.moving, mask, masked_.moving, "the moving image")) {
    return std::nullopt;
  }
  return context.with_images(*masked_.reference, *masked_.moving);
}

std::optional<PairContext> RemainingPair::without(const PairContext& context,
                                                  const SensorLevel& level,
                                                  std::span<const std::uint8_t> pattern) {
  const Shape& shape = context.reference.shape();
  const Affine to_level = level.to_image().inverse();
  const std::int64_t width = level.shape().width, height = level.shape().height;
  const auto nearest = [](double at, std::int64_t n) {
    return std::clamp<std::int64_t>(std::llround(at), 0, n - 1);
  };
  mask_.resize(static_cast<std::size_t>(shape.plane()));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::int64_t v =
        nearest(to_level.e * static_cast<double>(y) + to_level.f, height) * width;
    for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
      const std::int64_t u = nearest(to_level.a * static_cast<double>(x) + to_level.c, width);
      mask_[i] = pattern[static_cast<std::size_t>(v + u)] != 0 ? 0 : 1;
    }
  }
  return masked(context, mask_);
}

void RemainingPair::include_all(const PairContext& context) {
  mask_.assign(static_cast<std::size_t>(context.reference.shape().plane()), 1);
}

std::optional<PairContext> RemainingPair::half(const PairContext& context, int which) {
  const Shape& shape = context.reference.shape();
  const std::int64_t side = std::max<std::int64_t>(1, std::max(shape.width, shape.height) / fields);
  half_ = mask_;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::uint8_t* row = half_.data() + y * shape.width;
    for (std::int64_t x = 0; x < shape.width; x += side) {
      if ((x / side + y / side) % 2 != which) continue;
      std::fill(row + x, row + std::min(x + side, shape.width), std::uint8_t{0});
    }
  }
  return masked(context, half_);
}

std::optional<PairContext> RemainingPair::with_values(const PairContext& context,
                                                      const SensorLevel::Values& values) {
  const Shape& shape = context.reference.shape();
  const auto show = [&](const ImagePyramid& image, const std::vector<float>& pixels,
                        std::optional<ImagePyramid>& pyramid, const char* what) {
    const HostImage view{pixels.data(), PixelType::f32, shape.width, shape.height, 0};
    return take(context, pyramid, PixelType::f32, view, image.mask(), what);
  };
  if (!show(context.reference, values.reference, of_values_.reference, "the reference image") ||
      !show(context.moving, values.moving, of_values_.moving, "the moving image")) {
    return std::nullopt;
  }
  return context.with_images(*of_values_.reference, *of_values_.moving);
}

}  // namespace warpalign::detail
