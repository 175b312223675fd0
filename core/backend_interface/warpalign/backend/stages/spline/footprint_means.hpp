// The backend's interface of the stage: means of a spline over the footprints of output points.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::backend {

/// One point of a footprint, relative to its centre, and its weight. Offsets are the sum of an
/// integer and a fraction, so that sums with coordinates stay exact.
struct FootprintPoint {
  float whole[3];
  float fraction[3];
  float weight;
  float unused;
};

/// The rows of an affine transform, each coefficient as the sum of two floats: for x, y and z the
/// high parts of four coefficients, then the low parts.
using TransformRows = std::vector<float>;

class FootprintMeans : public Stage {
 public:
  struct Setup {
    ImageBatch images;  ///< without the margin
    Shape output;
    int degree = 1;      ///< 1 to 5
    int components = 1;  ///< floats of a pixel
    InterpolateDetails details;
    float cval = 0;
    int num_points = 1;
  };

  /// The mean at p is the sum of weight times the spline at the transformed p plus the offset, over
  /// all points. With `reject_outside`, it is cval if the transformed p is outside the samples, and
  /// `extension` extends the samples for the other points.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const Memory& rows,
                       const Memory& points, Memory& output) = 0;
};

}  // namespace warpalign::backend
