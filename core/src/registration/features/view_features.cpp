// Local features of an image in simulated views.
#include "registration/features/view_features.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr std::size_t features_per_view = 400;
// The blur of an unprocessed image, as the sigma of a Gaussian.
constexpr double blur_of_pixels = 0.5;

Point position_in_image(const SimulatedViewsSpec& spec, const Blob& blob) {
  const double spacing = spacing_of_octave(blob.octave);
  return spec.views[static_cast<std::size_t>(blob.plane)].to_image(
      {spacing * static_cast<double>(blob.x), spacing * static_cast<double>(blob.y)});
}

bool is_inside(const Shape& image, Point place) {
  return place.x >= 0 && place.y >= 0 && place.x < static_cast<double>(image.width) &&
         place.y < static_cast<double>(image.height);
}

}  // namespace

std::size_t max_view_features() { return num_views() * features_per_view; }

ViewFeatureSearch::ViewFeatureSearch(const Device& device, const Shape& image,
                                     ScaleSpaceMemory& memory)
    : device_(device), image_(image), memory_(&memory) {
  const double blur = blur_of_pixels / spacing_of_views(image);
  for (const SimulatedViewsSpec& spec : views_of(image)) {
    reserve(device_, memory.planes, SimulatedViewsPlan::bytes_of(spec));
    groups_.push_back({spec, SimulatedViewsPlan(device_, spec),
                       ScaleSpace(device_, backend::shapes_of(spec), blur, memory)});
  }
}

void ViewFeatureSearch::find(Stream& stream, const Image& image, ViewFeatures& features,
                             const std::atomic<bool>* stop) {
  features.places.clear();
  features.in_views.clear();
  reserve(device_, features.descriptors,
          max_view_features() * DescriptorsPlan::dimensions * sizeof(float));
  for (Group& group : groups_) {
    if (stop != nullptr && *stop) return;
    group.views.execute(stream, image, *memory_->planes);
    std::vector<OrientedBlob>& blobs = group.scale_space.strongest(stream, features_per_view);
    std::erase_if(blobs, [&](const OrientedBlob& item) {
      return !is_inside(image_, position_in_image(group.spec, item.blob));
    });
    group.scale_space.describe(stream, blobs, features.in_views, *features.descriptors);
    for (const OrientedBlob& item : blobs) {
      features.places.push_back(position_in_image(group.spec, item.blob));
    }
  }
}

}  // namespace warpalign::detail
