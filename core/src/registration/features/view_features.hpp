// Local features of an image as it is seen from many sides.
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

/// The features of an image. The memory grows, and is used for one image after the other.
struct ViewFeatures {
  std::vector<FeaturePlace> in_views;  ///< as the stages know them
  std::vector<Point> places;           ///< in pixels of the image
  std::optional<Buffer> descriptors;   ///< as DescriptorsPlan writes them, a row for each place
};

/// The most features of an image.
[[nodiscard]] std::size_t max_view_features();

/// Finds the features of images of one shape (Lowe 2004, with roots: Arandjelovic & Zisserman
/// 2012): of each view the 400 strongest blobs.
class ViewFeatureSearch {
 public:
  ViewFeatureSearch(const Device& device, const Shape& image, ScaleSpaceMemory& memory);
  [[nodiscard]] const Shape& image() const { return image_; }
  /// Waits for the device. Where `stop` is set and becomes true, nobody wants the result.
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
