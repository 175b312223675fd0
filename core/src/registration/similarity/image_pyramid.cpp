// One image of a pair on the device, at its own resolution and at coarser ones.
#include "registration/similarity/image_pyramid.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace warpalign::detail {

namespace {

// Of the Gaussian in front of a coarser sampling, in units of the spacing. At the new Nyquist
// frequency 0.29 of a wave is left.
constexpr double sigma_a_spacing = 0.5;

// Contrast below this part of the picture's own is not amplified.
constexpr double contrast_floor = 0.1;
constexpr double contrast_sigma = 3;  // view pixels

constexpr std::size_t most_idle_views = 8;
constexpr std::int64_t measured_side = 256;  // of the view that mean and deviation come from

// Pictures with fewer isolated pixels at the ends of their range have no impulse noise: what is
// there is content, stars say.
constexpr double least_isolated = 0.005;

std::int64_t samples(std::int64_t pixels, const Sampling2d& sampling) {
  const auto all = static_cast<std::int64_t>(
                       std::floor(static_cast<double>(pixels - 1) / sampling.spacing + 1e-9)) +
                   1;
  return sampling.most > 0 ? std::min(all, sampling.most) : all;
}

double origin(std::int64_t pixels, std::int64_t samples, double spacing) {
  return (static_cast<double>(pixels - 1) - static_cast<double>(samples - 1) * spacing) / 2;
}

Shape view_shape(const Shape& picture, const Sampling2d& sampling) {
  return {samples(picture.width, sampling), samples(picture.height, sampling), 1};
}

SmoothSpec smoothing(PixelType type, const Shape& picture, bool masked,
                     const Sampling2d& sampling) {
  const Shape shape = view_shape(picture, sampling);
  const double sigma = sampling.spacing > 1 ? sigma_a_spacing * sampling.spacing : 0;
  return {.input = type,
          .shape = picture,
          .output = shape,
          .origin = {origin(picture.width, shape.width, sampling.spacing),
                     origin(picture.height, shape.height, sampling.spacing)},
          .spacing = sampling.spacing,
          .sigma = sigma,
          .masked = masked};
}

void read(Stream& stream, const Image& image, std::optional<Readback<float>>& values) {
  const auto n = static_cast<std::size_t>(image.shape().pixels());
  if (!values || values->count() != n) values.emplace(stream.device(), n);
  values->enqueue(stream, image.buffer());
}

}  // namespace

View::View(const Device& device, PixelType type, const Shape& picture, bool masked,
           const Sampling2d& sampling)
    : device_(device),
      type_(type),
      sampling_(sampling),
      shape_(view_shape(picture, sampling)),
      to_picture_{sampling.spacing,
                  0,
                  origin(picture.width, shape_.width, sampling.spacing),
                  0,
                  sampling.spacing,
                  origin(picture.height, shape_.height, sampling.spacing)},
      smooth_(device, smoothing(type, picture, masked, sampling)),
      values_(device.make_image(PixelType::f32, shape_)) {
  if (masked) weight_.emplace(device.make_image(PixelType::f32, shape_));
}

Picture::Picture(const Device& device, PixelType type, const Shape& shape)
    : device_(device), type_(type), shape_(shape), pixels_(device.make_image(type, shape)) {}

void Picture::take(Stream& stream, StageClock& clock, const HostImage& pixels,
                   const HostImage* mask, const char* what) {
  clock.run("upload", [&] { stream.upload(pixels, pixels_); });
  start(stream, clock, mask, what);
}

void Picture::take(Stream& stream, StageClock& clock, const Image& pixels, const HostImage* mask,
                   const char* what) {
  clock.run("copy", [&] { stream.copy(pixels.buffer(), pixels_.buffer()); });
  start(stream, clock, mask, what);
}

void Picture::start(Stream& stream, StageClock& clock, const HostImage* mask, const char* what) {
  // Beside pictures of ever other sizes views pile up: those that the last one did without go.
  if (views_.size() > most_idle_views) {
    views_.remove_if([](const View& view) { return !view.has_values_; });
  }
  for (View& view : views_) {
    view.has_values_ = view.has_even_ = view.has_coefficients_ = false;
  }
  masked_ = mask != nullptr;
  if (masked_) {
    if (!mask_) mask_.emplace(device_.make_image(PixelType::u8, shape_));
    clock.run("upload", [&] { stream.upload(*mask, *mask_); });
  }
  fill_impulses(stream, clock);
  const auto side = static_cast<double>(std::max(shape_.width, shape_.height));
  const double spacing = std::max(1.0, side / static_cast<double>(measured_side));
  const View& whole = view(stream, clock, {spacing});
  measure(stream, whole, what);
  if (masked_) return;
  mask_frame(stream, clock, whole);
  if (masked_) measure(stream, view(stream, clock, {spacing}), what);
}

