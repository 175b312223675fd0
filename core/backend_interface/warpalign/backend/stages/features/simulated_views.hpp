// Stage: an image as many planes that are seen from aside would show it.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class SimulatedViews;
}

struct SimulatedView {
  Shape shape;      ///< depth 1
  Affine to_image;  ///< from pixels of the view to pixels of the image
};

struct SimulatedViewsSpec {
  Shape image;  ///< depth 1
  std::vector<SimulatedView> views;
};

/// Affine views of an image (Morel & Yu 2009). A pixel of a view is the mean of the image along
/// what the pixel takes in along the view's x axis: of as many samples, at even distances, as it is
/// pixels of the image long, rounded up. Between pixels the image is bilinear, and beyond its edges
/// it has the values there. Along the y axis nothing is averaged. Positions are computed in single
/// precision, to about 1e-6 of the image's size.
class WARPALIGN_API SimulatedViewsPlan {
 public:
  SimulatedViewsPlan(const Device& device, const SimulatedViewsSpec& spec);
  /// `image`: f32. `views` gets the views as floats, one behind the other.
  void execute(Stream& stream, const Image& image, Buffer& views) const;

  /// The size of all views together.
  [[nodiscard]] static std::size_t bytes_of(const SimulatedViewsSpec& spec) noexcept;

 private:
  Device device_;
  SimulatedViewsSpec spec_;
  std::shared_ptr<backend::SimulatedViews> kernel_;
  Buffer planes_, maps_;
};

}  // namespace warpalign

namespace warpalign::backend {

[[nodiscard]] inline std::vector<Shape> shapes_of(const SimulatedViewsSpec& spec) {
  std::vector<Shape> shapes;
  for (const SimulatedView& view : spec.views) shapes.push_back(view.shape);
  return shapes;
}

class SimulatedViews : public Stage {
 public:
  using Setup = SimulatedViewsSpec;

  /// `planes`: of each view its first pixel, its width, its height, and of how many samples a pixel
  /// is the mean, as int32. `maps`: a, b, c, d, e and f of each map to the image, as floats.
  virtual void enqueue(Queue& queue, const Memory& image, const Memory& planes, const Memory& maps,
                       Memory& views) = 0;
};

}  // namespace warpalign::backend
