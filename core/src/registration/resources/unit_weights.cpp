// Unit weights, for an image without a mask whose counterpart has a mask.
#include "registration/resources/unit_weights.hpp"

#include <vector>

namespace warpalign::detail {

const Image& UnitWeights::of(Stream& stream, const Shape& shape) {
  return images_.get(shape, [&] {
    Image image = device_.make_image(PixelType::f32, shape);
    const std::vector<float> ones(static_cast<std::size_t>(shape.pixels()), 1.0F);
    stream.upload(ones.data(), ones.size() * sizeof(float), image.buffer());
    return image;
  });
}

PairWeights weights_of(Stream& stream, UnitWeights& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving) {
  if (reference_weight == nullptr && moving_weight == nullptr) return {};
  return {reference_weight != nullptr ? reference_weight : &ones.of(stream, reference),
          moving_weight != nullptr ? moving_weight : &ones.of(stream, moving)};
}

}  // namespace warpalign::detail
