// Stage: simulated views of an image, each with a tilt, as ASIFT uses them.
#include <warpalign/backend/stages/features/simulated_views.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/features/packed_planes.hpp"
#include "stages/uploaded.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* simulated_views_stage = "simulated_views";
constexpr double max_samples = 64;

// The length of a pixel of the view in the image.
double length_of(const SimulatedView& view) { return std::hypot(view.to_image.a, view.to_image.d); }

SimulatedViewsSpec checked(const SimulatedViewsSpec& spec) {
  detail::check_shape(simulated_views_stage, "the image", spec.image);
  detail::check_planes(simulated_views_stage, backend::shapes_of(spec), 1);
  for (const SimulatedView& view : spec.views) {
    const Affine& map = view.to_image;
    for (const double number : {map.a, map.b, map.c, map.d, map.e, map.f}) {
      if (!std::isfinite(number))
        detail::refuse(simulated_views_stage, "a view's transform contains NaN or infinity");
    }
    if (!(length_of(view) <= max_samples)) {
      detail::refuse(simulated_views_stage,
                     "a pixel of a view is longer than 64 pixels of the image");
    }
  }
  return spec;
}

std::vector<std::int32_t> planes_of(const SimulatedViewsSpec& spec) {
  const std::vector<std::int32_t> words = detail::words_of(backend::shapes_of(spec));
  std::vector<std::int32_t> planes;
  for (std::size_t i = 0; i < spec.views.size(); ++i) {
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(i) * backend::packed_plane_words;
    planes.insert(planes.end(), from, from + backend::packed_plane_words);
    planes.push_back(static_cast<std::int32_t>(std::ceil(std::max(length_of(spec.views[i]), 1.0))));
  }
  return planes;
}

std::vector<float> maps_of(const SimulatedViewsSpec& spec) {
  std::vector<float> maps;
  for (const SimulatedView& view : spec.views) {
    const Affine& map = view.to_image;
    for (const double number : {map.a, map.b, map.c, map.d, map.e, map.f}) {
      maps.push_back(static_cast<float>(number));
    }
  }
  return maps;
}

}  // namespace

SimulatedViewsPlan::SimulatedViewsPlan(const Device& device, const SimulatedViewsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      planes_(detail::uploaded(device, planes_of(spec))),
      maps_(detail::uploaded(device, maps_of(spec))) {}

std::size_t SimulatedViewsPlan::bytes_of(const SimulatedViewsSpec& spec) noexcept {
  std::int64_t pixels = 0;
  for (const SimulatedView& view : spec.views) pixels += view.shape.plane();
  return static_cast<std::size_t>(pixels) * sizeof(float);
}

void SimulatedViewsPlan::execute(Stream& stream, const Image& image, Buffer& views) const {
  detail::check_stream(simulated_views_stage, device_, stream);
  detail::check_image(simulated_views_stage, "the image", device_, image, PixelType::f32,
                      spec_.image);
  detail::check_buffer(simulated_views_stage, "the views", device_, views, bytes_of(spec_));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(image),
                   detail::Access::memory(planes_), detail::Access::memory(maps_),
                   detail::Access::memory(views));
}

}  // namespace warpalign
