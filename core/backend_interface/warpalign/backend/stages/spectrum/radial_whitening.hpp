// Stage: radial whitening, which divides a log-polar spectrum by its radial profile.
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

/// Replaces each value by value / m - 1, where m is the mean of the nonzero values of the same
/// column (radius); 0 stays 0. Without this, features that all spectra share (the decay with
/// frequency, and the cut-off of low-pass filters) would correlate at rotation 0 and scale 1. In
/// place, f32, values >= 0.
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
