// Stage: the radial profile divided out of a log-polar spectrum.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class RadialWhitening;
}

struct RadialWhiteningSpec {
  Shape image;  ///< width = number of radii, height = number of angles; depth 1
};

/// value / m - 1 with the mean m of the values of the same column (radius) that are not 0; 0 stays
/// 0. What all pictures' spectra share, their fall with the frequency and the low-pass filters in
/// front of them, would else correlate at no turn and no scale. In place, f32, values >= 0.
class WARPALIGN_API RadialWhiteningPlan {
 public:
  RadialWhiteningPlan(const Device& device, const RadialWhiteningSpec& spec);
  void execute(Stream& stream, Image& image) const;

 private:
  Device device_;
  RadialWhiteningSpec spec_;
  std::shared_ptr<backend::RadialWhitening> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class RadialWhitening : public Stage {
 public:
  using Setup = RadialWhiteningSpec;

  virtual void enqueue(Queue& queue, Memory& image) = 0;
};

}  // namespace warpalign::backend
