// Stage: simulated views of an image, each with a tilt, as ASIFT uses them.
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

/// Computes affine views of an image (ASIFT, Morel & Yu 2009). A pixel of a view is the mean of the
/// image over the pixel's extent along the view's x axis, to avoid aliasing. The number of evenly
/// spaced samples is the length of this extent in pixels of the image, rounded up. There is no
/// averaging along the y axis. The image is interpolated bilinearly, and repeats its edges.
/// Positions have single precision, about 1e-6 of the image's size.
class WARPALIGN_API SimulatedViewsPlan {
 public:
  SimulatedViewsPlan(const Device& device, const SimulatedViewsSpec& spec);
  /// `image`: f32. `views` receives the views as floats, one after the other.
  void execute(Stream& stream, const Image& image, Buffer& views) const;

  /// The total size of all views.
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

  /// `planes`: first pixel, width, height and number of samples per pixel of each view, as int32.
  /// `maps`: a, b, c, d, e and f of each transform to the image, as floats.
  virtual void enqueue(Queue& queue, const Memory& image, const Memory& planes, const Memory& maps,
                       Memory& views) = 0;
};

}  // namespace warpalign::backend
