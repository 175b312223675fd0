// Stage: the magnitude of a half spectrum, centred.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class Magnitude;
}

struct MagnitudeSpec {
  Shape image;         ///< of the real image whose spectrum it is; depth 1
  float exponent = 1;  ///< the magnitude is raised to this power; > 0
};

/// |F|^exponent of a half spectrum, with the rows reordered so that v = 0 stands in row
/// height / 2 (integer division): output(u, (v + height / 2) mod height). Columns keep their
/// order, u = 0 ... width / 2: the other half plane of a real image's spectrum is the mirror
/// image. Input c32, output f32, both of shape (width / 2 + 1, height).
class WARPALIGN_API MagnitudePlan {
 public:
  MagnitudePlan(const Device& device, const MagnitudeSpec& spec);
  void execute(Stream& stream, const Image& spectrum, Image& magnitude) const;

 private:
  Device device_;
  MagnitudeSpec spec_;
  std::shared_ptr<backend::Magnitude> kernel_;
};

}  // namespace warpalign
