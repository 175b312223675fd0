// How much images resemble themselves at other shifts.
#include "registration/scoring/self_similarity.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

std::int64_t padded(std::int64_t side) { return fft_friendly_size(side + side / 2 + 2); }

std::size_t count_of(std::int64_t images) { return static_cast<std::size_t>(images); }

}  // namespace

SelfSimilarity::SelfSimilarity(const Device& on, const Shape& image, std::int64_t images)
    : padded_{padded(image.width), padded(image.height), 1},
      pad_(on, {image, images, {WindowOrigin{}}, image, padded_, Window::none}),
      fft_(on, {stacked(padded_, 2, images), 2, FftDirections::both}),
      power_(on, {.window = padded_, .windows = images, .whitened = false}),
      peaks_(on, {image, padded_, images}),
      frames_(on.make_image(PixelType::f32, stacked(padded_, 2, images))),
      spectra_(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames_.shape()))),
      means_(on.make_buffer(count_of(images) * sizeof(float))),
      on_device_(on.make_buffer(count_of(images * peaks_.rows()) * sizeof(float))),
      on_host_(on, count_of(images * peaks_.rows())) {}

void SelfSimilarity::enqueue(StageClock& clock, const Image& images) {
  Stream& stream = clock.stream();
  if (is_fetching_) static_cast<void>(on_host_.wait());  // nobody has asked for the last ones
  clock.run("self-similarity", [&] {
    pad_.execute(stream, images, means_, frames_);
    fft_.forward(stream, frames_, spectra_);
    power_.execute(stream, spectra_, spectra_, spectra_);
    fft_.inverse(stream, spectra_, frames_);
    peaks_.execute(stream, frames_, on_device_);
    on_host_.enqueue(stream, on_device_);
  });
  is_fetching_ = true;
}

double SelfSimilarity::coefficient(std::size_t image) {
  if (is_fetching_) fetched_ = on_host_.wait();
  is_fetching_ = false;
  const std::size_t rows = count_of(peaks_.rows());
  const std::span<const float> peaks = fetched_.subspan(image * rows, rows);
  return static_cast<double>(*std::max_element(peaks.begin(), peaks.end()));
}

}  // namespace warpalign::detail
