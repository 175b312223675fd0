// Stages: correlation of two images at every shift, normalized by the overlap.
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

#include <warpalign/stages/fft.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spectrum/outline_edges.hpp"
#include "stages/spectrum/overlap_limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* products_stage = "overlap_products";
constexpr const char* peaks_stage = "overlap_peaks";

Shape spectra(const Shape& image, std::int64_t depth) {
  return RealFftPlan::half_spectrum({image.width, image.height, depth});
}

void check(const char* stage, const Shape& shape, std::int64_t batch) {
  detail::check_shape(stage, "the image", shape);
  if (batch < 1 || batch > max_overlap_batch) {
    detail::refuse(stage, "the batch must be 1 to " + std::to_string(max_overlap_batch));
  }
}

OverlapProductsSpec checked(const OverlapProductsSpec& spec) {
  check(products_stage, spec.image, spec.batch);
  return spec;
}

OverlapPeaksSpec checked(const OverlapPeaksSpec& spec) {
  check(peaks_stage, spec.surface, spec.batch);
  if (spec.outlines && spec.one_overlap) {
    detail::refuse(peaks_stage, "outlines and one_overlap exclude each other");
  }
  return spec;
}

void check_limits(const OverlapLimits& limits) {
  for (const float number : {limits.min_overlap, limits.reach, limits.centre_x, limits.centre_y,
                             limits.mirrored_centre_x, limits.mirrored_centre_y, limits.first_x,
                             limits.first_y, limits.second_x, limits.second_y}) {
    if (!std::isfinite(number)) detail::refuse(peaks_stage, "the limits contain NaN or infinity");
  }
  if (!(limits.min_overlap > 0)) detail::refuse(peaks_stage, "min_overlap must be above 0");
  if (limits.reach < 0) detail::refuse(peaks_stage, "reach must be 0 or more");
}

// The number of limits or outlines must be the number of images of the batch.
void check_count(const char* what, std::size_t count, const OverlapPeaksSpec& spec) {
  if (count == static_cast<std::size_t>(spec.batch)) return;
  detail::refuse(peaks_stage, std::string("there are ") + what + " for " + std::to_string(count) +
                                  " images, but the batch is " + std::to_string(spec.batch));
}

}  // namespace

OverlapProductsPlan::OverlapProductsPlan(const Device& device, const OverlapProductsSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void OverlapProductsPlan::execute(Stream& stream, const Image& a, const Image& b,
                                  Image& products) const {
  if (spec_.second_channel) detail::refuse(products_stage, "the second channels are missing");
  check_spectra(stream, {&a}, {&b}, products);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(a), detail::Access::memory(b)},
                   detail::Access::memory(products));
}

void OverlapProductsPlan::execute(Stream& stream, const Image& a, const Image& a_second,
                                  const Image& b, const Image& b_second, Image& products) const {
  if (!spec_.second_channel) detail::refuse(products_stage, "this plan supports only one channel");
  check_spectra(stream, {&a, &a_second}, {&b, &b_second}, products);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(a), detail::Access::memory(b),
                    &detail::Access::memory(a_second), &detail::Access::memory(b_second)},
                   detail::Access::memory(products));
}

void OverlapProductsPlan::check_spectra(const Stream& stream,
                                        std::initializer_list<const Image*> of_a,
                                        std::initializer_list<const Image*> of_b,
                                        const Image& products) const {
  detail::check_stream(products_stage, device_, stream);
  const auto check_spectrum = [&](const Image& spectrum, std::int64_t depth) {
    detail::check_image(products_stage, "a spectrum", device_, spectrum, PixelType::c32,
                        spectra(spec_.image, depth));
    detail::check_distinct(products_stage, spectrum, products);
  };
  for (const Image* spectrum : of_a) check_spectrum(*spectrum, 1);
  for (const Image* spectrum : of_b) check_spectrum(*spectrum, spec_.batch);
  detail::check_image(products_stage, "the products", device_, products, PixelType::c32,
                      spectra(spec_.image, 2 * spec_.batch));
}

OverlapPeaksPlan::OverlapPeaksPlan(const Device& device, const OverlapPeaksSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      edges_(std::make_shared<std::vector<backend::OutlineEdges>>()) {
  if (spec.outlines) edges_->reserve(static_cast<std::size_t>(spec.batch));
}

void OverlapPeaksPlan::execute(Stream& stream, const Image& surfaces, const Image& overlaps,
                               const OverlapLimits& limits, Buffer& records) const {
  enqueue(stream, surfaces, overlaps, {&limits, 1}, records);
}

void OverlapPeaksPlan::execute_each(Stream& stream, const Image& surfaces, const Image& overlaps,
                                    std::span<const OverlapLimits> limits, Buffer& records) const {
  check_count("limits", limits.size(), spec_);
  enqueue(stream, surfaces, overlaps, limits, records);
}

void OverlapPeaksPlan::execute_outlines(Stream& stream, const Image& surfaces,
                                        std::span<const OverlapOutline> outlines,
                                        std::span<const OverlapLimits> limits,
                                        Buffer& records) const {
  if (!spec_.outlines) detail::refuse(peaks_stage, "this plan requires overlaps, not outlines");
  check_count("outlines", outlines.size(), spec_);
  if (limits.size() != 1) check_count("limits", limits.size(), spec_);
  check_call(stream, surfaces, limits, records);
  edges_->clear();
  for (const OverlapOutline& outline : outlines) {
    edges_->push_back(detail::edges_of(peaks_stage, outline));
  }
  kernel_->enqueue_outlines(detail::Access::queue(stream), detail::Access::memory(surfaces),
                            *edges_, limits, detail::Access::memory(records));
}

void OverlapPeaksPlan::enqueue(Stream& stream, const Image& surfaces, const Image& overlaps,
                               std::span<const OverlapLimits> limits, Buffer& records) const {
  if (spec_.outlines) detail::refuse(peaks_stage, "this plan requires outlines, not overlaps");
  check_call(stream, surfaces, limits, records);
  detail::check_image(
      peaks_stage, "the overlaps", device_, overlaps, PixelType::f32,
      {spec_.surface.width, spec_.surface.height, 2 * (spec_.one_overlap ? 1 : spec_.batch)});
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(surfaces),
                   detail::Access::memory(overlaps), limits, detail::Access::memory(records));
}

void OverlapPeaksPlan::check_call(const Stream& stream, const Image& surfaces,
                                  std::span<const OverlapLimits> limits,
                                  const Buffer& records) const {
  detail::check_stream(peaks_stage, device_, stream);
  detail::check_image(peaks_stage, "the surfaces", device_, surfaces, PixelType::f32,
                      {spec_.surface.width, spec_.surface.height, 2 * spec_.batch});
  detail::check_buffer(peaks_stage, "the records", device_, records,
                       2 * static_cast<std::size_t>(spec_.batch) * sizeof(PeakRecord));
  for (const OverlapLimits& of_image : limits) check_limits(of_image);
}

}  // namespace warpalign