// The view's pixels are the means of several of the picture's: a frame is wider than it seems by
// what they reach.
void Picture::mask_frame(Stream& stream, StageClock& clock, const View& view) {
  constexpr int reach = 3;
  const Shape& coarse = view.shape();
  const auto content = frame_search_.content(
      {coarse.width, coarse.height, values_->wait(), levels_.lowest, levels_.highest}, reach);
  if (!content) return;
  const Affine to_view = view.to_picture().inverse();
  const auto nearest = [](double at, std::int64_t n) {
    return std::clamp<std::int64_t>(std::llround(at), 0, n - 1);
  };
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(shape_.plane()));
  for (std::int64_t y = 0; y < shape_.height; ++y) {
    const std::int64_t v = nearest(to_view.e * static_cast<double>(y) + to_view.f, coarse.height);
    for (std::int64_t x = 0; x < shape_.width; ++x) {
      const std::int64_t u = nearest(to_view.a * static_cast<double>(x) + to_view.c, coarse.width);
      mask[static_cast<std::size_t>(y * shape_.width + x)] =
          (*content)[static_cast<std::size_t>(v * coarse.width + u)];
    }
  }
  if (!mask_) mask_.emplace(device_.make_image(PixelType::u8, shape_));
  clock.run("upload", [&] {
    stream.upload(HostImage{mask.data(), PixelType::u8, shape_.width, shape_.height, 0}, *mask_);
  });
  masked_ = true;
}

// Masked pixels may hold anything: pictures with a mask are taken as they are.
void Picture::fill_impulses(Stream& stream, StageClock& clock) {
  speckled_ = false;
  if (masked_) return;
  if (!despeckle_) despeckle_.emplace(device_, DespeckleSpec{type_, shape_});
  SpeckleCensus census;
  clock.run("despeckle", [&] { census = despeckle_->census(stream, pixels_); });
  if (census.isolated < least_isolated) return;
  if (!filled_) filled_.emplace(device_.make_image(PixelType::f32, shape_));
  clock.run("despeckle", [&] { despeckle_->execute(stream, pixels_, census, *filled_); });
  speckled_ = true;
}

// Every pixel that counts is part of some pixel of the view, so that NaN and infinities show there.
void Picture::measure(Stream& stream, const View& view, const char* what) {
  read(stream, view.values(), values_);
  if (view.masked()) {
    read(stream, *view.weight(), weights_);
    levels_ = grey_levels(values_->wait(), weights_->wait());
  } else {
    levels_ = grey_levels(values_->wait());
  }
  if (!std::isfinite(levels_.mean)) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) +
                    " holds NaN or infinities; replace them with ordinary "
                    "numbers, or mask them, first");
  }
  if (!(levels_.weight > 0)) {
    throw Error(ErrorKind::invalid_image, "the mask of " + std::string(what) + " leaves no pixel");
  }
  if (!(levels_.deviation > 1e-6 * std::abs(levels_.mean))) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " is constant: there is nothing in it to register");
  }
}

void Picture::smooth(Stream& stream, const SmoothPlan& plan, Image& values, Image* weight) const {
  if (masked_) {
    plan.execute(stream, pixels(), *mask_, values, *weight);
  } else {
    plan.execute(stream, pixels(), values);
  }
}

View& Picture::view(Stream& stream, StageClock& clock, const Sampling2d& sampling) {
  auto found = std::find_if(views_.begin(), views_.end(), [&](const View& v) {
    return v.sampling() == sampling && v.type() == type() && v.masked() == masked_;
  });
  if (found == views_.end()) {
    views_.emplace_back(device_, type(), shape_, masked_, sampling);
    found = std::prev(views_.end());
  }
  View& view = *found;
  if (!view.has_values_) {
    clock.run("view", [&] {
      smooth(stream, view.smooth_, view.values_, view.weight_ ? &*view.weight_ : nullptr);
    });
    view.has_values_ = true;
  }
  return view;
}

const Image& Picture::even(Stream& stream, StageClock& clock, View& view) {
  if (!view.contrast_) {
    view.contrast_.emplace(device_, LocalContrastSpec{view.shape_, contrast_sigma, view.masked()});
    view.even_.emplace(device_.make_image(PixelType::f32, view.shape_));
  }
  if (view.has_even_) return *view.even_;
  const auto mean = static_cast<float>(levels_.mean);
  const auto floor = static_cast<float>(contrast_floor * levels_.deviation);
  clock.run("local_contrast", [&] {
    if (view.weight_) {
      view.contrast_->execute(stream, view.values_, *view.weight_, mean, floor, *view.even_);
    } else {
      view.contrast_->execute(stream, view.values_, mean, floor, *view.even_);
    }
  });
  view.has_even_ = true;
  return *view.even_;
}

const Image& Picture::coefficients(Stream& stream, StageClock& clock, View& view) {
  if (!view.prefilter_) {
    view.prefilter_.emplace(device_, PrefilterSpec{.shape = view.shape_});
    view.coefficients_.emplace(device_.make_image(PixelType::f32, view.shape_));
  }
  if (view.has_coefficients_) return *view.coefficients_;
  const Image& samples = even(stream, clock, view);
  clock.run("prefilter", [&] { view.prefilter_->execute(stream, samples, *view.coefficients_); });
  view.has_coefficients_ = true;
  return *view.coefficients_;
}

}  // namespace warpalign::detail
