// Local features of an image in simulated views.
#pragma once

#include "registration/features/scale_space.hpp"
#include "registration/features/view_geometry.hpp"

#include <warpalign/backend/stages/features/simulated_views.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The features of an image. The buffers grow and are reused from one image to the next.
struct ViewFeatures {
  std::vector<Keypoint> in_views;     ///< positions in the views, for the stages
  std::vector<Point> places;          ///< in pixels of the image
  std::optional<Buffer> descriptors;  ///< as written by DescriptorsPlan; one row per feature
};

/// The maximum number of features of an image.
[[nodiscard]] std::size_t max_view_features();

/// Finds the features of images of one shape: the 400 strongest blobs of each view (Lowe 2004, with
/// RootSIFT descriptors: Arandjelovic & Zisserman 2012).
class ViewFeatureSearch {
 public:
  ViewFeatureSearch(const Device& device, const Shape& image, ScaleSpaceMemory& memory);
  [[nodiscard]] const Shape& image() const { return image_; }
  /// Waits for the device. If `stop` is set and becomes true, the result is unusable.
  void find(Stream& stream, const Image& image, ViewFeatures& features,
            const std::atomic<bool>* stop = nullptr);

 private:
  struct Group {
    SimulatedViewsSpec spec;
    SimulatedViewsPlan views;
    ScaleSpace scale_space;
  };

  Device device_;
  Shape image_;
  ScaleSpaceMemory* memory_;
  std::vector<Group> groups_;
};

}  // namespace warpalign::detail
