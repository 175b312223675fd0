// How much an image resembles itself at other shifts.
#include "registration/scoring/self_similarity.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace warpalign::detail {

namespace {

std::int64_t padded(std::int64_t side) { return fft_friendly_size(side + side / 2 + 2); }

// The products are those of the image with itself and with its mirror image.
Shape two_of(const Shape& plane) { return {plane.width, plane.height, 2}; }

}  // namespace

SelfSimilarity::SelfSimilarity(const Device& on, const Shape& image)
    : padded_{padded(image.width), padded(image.height), 1},
      pad_(on, {image, padded_}),
      forward_(on, {padded_, 2, FftDirections::forward}),
      inverse_(on, {two_of(padded_), 2, FftDirections::inverse}),
      products_(on, {padded_}),
      peaks_(on, {image, padded_}),
      frame_(on.make_image(PixelType::f32, padded_)),
      spectrum_(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      product_(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(two_of(padded_)))),
      surfaces_(on.make_image(PixelType::f32, two_of(padded_))),
      on_device_(on.make_buffer(static_cast<std::size_t>(peaks_.rows()) * sizeof(float))),
      on_host_(on, static_cast<std::size_t>(peaks_.rows())) {}

void SelfSimilarity::enqueue(StageClock& clock, const Image& image) {
  Stream& stream = clock.stream();
  if (is_fetching_) static_cast<void>(on_host_.wait());  // nobody has asked for the last one
  clock.run("self-similarity", [&] {
    pad_.execute(stream, image, Affine{}, frame_);
    forward_.forward(stream, frame_, spectrum_);
    products_.execute(stream, spectrum_, spectrum_, product_);
    inverse_.inverse(stream, product_, surfaces_);
    peaks_.execute(stream, surfaces_, on_device_);
    on_host_.enqueue(stream, on_device_);
  });
  is_fetching_ = true;
}

double SelfSimilarity::coefficient() {
  if (!is_fetching_) return coefficient_;
  const std::span<const float> peaks = on_host_.wait();
  is_fetching_ = false;
  coefficient_ = static_cast<double>(*std::max_element(peaks.begin(), peaks.end()));
  return coefficient_;
}

}  // namespace warpalign::detail
